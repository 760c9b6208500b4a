"""The protocol of a part of the simulated cluster: it advances in time, holds cores of rows, and leaves decisions open.

A part runs alone until an event concerns other parts: a change of a watched row of the ledger, or a decision made
outside of its compiled loop. The earliest instant at which either may happen is its *horizon*.
:class:`~windlass.sim.coupled.Coupled` moves parts from horizon to horizon. Within an instant, it calls the methods in
the order in which they are listed here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from windlass.sim.handle import Handle
from windlass.sim.status import ALL_DONE, FULL, PAUSED, REACHED

#: The entry of a step that a part does not have.
ABSENT = -1


def _no_step(status: int, now: float) -> None:
    """Complete a step that a part does not have."""


class Due(NamedTuple):
    """A decision to be made outside of a part's loop, and the part that needs it."""

    part: Part
    decision: str


@dataclass(frozen=True, slots=True)
class Concerns:
    """What concerns a part besides its own events.

    Parameters
    ----------
    sites
        Sites of the ledger: the part is called at each instant at which one of their watched rows changes.
    parts
        Parts whose state it reads: these parts and it are called at the same instants.
    reads
        Parts whose state it reads at instants of its own: they are called with it, but it is not called with them.
    """

    sites: tuple[int, ...] = ()
    parts: tuple[Part, ...] = ()
    reads: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Entries:
    """The compiled steps of a part, and what completes a step whose status is not ``REACHED``.

    Parameters
    ----------
    address
        Address of the part's state, the first argument of each step.
    run
        Address of the machine code of ``advance``, with the time and a number of steps of the loop; see :class:`Loop`.
        :data:`ABSENT` for a part that does nothing before its step ``decide``.
    steps
        That number.
    alter, settle, decide
        Those of the other steps, with the instant; :data:`ABSENT` for a step that the part does not have. Without
        ``decide``, ``run`` processes the instant itself.
    horizon, ended
        Those of the two questions. A horizon of NaN is computed again in Python. Without ``ended``, the simulation does
        not wait for the part.
    alone
        That of the horizon of a part whose rows concern no other part; :data:`ABSENT` if it is ``horizon``.
    advanced, altered, settled, decided
        Complete a step, from its status and its time; the first returns the time reached, the last the decisions to be
        made outside.
    """

    address: int
    run: int
    steps: int
    settle: int
    horizon: int
    ended: int
    advanced: Callable[[int, float], float]
    settled: Callable[[int, float], None]
    decided: Callable[[int, float], Sequence[Due]]
    alter: int = ABSENT
    decide: int = ABSENT
    alone: int = ABSENT
    altered: Callable[[int, float], None] = _no_step


def in_python(part: Part) -> Entries:
    """Return the steps of a part in Python, in the form of compiled ones: their status is not used."""
    return Entries(
        0,
        run=0,
        steps=0,
        alter=0,
        settle=0,
        decide=0,
        horizon=0,
        ended=0,
        advanced=lambda _, until: part.advance(until),
        altered=lambda _, now: part.alter(now),
        settled=lambda _, now: part.settle(now),
        decided=lambda _, now: part.decide(now),
    )


class Part(Protocol):
    """A part of the simulated cluster."""

    def concerns(self) -> Concerns | None:
        """Return what concerns it besides its own events; None if it may read or change any part."""
        ...

    def entries(self) -> Entries | None:
        """Return its compiled steps; None for a part in Python."""
        ...

    def horizon(self) -> float:
        """Return the next instant (s) at which it may change a watched row or need a decision; infinity for never."""
        ...

    def advance(self, until: float) -> float:
        """Process all events before ``until``, and at ``until`` only those that end work.

        Returns
        -------
        float
            The instant reached (s): ``until``, or an earlier decision of a part that runs alone.
        """
        ...

    def alter(self, now: float) -> None:
        """Change capacity: cores of rows that appear or disappear at this instant."""
        ...

    def settle(self, now: float) -> None:
        """React to changes of the rows in the ledger's ``to_settle``: give up rows to be vacated, adapt speeds."""
        ...

    def decide(self, now: float) -> Sequence[Due]:
        """Submit what arrives now and call compiled policies; return the decisions to be made outside."""
        ...

    def wants(self, decision: str) -> bool:
        """Return whether a due decision is still needed; an answer to another part may have settled it."""
        ...

    def view(self, decision: str) -> Any:
        """Return what the policy of a decision may know now."""
        ...

    def act(self, decision: str, answer: Any) -> None:
        """Carry out an answer; raise PolicyError, and carry out nothing, if that is impossible."""
        ...

    def ended(self) -> bool:
        """Return whether all its work has ended."""
        ...

    def waits(self) -> bool:
        """Return whether unfinished work waits for a change outside of the part."""
        ...

    def stuck(self) -> Exception:
        """Return the error for work that will never end."""
        ...

    def result(self) -> Any:
        """Return the result."""
        ...


