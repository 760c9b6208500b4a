"""What a part of the simulated cluster is: it goes on in time, holds cores of rows, and leaves decisions open.

A part runs by itself until something outside of it could matter. What can matter is a change of a row of the ledger
that somebody watches, and an answer to a decision that is asked outside of its compiled loop; when the next of these
may happen is its *horizon*. :class:`~windlass.sim.coupled.Coupled` moves parts from horizon to horizon, and within an
instant through the steps in the order in which they are listed here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from windlass.sim.handle import Handle
from windlass.sim.status import ALL_DONE, FULL, PAUSED, REACHED


class Due(NamedTuple):
    """A decision that somebody outside has to make, and the part that wants it."""

    part: Part
    decision: str


class Part(Protocol):
    """A part of the simulated cluster."""

    def horizon(self) -> float:
        """The next instant, s, at which it may change a watched row or want a decision; infinity where neither."""
        ...

    def advance(self, until: float) -> float:
        """Let happen all that happens before `until`, and at `until` only what ends.

        Returns
        -------
        float
            Where it stands, s: `until`; or earlier, at a decision, where nothing else is coupled with it.
        """
        ...

    def alter(self, now: float) -> None:
        """Change capacity: cores of rows that come or go at this instant."""
        ...

    def settle(self, now: float) -> None:
        """Take in that the rows in the ledger's ``taken`` changed: give up what is to be vacated, adapt speeds."""
        ...

    def decide(self, now: float) -> Sequence[Due]:
        """Take in what arrives now and let compiled policies decide; what is to be decided outside."""
        ...

    def wants(self, decision: str) -> bool:
        """Whether a decision that was due still is: an answer given to another part may have settled it."""
        ...

    def view(self, decision: str) -> Any:
        """What that decision's policy may know now."""
        ...

    def act(self, decision: str, answer: Any) -> None:
        """Carry out an answer; PolicyError where it cannot be, and nothing of it is carried out then."""
        ...

    def ended(self) -> bool:
        """Whether all its work has ended."""
        ...

    def waits(self) -> bool:
        """Whether its work has not ended and nothing happens in it any more, unless something outside changes."""
        ...

    def stuck(self) -> Exception:
        """What to raise where its work has not ended and nothing will ever happen again."""
        ...

    def result(self) -> Any:
        """What happened."""
        ...


class NamedPart(Part, Protocol):
    """A part that a scenario can name by its file; what :meth:`result` returns is printed."""

    @property
    def name(self) -> str:
        """How it is called."""
        ...


class Quiet:
    """A part in which nothing happens and nothing is decided: a part of few steps inherits the others from here."""

    def horizon(self) -> float:
        """Never."""
        return np.inf

    def advance(self, until: float) -> float:
        """Nothing happens."""
        return until

    def alter(self, now: float) -> None:
        """Changes no capacity."""

    def settle(self, now: float) -> None:
        """Does not care who holds what."""

    def decide(self, now: float) -> Sequence[Due]:
        """Decides nothing, and asks nothing."""
        return ()

    def wants(self, decision: str) -> bool:
        """Nothing was asked."""
        return False

    def view(self, decision: str) -> Any:
        """Nothing was asked."""
        raise NotImplementedError(decision)

    def act(self, decision: str, answer: Any) -> None:
        """Nothing was asked."""
        raise NotImplementedError(decision)

    def ended(self) -> bool:
        """Always: nobody waits for it."""
        return True

    def waits(self) -> bool:
        """Never, as it has always ended."""
        return False

    def stuck(self) -> Exception:
        """Never, as it has always ended."""
        raise NotImplementedError

    def result(self) -> Any:
        """Nothing."""
        return None


class Loop:
    """A part's compiled loop, run until there is something to do outside.

    Parameters
    ----------
    run
        The compiled function: of the handle's address, the time to stop at, and the most steps to make; a status.
    handle
        The part's state.
    steps
        How many to make between reports.
    tell
        Called after so many steps, and at the end.
    grow
        Makes room where an array is full, and refills the handle.
    """

    def __init__(
        self,
        run: Callable[[int, float, int], int],
        handle: Handle,
        steps: int,
        tell: Callable[[], None],
        grow: Callable[[], None],
    ) -> None:
        self._run, self._handle, self._steps = run, handle, steps
        self._tell, self._grow, self._over = tell, grow, False

    def until(self, time: float) -> int:
        """Go on until this time, or to what stops the loop before: the status, which is never PAUSED or FULL."""
        while True:
            status = self._run(self._handle.address, time, self._steps)
            if status == FULL:
                self._grow()
                continue
            if status in (PAUSED, ALL_DONE) or (time == np.inf and status == REACHED):
                # Of its end only once: coupled parts are asked to go on after it.
                if not self._over:
                    self._tell()
                self._over = status == ALL_DONE
            if status != PAUSED:
                return status
