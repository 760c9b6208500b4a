"""Jobs over a fleet, simulated: sites with slots, with links or without, and jobs of stages of tasks.

A task holds a slot of its site from when it begins to read until it has computed. It reads over the uplink of
where its input lies and the downlink of its site, shared max-min fairly by all concurrent reads, or at once where
its input lies at its site. A stage that reads from all sites is ready when its parents have ended; what they wrote
lies where their tasks ran. Slots that the timetable takes away are given up as tasks end; links change at once.

Two decisions can start tasks. A *standing order* of the jobs (:mod:`windlass.order.fleet`) is asked for when jobs
arrive or depart, when a stage can begin, and when slots change; until the next, each idle slot takes the next task of
the first job in its site's order. Tasks then run where their input lies, and those of a shuffle in proportion to the
data. A *placement* (:mod:`windlass.place`) names tasks and sites, and is asked for whenever anything changed while some
task waits, not more often than every ``decide_every`` seconds.

Links are looked at not more often than every ``look_every`` seconds: with 0 rates are exact at every instant; with
more, reads begin and end up to so much later, and a link is never used beyond its capacity.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError, PolicyError
from windlass.model.fleet import FleetCase
from windlass.order.fleet import POLICIES as ORDER
from windlass.order.fleet import FleetView, JobOrder
from windlass.order.fleet.compiled import Compiled, in_loop
from windlass.order.fleet.view import as_orders
from windlass.place import POLICIES as PLACE
from windlass.place.view import Placement, PlaceView
from windlass.sim.fleet.answer import COMMIT, RIGHT, refused
from windlass.sim.fleet.loop import ALL_ENDED, FULL, NO_ORDER, ORDER_DUE, PAUSED, PLACEMENT_DUE, RUN, STUCK
from windlass.sim.fleet.result import FleetRun
from windlass.sim.fleet.state import make_state, with_room, with_rows
from windlass.sim.fleet.view import following_work, order_view, place_view

_Ints = NDArray[np.int64]
_EVENTS_BETWEEN_REPORTS = 500_000


class _Simulated:
    """What both engines share: the state, the loop, growing, and the result."""

    def __init__(
        self, case: FleetCase, compiled: Compiled, progress: Callable[[float], None] | None, **setting: Any
    ) -> None:
        self._case, self._progress = case, progress or (lambda _: None)
        self._state = make_state(case, **setting)
        self._run = RUN.entry()
        self._select, self._refine = compiled.select.as_argument(), compiled.refine.as_argument()
        self._options = compiled.options

    def _advance(self) -> int:
        """Go on until a decision is due or all is over; which."""
        while True:
            state = self._state
            status: int = self._run(self._select, self._refine, self._options, state, _EVENTS_BETWEEN_REPORTS)
            if status == STUCK:
                left = len(state.jobs) - 1 - int(state.run["ended"][0])
                raise PolicyError(f"leaves tasks of {left} jobs waiting for ever")
            if status == FULL:
                self._make_room()
            elif status == PAUSED:
                self._tell()
            else:
                return status

    def _tell(self) -> None:
        self._progress(int(self._state.run["ended"][0]) / len(self._case.jobs))

    def _make_room(self) -> None:
        state, jobs = self._state, self._case.jobs
        submitted = int(state.run["submitted"][0])
        needed = int(state.run["rows"][0])
        if submitted < len(jobs):
            last = int(np.searchsorted(jobs.submit, jobs.submit[submitted], side="right"))
            needed += int(state.jobs["stage0"][last] - state.jobs["stage0"][submitted])
        if needed > len(state.cells):
            state = with_rows(state, max(2 * len(state.cells), needed))
        self._state = with_room(state, len(state.sites), len(state.sites)) if len(state.weight) else state

    def _result(self, decisions: int, reasons: dict[str, int]) -> FleetRun:
        state, tasks = self._state, self._state.tasks
        jobs = state.jobs[:-1]
        return FleetRun(
            self._case.fleet,
            self._case.jobs,
            jobs["end"].copy(),
            jobs["sent"].copy(),
            state.carried,
            tasks["site"],
            tasks["source"],
            tasks["begun"],
            tasks["read"],
            tasks["computed"],
            state.flow_log[: state.run["logged"][0]],
            state.rate_log[: state.run["rates"][0]],
            decisions,
            reasons,
            int(state.run["jobs_told"][0]),
            int(state.run["subjobs_told"][0]),
        )

    def close(self) -> None:
        """Nothing to stop."""


class PlacedFleet(_Simulated):
    """Asks for placements: see :class:`windlass.drive.Engine`.

    Parameters
    ----------
    case
        What runs where, and what changes.
    look_every, decide_every
        Least time between looks at the links, and between decisions, s.
    log
        Whether to keep every read and every change of a rate.
    progress
        Told the share of jobs that ended.
    """

    def __init__(
        self,
        case: FleetCase,
        *,
        look_every: float = 0.0,
        decide_every: float = 0.0,
        log: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        super().__init__(
            case,
            in_loop(None),
            progress,
            standing=False,
            look_every=look_every,
            decide_every=decide_every,
            log=log,
        )
        self._commit = COMMIT.entry()
        self._following = following_work(case.jobs)
        self._stages: _Ints = np.empty(0, np.int64)
        self._reasons: dict[str, int] = {}
        self._decisions = 0

    def wait(self) -> str | None:
        """Go on until a placement is due; None when all jobs ended."""
        while self._advance() == PLACEMENT_DUE:
            run, stages = self._state.run, self._state.stages
            self._stages = np.flatnonzero((stages["waiting"] > 0) & (stages["ready"] > 0))
            run["wanted"], run["decided"], run["wake"] = 0, run["now"], np.inf
            if len(self._stages):
                return PLACE.key
            run["resources"] = 0
        return None

    def view(self, decision: str) -> PlaceView:
        """Sites, and the stages of which tasks wait."""
        return place_view(self._state, self._stages, self._case.jobs, self._following)

    def act(self, decision: str, answer: Placement) -> None:
        """Start tasks and move input."""
        state = self._state
        now = float(state.run["now"][0])
        self._decisions += 1
        state.run["resources"], state.run["moved"] = 0, 0
        if not answer.wake > now:
            raise PolicyError(f"wants to be asked at {answer.wake} s, which is past at {now} s")
        state.run["wake"] = answer.wake
        if answer.plan is not None:
            state.cells["plan"][state.stages["row"][self._stages]] = answer.plan
        rows = len(answer.starts) + len(answer.moves)
        reads = int((answer.starts[:, 1] < 0).sum()) * len(state.sites) + rows
        self._state = with_room(state, reads, rows)
        wrong, row = self._commit(
            self._state, now, self._stages, answer.starts, answer.moves, answer.largest_first
        )
        if wrong != RIGHT:
            raise refused(answer, wrong, row)
        for code, tasks in zip(answer.why.tolist(), answer.starts[:, 3].tolist(), strict=True):
            reason = answer.reasons[code]
            self._reasons[reason] = self._reasons.get(reason, 0) + tasks
        if self._decisions % 64 == 0:
            self._tell()

    def result(self) -> FleetRun:
        """What happened."""
        return self._result(self._decisions, self._reasons)


class OrderedFleet(_Simulated):
    """Asks for standing orders, but for those of a compiled policy, which the loop asks itself.

    Parameters
    ----------
    case
        What runs where, and what changes.
    compiled
        The policy's compiled form, or that of none.
    by_seconds
        Whether policies are told expected seconds instead of numbers of tasks: tasks times the mean of those of the
        job that have finished (of all that have, before that), off by the job's error.
    look_every, log, progress
        As in :class:`PlacedFleet`.
    """

    def __init__(
        self,
        case: FleetCase,
        compiled: Compiled,
        *,
        by_seconds: bool = False,
        look_every: float = 0.0,
        log: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        super().__init__(
            case,
            compiled,
            progress,
            standing=True,
            python=not compiled.decides,
            by_seconds=by_seconds,
            look_every=look_every,
            log=log,
        )

    def wait(self) -> str | None:
        """Go on until an order is due; None when all jobs ended."""
        status = self._advance()
        if status == NO_ORDER:
            raise PolicyError(f"gave no order of the {self._state.run['groups'][0]} waiting jobs")
        assert status in (ORDER_DUE, ALL_ENDED), status
        return ORDER.key if status == ORDER_DUE else None

    def view(self, decision: str) -> FleetView:
        """The jobs with tasks left to start."""
        return order_view(self._state)

    def act(self, decision: str, answer: JobOrder) -> None:
        """Serve the jobs in this order from now on."""
        state = self._state
        jobs = int(state.run["groups"][0])
        try:
            orders = as_orders(answer.order, jobs, len(state.sites))
        except InputError as error:
            raise PolicyError(f"gave no order of the waiting jobs: {error}") from error
        state.order[: len(orders), :jobs] = orders
        state.run["orders"], state.run["answered"] = len(orders), 1

    def result(self) -> FleetRun:
        """What happened."""
        return self._result(int(self._state.run["decisions"][0]), {})