class NamedPart(Part, Protocol):
    """A part that a scenario names by its file; its :meth:`result` is printed."""

    @property
    def name(self) -> str:
        """The part's name in results."""
        ...


class Quiet:
    """A part without events and decisions, from which a part with few steps inherits the others.

    A part that does not override :meth:`concerns` may read and change any other part. All parts are then called at
    every instant, which costs time.
    """

    def concerns(self) -> Concerns | None:
        """Return None: it may concern all parts."""
        return None

    def entries(self) -> Entries | None:
        """Return None: its steps are in Python."""
        return None

    def horizon(self) -> float:
        """Return infinity."""
        return np.inf

    def advance(self, until: float) -> float:
        """Return ``until``."""
        return until

    def alter(self, now: float) -> None:
        """Change no capacity."""

    def settle(self, now: float) -> None:
        """Ignore changes of rows."""

    def decide(self, now: float) -> Sequence[Due]:
        """Return no decisions."""
        return ()

    def wants(self, decision: str) -> bool:
        """Return False."""
        return False

    def view(self, decision: str) -> Any:
        """Raise NotImplementedError: the part has no decisions."""
        raise NotImplementedError(decision)

    def act(self, decision: str, answer: Any) -> None:
        """Raise NotImplementedError: the part has no decisions."""
        raise NotImplementedError(decision)

    def ended(self) -> bool:
        """Return True: the simulation does not wait for this part."""
        return True

    def waits(self) -> bool:
        """Return False."""
        return False

    def stuck(self) -> Exception:
        """Raise NotImplementedError: the part has always ended."""
        raise NotImplementedError

    def result(self) -> Any:
        """Return None."""
        return None


class Loop:
    """A part's compiled loop, run until Python code is needed.

    Parameters
    ----------
    run
        The compiled function. It takes the handle's address, the time to stop at and the maximum number of steps, and
        returns a status.
    handle
        The part's state.
    steps
        Number of steps between reports.
    report
        Called after each ``steps`` steps, and at the end.
    grow
        Lengthens a full array, and refills the handle.
    """

    def __init__(
        self,
        run: Callable[[int, float, int], int],
        handle: Handle,
        steps: int,
        report: Callable[[], None],
        grow: Callable[[], None],
    ) -> None:
        self._run, self._handle, self.steps = run, handle, steps
        self._report, self._grow, self._over = report, grow, False

    def until(self, time: float) -> int:
        """Run until ``time``, or until the loop stops earlier; return the status, which is never PAUSED or FULL."""
        return self.complete(self.start(time), time)

    def start(self, time: float) -> int:
        """Run until ``time``, or for the steps between two reports; return any status."""
        return self._run(self._handle.address, time, self.steps)

    def complete(self, status: int, time: float) -> int:
        """Go on after a status of the compiled function, until a status that is neither PAUSED nor FULL."""
        while True:
            if status == FULL:
                self._grow()
            elif status in (PAUSED, ALL_DONE) or (time == np.inf and status == REACHED):
                # The end is reported once, although coupled parts advance after it.
                if not self._over:
                    self._report()
                self._over = status == ALL_DONE
            if status not in (PAUSED, FULL):
                return status
            status = self.start(time)
