"""The base class of the two parts of a fleet: the state and its growth, the loop, and the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.model import PolicyError
from windlass.model.fleet import FleetCase
from windlass.order.fleet.compiled import FleetFunctions
from windlass.sim.fleet.loop import NO_ORDER, RUN, STORE
from windlass.sim.fleet.result import FleetRun
from windlass.sim.fleet.state import FleetAsRun, FleetState, make_state, with_room, with_rows
from windlass.sim.handle import Handle
from windlass.sim.part import Concerns, Due, Entries, Loop
from windlass.sim.status import POLICY_DUE

_Ints = NDArray[np.int64]
_EVENTS_BETWEEN_REPORTS = 500_000


class FleetPart:
    """A fleet whose loop stops for one decision; a :class:`windlass.sim.part.Part`.

    A fleet has its own slots and takes no cores from a ledger: it is coupled with other parts in time only.
    """

    _decision: str

    def __init__(
        self,
        case: FleetCase,
        compiled: FleetFunctions,
        progress: Callable[[float], None] | None,
        **setting: Any,
    ) -> None:
        self._case, self._progress = case, progress or (lambda _: None)
        self._state = make_state(case, **setting)
        self._functions = compiled.select.as_argument(), compiled.refine.as_argument(), compiled.options
        self._handle = Handle(FleetAsRun(*self._functions, self._state), STORE)
        self._loop = Loop(RUN.entry(), self._handle, _EVENTS_BETWEEN_REPORTS, self._notify, self._make_room)
        self._asks = not compiled.decides
        #: True if a decision is due.
        self._due = False

    def concerns(self) -> Concerns:
        """Return nothing: a fleet has slots and links of its own."""
        return Concerns()

    def entries(self) -> Entries | None:
        """Return None: its steps are called from Python."""
        return None

    def horizon(self) -> float:
        """Return the next instant at which a decision may be due; infinity if the loop makes all decisions."""
        return float(self._state.run["next"][0]) if self._asks else np.inf

    def advance(self, until: float) -> float:
        """Process instants before `until`; return the time reached."""
        return self._until(until, until)

    def alter(self, now: float) -> None:
        """Do nothing: the loop applies the timetable of slots and links."""

    def settle(self, now: float) -> None:
        """Do nothing: a fleet holds no cores of the ledger."""

    def decide(self, now: float) -> Sequence[Due]:
        """Process the instant itself; return the decision that is due, if any."""
        after = np.nextafter(now, np.inf)
        self._until(after, after)
        return (Due(self, self._decision),) if self._due else ()

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
        return bool(self._state.run["next"][0] == np.inf) and not self._due and not self.ended()

    def stuck(self) -> Exception:
        """Return the error for jobs whose tasks the policy will never start."""
        left = len(self._case.jobs) - int(self._state.run["ended"][0])
        return PolicyError(f"leaves tasks of {left} jobs waiting for ever", self._decision)

    def _until(self, until: float, reached: float) -> float:
        while not self._due:
            status = self._loop.until(until)
            if status == NO_ORDER:
                waiting = self._state.run["groups"][0]
                raise PolicyError(
                    f"did not return an order of the {waiting} waiting jobs, expected each of 0 to {waiting - 1} once",
                    self._decision,
                )
            if status != POLICY_DUE:
                return reached
            self._due = self._is_due()
        return float(self._state.run["now"][0])

    def _is_due(self) -> bool:
        """Return whether the decision for which the loop stopped has to be made."""
        return True

    def _grown(self, state: FleetState) -> None:
        self._state = state
        self._handle.refill(FleetAsRun(*self._functions, state))

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
        )
