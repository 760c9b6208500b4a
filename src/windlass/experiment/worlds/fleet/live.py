"""Jobs over the sites of a fleet, for real: what a scenario would start on a live engine, and running it there."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from windlass.dispatch import POLICIES as DISPATCH
from windlass.dispatch import DispatchPolicy
from windlass.dispatch.context import DispatchContext
from windlass.engines.live.run import data_bytes, run_live
from windlass.engines.serve.calls import try_out
from windlass.engines.targets import Executors
from windlass.experiment.worlds.fleet.priority_order import StandingOrder
from windlass.experiment.worlds.fleet.spec import FleetSetting
from windlass.experiment.worlds.policy import PolicySpec
from windlass.model import InputError
from windlass.model.fleet import FleetCase
from windlass.order.fleet import POLICIES as ORDERS
from windlass.place import POLICIES as PLACES
from windlass.results import Outcome
from windlass.sim.fleet import FleetRun


class LiveFleetWorld:
    """The live half of the world of jobs over sites: see :class:`windlass.experiment.worlds.LiveWorld`.

    Parameters
    ----------
    simulate
        The other half: runs a setting with a seed and a workload in the simulator.
    outcome
        What a run comes to, given seed, workload and run.
    """

    def __init__(
        self,
        simulate: Callable[[FleetSetting, int, FleetCase, Callable[[float], None]], Outcome],
        outcome: Callable[[int, FleetCase, FleetRun], Outcome],
    ) -> None:
        self._simulate, self._outcome = simulate, outcome

    def describe(self, setting: FleetSetting, workload: FleetCase, executors: Executors) -> tuple[str, ...]:
        """What :meth:`run` would do, a line each.

        Raises
        ------
        InputError
            It could not be done.
        """
        _check(setting, workload)
        jobs = workload.jobs
        slot_s = float(jobs.duration.sum())
        return (
            *executors.describe(workload.fleet, data_bytes(jobs)),
            f"run {len(jobs)} jobs of {int(jobs.first[-1])} tasks over {float(jobs.submit[-1]):g} s of submissions:"
            f" {slot_s:g} s of slots, {data_bytes(jobs) / 1e6:g} MB read and written",
        )

    def run(
        self,
        setting: FleetSetting,
        seed: int,
        workload: FleetCase,
        executors: Executors,
        progress: Callable[[float], None],
    ) -> Outcome:
        """Run the jobs for real, once they have run in the simulator.

        Raises
        ------
        InputError
            It cannot be done.
        TaskError
            A task failed by its own error, or was lost too often.
        """
        _check(setting, workload)
        self._rehearse(setting, seed, workload)
        listed = sorted(setting.workload.jobs or (), key=lambda job: job.submit)
        done = run_live(
            workload.fleet,
            workload.jobs,
            _decider(setting, seed),
            executors,
            steps=[stage.step(workload.fleet.names) for job in listed for stage in job.stages],
            dispatch=_among(setting.policies.dispatch, seed),
            # A standing order is served at once; a placement may look at more that happened.
            decide_every=0.0 if setting.policies.order is not None else setting.decide_every,
            estimates=setting.estimates.durations,
            progress=progress,
        )
        written = tuple(
            (f"{listed[job].name}-{job + 1}/part-{task + 1:05}", content)
            for job, _, task, content in done.results
        )
        return dataclasses.replace(self._outcome(seed, workload, done), written=written)

    def _rehearse(self, setting: FleetSetting, seed: int, workload: FleetCase) -> None:
        """Compile what decides, and meet its errors, before anything is started or any job waits for it."""
        self._simulate(setting, seed, workload, lambda _: None)
        among = _among(setting.policies.dispatch, seed)
        if among is not None:
            try_out(among(2))


def _check(setting: FleetSetting, workload: FleetCase) -> None:
    fleet, home = workload.fleet, workload.jobs.site
    for site in np.unique(home[(home >= 0) & (fleet.slots[home] == 0)]).tolist():
        raise InputError(
            f"cluster: site {fleet.names[site]} has input and no slots; a live engine needs a worker there"
        )
    if not fleet.linked:
        raise InputError("cluster: the sites have no links; a live engine needs 'up' and 'down' of each")
    if setting.drops is not None:
        raise InputError("drops: live engines do not take slots away, expected a scenario without drops")
    if setting.estimates.sizes == "seconds":
        raise InputError("estimates.sizes: 'seconds' is for the simulator; a live engine tells orders tasks")


def _decider(setting: FleetSetting, seed: int) -> Any:
    """The policy that the live engine asks: a placement, or a standing order."""
    given = setting.policies
    if given.order is not None:
        return StandingOrder(given.order.make(ORDERS, np.random.default_rng([seed, 1])))
    return given.place.make(PLACES, np.random.default_rng([seed, 3]))


def _among(dispatch: PolicySpec | None, seed: int) -> Callable[[int], DispatchPolicy] | None:
    if dispatch is None:
        return None

    def among(workers: int) -> DispatchPolicy:
        context = DispatchContext(np.random.default_rng([seed, 4]), workers)
        made: DispatchPolicy = DISPATCH.make(dispatch.name, context, **dispatch.parameters)
        return made

    return among
