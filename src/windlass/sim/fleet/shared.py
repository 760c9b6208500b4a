"""The base class of the two parts of a fleet: the state and its growth, the loop, and the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.model import PolicyError
from windlass.model.fleet import FleetCase
from windlass.order.fleet.compiled import FleetFunctions
from windlass.sim.demand import CoreDemand
from windlass.sim.fleet.binding import FleetCores
from windlass.sim.fleet.demand import lacking_at
from windlass.sim.fleet.loop import NO_ORDER, RUN
from windlass.sim.fleet.result import FleetRun
from windlass.sim.fleet.state import (
    FLEET_RUN,
    FleetAsRun,
    FleetState,
    make_state,
    with_longer_log_of_losses,
    with_room,
    with_rows,
)
from windlass.sim.fleet.steps import DECIDE, ENDED, HORIZON, HORIZON_ALONE, SETTLE
from windlass.sim.handle import Handle
from windlass.sim.ledger import ledger_without_cores
from windlass.sim.part import Concerns, Due, Entries, Loop
from windlass.sim.status import ALL_DONE, FULL, POLICY_DUE

_Ints = NDArray[np.int64]
_EVENTS_BETWEEN_REPORTS = 500_000


class FleetPart:
    """A fleet whose loop stops for one decision; a :class:`windlass.sim.part.Part`.

    By default a fleet has slots of its own, and is coupled with other parts in time only. With ``cores``, its slots are
    cores of a ledger.
    """

    _decision: str

    def __init__(
        self,
        case: FleetCase,
        compiled: FleetFunctions,
        progress: Callable[[float], None] | None,
        cores: FleetCores | None,
        **setting: Any,
    ) -> None:
        self._case, self._progress, self._cores = case, progress or (lambda _: None), cores
        functions = compiled.select.as_argument(), compiled.refine.as_argument(), compiled.options
        if cores is None:
            self._state = make_state(case, **setting)
            self._before_state = *functions, ledger_without_cores().nodes, np.full(1, -1)
        else:
            number = cores.join(case)
            self._state = make_state(case, ledger_rows=len(cores.ledger.nodes.whole), **setting)
            cores.fill(self._state, number)
            self._state.run["loop"] = RUN.as_argument().entry
            self._before_state = *functions, cores.ledger.nodes, cores.fleet_sites()
        self._handle = Handle(FleetAsRun(*self._before_state, self._state), FLEET_RUN)
        self._loop = Loop(RUN.entry(), self._handle, _EVENTS_BETWEEN_REPORTS, self._notify, self._make_room)
        self._asks = not compiled.decides
        #: True if a decision is due.
        self._due = False

    def concerns(self) -> Concerns:
        """Return the sites of its cores; nothing for a fleet with slots of its own."""
        return Concerns() if self._cores is None else Concerns(sites=self._cores.sites)

    def entries(self) -> Entries | None:
        """Return the compiled steps; None for a fleet with slots of its own, whose steps are called from Python."""
        if self._cores is None:
            return None
        return Entries(
            self._handle.address,
            run=RUN.as_argument().entry,
            steps=self._loop.steps,
            settle=SETTLE.as_argument().entry,
            decide=DECIDE.as_argument().entry,
            horizon=HORIZON.as_argument().entry,
            ended=ENDED.as_argument().entry,
            alone=HORIZON_ALONE.as_argument().entry,
            advanced=lambda status, until: self._go_on(status, until, until),
            settled=self._settled,
            decided=self._decided,
        )

    def horizon(self) -> float:
        """Return the next instant at which a decision may be due; infinity if the loop makes all decisions.

        With cores of a ledger, also the next instant at which a task may start or end.
        """
        if self._cores is not None:
            return float(HORIZON.entry()(self._handle.address))
        return float(self._state.run["next"][0]) if self._asks else np.inf

    def advance(self, until: float) -> float:
        """Process instants before `until`, and on a ledger tasks that end then; return the time reached."""
        return self._until(until, until)

    def alter(self, now: float) -> None:
        """Do nothing: the loop applies the timetable of slots and links."""

    def settle(self, now: float) -> None:
        """Adapt to changed rows: stop tasks on rows to be vacated, and count slots; nothing without a ledger."""
        if self._cores is not None:
            self._settled(SETTLE.entry()(self._handle.address, now), now)

    def decide(self, now: float) -> Sequence[Due]:
        """Process the instant itself; return the decision that is due, if any."""
        if self._cores is not None:
            return self._decided(DECIDE.entry()(self._handle.address, now), now)
        after = np.nextafter(now, np.inf)
        self._until(after, after)
        return (Due(self, self._decision),) if self._due else ()

    def _decided(self, status: int, now: float) -> Sequence[Due]:
        """Complete the compiled step of an instant on a ledger."""
        while not self._is_complete(self._loop.complete(status, now) if status == ALL_DONE else status):
            status = DECIDE.entry()(self._handle.address, now)
        return (Due(self, self._decision),) if self._due else ()

    def _settled(self, status: int, now: float) -> None:
        while status == FULL:
            self._make_room()
            status = SETTLE.entry()(self._handle.address, now)

    def wants(self, decision: str) -> bool:
        """Return whether the decision is still due."""
        return self._due

    def view(self, decision: str) -> Any:
        """Return the policy's view of the present state."""
        raise NotImplementedError

    def act(self, decision: str, answer: Any) -> None:
        """Carry out the policy's answer."""
        raise NotImplementedError

    def result(self) -> FleetRun:
        """Return the outcome so far."""
        raise NotImplementedError

    def ended(self) -> bool:
        """Return whether all jobs have ended."""
        return bool(self._state.run["ended"][0] == len(self._case.jobs))

    def waits(self) -> bool:
        """Return whether jobs are left and no event or decision will come."""
        coming = self._state.run["next"][0] if self._cores is None else self.horizon()
        return bool(coming == np.inf) and not self._due and not self.ended()

    def stuck(self) -> Exception:
        """Return the error for jobs whose tasks the policy will never start."""
        left = len(self._case.jobs) - int(self._state.run["ended"][0])
        return PolicyError(f"leaves tasks of {left} jobs waiting for ever", self._decision)

    def _until(self, until: float, reached: float) -> float:
        if self._due:
            return float(self._state.run["now"][0])
        return self._go_on(self._loop.start(until), until, reached)

    def lacking(self, within: float, site: int) -> CoreDemand:
        """Return the cores that waiting tasks lack at a site of the ledger, beyond those that are idle."""
        number = -1 if self._cores is None else int(self._cores.fleet_sites()[site])
        return CoreDemand.none() if number < 0 else lacking_at(self._state, number)

    def finish(self) -> float:
        """Return when the last job so far ended, s; minus infinity if none has."""
        return float(np.fmax.reduce(self._state.jobs["end"][:-1], initial=-np.inf))

    def uses(self, rows: Sequence[int]) -> NDArray[np.bool_]:
        """Return False for each row: tasks hold the cores that they use."""
        return np.zeros(len(rows), np.bool_)

    def _go_on(self, status: int, until: float, reached: float) -> float:
        """Complete a call of the loop from its status, up to a time or to a decision; return the time reached."""
        while not self._is_complete(self._loop.complete(status, until)):
            status = self._loop.start(until)
        return float(self._state.run["now"][0]) if self._due else reached

    def _is_complete(self, status: int) -> bool:
        """Return whether the loop need not be called again; first make room or note the due decision if it stopped."""
        if status == NO_ORDER:
            waiting = self._state.run["groups"][0]
            raise PolicyError(
                f"did not return an order of the {waiting} waiting jobs, expected each of 0 to {waiting - 1} once",
                self._decision,
            )
        if status == FULL:
            self._make_room()
        elif status == POLICY_DUE and not self._due and self._is_due():
            self._set_due(True)
        return status not in (FULL, POLICY_DUE) or (status == POLICY_DUE and self._due)

    def _set_due(self, due: bool) -> None:
        """Note whether a decision is due, also for the loop, which does not go on meanwhile."""
        self._due = due
        self._state.run["due"] = due

    def _is_due(self) -> bool:
        """Return whether the decision for which the loop stopped has to be made."""
        return True

    def _grown(self, state: FleetState) -> None:
        self._state = state
        self._handle.refill(FleetAsRun(*self._before_state, state))

    def _notify(self) -> None:
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
        if self._cores is not None:
            state = with_longer_log_of_losses(state)
        self._grown(with_room(state, len(state.sites), len(state.sites)) if len(state.weight) else state)

    def _result(self, decisions: int, reasons: dict[str, int]) -> FleetRun:
        state, tasks = self._state, self._state.tasks
        jobs = state.jobs[:-1]
        return FleetRun(
            fleet=self._case.fleet,
            jobs=self._case.jobs,
            end=jobs["end"].copy(),
            sent=jobs["sent"].copy(),
            carried=state.carried,
            site=tasks["site"],
            source=tasks["source"],
            begun=tasks["begun"],
            read=tasks["read"],
            computed=tasks["computed"],
            flows=state.flow_log[: state.run["logged"][0]],
            rates=state.rate_log[: state.run["rates"][0]],
            decisions=decisions,
            reasons=reasons,
            jobs_reported=int(state.run["jobs_reported"][0]),
            subjobs_reported=int(state.run["subjobs_reported"][0]),
            row=state.cores["row"].astype(np.int64),
            lost=state.lost_log[: state.run["lost"][0]],
        )
