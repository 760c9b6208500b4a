"""Jobs over the sites of a fleet on a live engine: a description of a run, and the run itself."""

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
from windlass.experiment.worlds.fleet.priority_order import OrderedPlacement
from windlass.experiment.worlds.fleet.spec import FleetSetting
from windlass.experiment.worlds.policy import PolicySpec
from windlass.model import InputError
from windlass.model.fleet import FleetCase
from windlass.order.fleet import POLICIES as ORDERS
from windlass.place import POLICIES as PLACES
from windlass.results import Outcome
from windlass.sim.fleet import FleetRun


class LiveFleetWorld:
    """The live world of jobs over sites: see :class:`windlass.experiment.worlds.LiveWorld`.

    Parameters
    ----------
    simulate
        Runs a setting with a seed and a workload in the simulator.
    outcome
        Measures a run, given seed, workload and run.
    """

    def __init__(
        self,
        simulate: Callable[[FleetSetting, int, FleetCase, Callable[[float], None]], Outcome],
        outcome: Callable[[int, FleetCase, FleetRun], Outcome],
    ) -> None:
        self._simulate, self._outcome = simulate, outcome

    def describe(self, setting: FleetSetting, workload: FleetCase, executors: Executors) -> tuple[str, ...]:
        """Describe in lines what :meth:`run` would do.

        Raises
        ------
        InputError
            The setting cannot run on a live engine.
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
        """Run the jobs on a live engine, after a simulation of them.

        Raises
        ------
        InputError
            The setting cannot run on a live engine.
        TaskError
            A task raised an error, or was lost too often.
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
            # An order is applied at once; a placement may wait for more events.
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
        """Compile the policies, and raise their errors, before anything starts."""
        self._simulate(setting, seed, workload, lambda _: None)
        among = _among(setting.policies.dispatch, seed)
        if among is not None:
            try_out(among(2))


def _check(setting: FleetSetting, workload: FleetCase) -> None:
    fleet, home = workload.fleet, workload.jobs.site
    for site in np.unique(home[(home >= 0) & (fleet.slots[home] == 0)]).tolist():
        raise InputError(
            f"cluster: site {fleet.names[site]} has input but no slots; a live engine needs a worker there"
        )
    if not fleet.linked:
        raise InputError("cluster: the sites have no links; a live engine needs each site's 'up' and 'down'")
    if setting.drops is not None:
        raise InputError("drops: live engines do not support drops, remove them from the scenario")
    if setting.estimates.sizes == "seconds":
        raise InputError(
            "estimates.sizes: 'seconds' is for the simulator; live engines give orders task counts"
        )


def _decider(setting: FleetSetting, seed: int) -> Any:
    """Return the policy for the live engine: a placement, or an order as a placement."""
    given = setting.policies
    if given.order is not None:
        return OrderedPlacement(given.order.make(ORDERS, np.random.default_rng([seed, 1])))
    return given.place.make(PLACES, np.random.default_rng([seed, 3]))


def _among(dispatch: PolicySpec | None, seed: int) -> Callable[[int], DispatchPolicy] | None:
    if dispatch is None:
        return None

    def among(workers: int) -> DispatchPolicy:
        context = DispatchContext(np.random.default_rng([seed, 4]), workers)
        made: DispatchPolicy = DISPATCH.make(dispatch.name, context, **dispatch.parameters)
        return made

    return among
