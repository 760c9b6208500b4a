"""Simulation of jobs over a fleet: sites with slots, with or without links, and jobs of stages of tasks.

A task holds a slot of its site from the start of its read until the end of its computation. It reads over the uplink
of the site that stores its input and the downlink of its own site, which all concurrent reads share max-min fairly; a
read within one site takes no time. A stage that reads from all sites is ready when its parents have ended; their
output is stored at the sites where their tasks ran. If the timetable reduces the slots of a site, tasks that hold them
first run to their end; links change at once.

Two decisions can start tasks. A *standing order* of the jobs (:mod:`windlass.order.fleet`) is requested when jobs
arrive or depart, when a stage can begin, and when slots change. Until the next order, each idle slot takes the next
task of the first job in its site's order. Tasks then run at the site of their input, and those of a shuffle in
proportion to the data. A *placement* (:mod:`windlass.place`) names tasks and sites. It is requested after every change
while tasks wait, at most once every ``decide_every`` seconds.

Links are updated at most once every ``look_every`` seconds: with 0, rates are exact at every instant; with more,
reads begin and end up to this much later, and a link is never used beyond its capacity.

The slots may be cores of a ledger that other parts use too (:mod:`windlass.sim.fleet.binding`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from windlass.model.fleet import FleetCase
from windlass.order.fleet import POLICIES as ORDER
from windlass.order.fleet import FleetView, JobOrder
from windlass.order.fleet.compiled import FleetFunctions, in_loop
from windlass.place import POLICIES as PLACE
from windlass.place.view import RIGHT, Placement, PlaceView
from windlass.policy.answers import expect_answer
from windlass.sim.fleet.answer import COMMIT
from windlass.sim.fleet.binding import FleetCores
from windlass.sim.fleet.durations import Estimates
from windlass.sim.fleet.result import FleetRun
from windlass.sim.fleet.shared import FleetPart
from windlass.sim.fleet.state import with_room
from windlass.sim.fleet.view import finished_means, following_work, order_view, place_view
from windlass.sim.fleet.waiting import WAITING

_Ints = NDArray[np.int64]


class PlacedFleet(FleetPart):
    """A part of a simulation that requests placements.

    Parameters
    ----------
    case
        The fleet, its jobs, and the timetable of changes.
    look_every, decide_every
        Minimum time between updates of the links, and between decisions, s.
    estimates
        Assumed compute time of a task: ``finished``, the mean of finished tasks, see
        :func:`~windlass.sim.fleet.durations.means_of_finished`; ``true``, the true values of the jobs.
    log
        Whether to log every read and every change of a rate.
    progress
        Called with the share of jobs that have ended.
    cores
        Cores of a ledger that are the slots; None for slots of its own.

    Raises
    ------
    InputError
        :meth:`~windlass.sim.fleet.binding.FleetCores.join` raises it.
    """

    _decision = PLACE.key

    def __init__(
        self,
        case: FleetCase,
        *,
        look_every: float = 0.0,
        decide_every: float = 0.0,
        estimates: Estimates = "true",
        log: bool = False,
        progress: Callable[[float], None] | None = None,
        cores: FleetCores | None = None,
    ) -> None:
        super().__init__(
            case,
            in_loop(None),
            progress,
            cores,
            standing=False,
            by_seconds=estimates == "finished",
            look_every=look_every,
            decide_every=decide_every,
            log=log,
        )
        self._commit, self._waiting = COMMIT.entry(), WAITING.entry()
        self._estimates = estimates
        self._following = following_work(case.jobs, case.jobs.estimate_s)
        self._stages: _Ints = np.empty(0, np.int64)
        self._reasons: dict[str, int] = {}
        self._decisions = 0

    def _is_due(self) -> bool:
        run, stages = self._state.run, self._state.stages
        if self._cores is not None and not self._state.sites["slots"].any():
            # Other parts hold all cores, and a change of them makes a decision due again.
            run["wanted"] = 0
            return False
        found = np.empty(len(stages), np.int64)
        self._stages = found[: self._waiting(self._handle.address, found)]
        run["wanted"], run["decided"], run["wake"] = 0, run["now"], np.inf
        if not len(self._stages):
            run["resources"] = 0
        return len(self._stages) > 0

    @property
    def viewed_stages(self) -> _Ints:
        """The stages of the rows of the latest view."""
        return self._stages

    def view(self, decision: str) -> PlaceView:
        """Return the sites and the stages with waiting tasks."""
        jobs = self._case.jobs
        if self._estimates == "true":
            return place_view(self._state, self._stages, jobs.estimate_s, self._following)
        task_s = finished_means(self._state)
        return place_view(self._state, self._stages, task_s, following_work(jobs, task_s))

    def act(self, decision: str, answer: Placement) -> None:
        """Start tasks and move input as the placement specifies; raise PolicyError if it cannot be carried out."""
        state = self._state
        now = float(state.run["now"][0])
        expect_answer(answer, Placement).check_form(now, len(self._stages), len(state.sites))
        before = state.run.copy()
        state.run["resources"], state.run["moved"] = 0, 0
        state.run["wake"] = answer.wake
        rows = len(answer.starts) + len(answer.moves)
        reads = int((answer.starts[:, 1] < 0).sum()) * len(state.sites) + rows
        grown = with_room(state, reads, rows)
        if grown is not state:
            self._grown(grown)
        wrong, row = self._commit(
            self._handle.address, now, self._stages, answer.starts, answer.moves, answer.largest_first
        )
        if wrong != RIGHT:
            state.run[:] = before
            raise answer.refusal(wrong, row)
        self._decisions += 1
        if answer.plan is not None:
            state.cells["plan"][state.stages["row"][self._stages]] = answer.plan
        self._set_due(False)
        for code, tasks in zip(answer.why.tolist(), answer.starts[:, 3].tolist(), strict=True):
            reason = answer.reasons[code]
            self._reasons[reason] = self._reasons.get(reason, 0) + tasks
        if self._decisions % 64 == 0:
            self._notify()

    def result(self) -> FleetRun:
        """Return the outcome so far."""
        return self._result(self._decisions, self._reasons)


class OrderedFleet(FleetPart):
    """A part of a simulation that requests standing orders; the loop itself calls a compiled policy.

    Parameters
    ----------
    case
        The fleet, its jobs, and the timetable of changes.
    compiled
        The policy's compiled functions; those of ``in_loop(None)`` if the policy is not compiled.
    by_seconds
        Whether policies see expected seconds instead of numbers of tasks: the number of tasks, times the mean time of
        the job's finished tasks (of all finished tasks if it has none, 1 s if there are none), times the job's error.
    look_every, log, progress, cores
        As in :class:`PlacedFleet`.
    """

    _decision = ORDER.key

    def __init__(
        self,
        case: FleetCase,
        compiled: FleetFunctions,
        *,
        by_seconds: bool = False,
        look_every: float = 0.0,
        log: bool = False,
        progress: Callable[[float], None] | None = None,
        cores: FleetCores | None = None,
    ) -> None:
        super().__init__(
            case,
            compiled,
            progress,
            cores,
            standing=True,
            python=not compiled.decides,
            by_seconds=by_seconds,
            look_every=look_every,
            log=log,
        )

    def view(self, decision: str) -> FleetView:
        """Return the jobs with tasks left to start."""
        return order_view(self._state)

    def act(self, decision: str, answer: JobOrder) -> None:
        """Serve the jobs in this order until the next one; raise PolicyError if it is not an order of the jobs."""
        state = self._state
        jobs = int(state.run["groups"][0])
        orders = expect_answer(answer, JobOrder).orders(jobs, len(state.sites))
        state.order[: len(orders), :jobs] = orders
        state.run["orders"], state.run["answered"] = len(orders), 1
        self._set_due(False)
        if self._cores is not None:
            # Tasks take their cores before other parts decide.
            now = float(state.run["now"][0])
            self._until(now, now)

    def result(self) -> FleetRun:
        """Return the outcome so far."""
        return self._result(int(self._state.run["decisions"][0]), {})
