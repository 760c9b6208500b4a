"""The protocol of a part of the simulated cluster: it advances in time, holds cores of rows, and leaves decisions open.

A part runs alone until an event concerns other parts: a change of a watched row of the ledger, or a decision made
outside of its compiled loop. The earliest instant at which either may happen is its *horizon*.
:class:`~windlass.sim.coupled.Coupled` moves parts from horizon to horizon. Within an instant, it calls the methods in
the order in which they are listed here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from windlass.sim.handle import Handle
from windlass.sim.status import ALL_DONE, FULL, PAUSED, REACHED


class Due(NamedTuple):
    """A decision to be made outside of a part's loop, and the part that needs it."""

    part: Part
    decision: str


class Part(Protocol):
    """A part of the simulated cluster."""

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
    """A part without events and decisions, from which a part with few steps inherits the others."""

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
        self._run, self._handle, self._steps = run, handle, steps
        self._report, self._grow, self._over = report, grow, False

    def until(self, time: float) -> int:
        """Run until ``time``, or until the loop stops earlier; return the status, which is never PAUSED or FULL."""
        while True:
            status = self._run(self._handle.address, time, self._steps)
            if status == FULL:
                self._grow()
                continue
            if status in (PAUSED, ALL_DONE) or (time == np.inf and status == REACHED):
                # The end is reported once, although coupled parts advance after it.
                if not self._over:
                    self._report()
                self._over = status == ALL_DONE
            if status != PAUSED:
                return status
