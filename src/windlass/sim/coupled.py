"""Parts coupled in time: an engine that moves them from horizon to horizon, in one order within an instant.

At one instant: what ends, everywhere; capacity that comes or goes; who is concerned settles; then arrivals and
decisions, part by part in the order in which the parts are listed, settling after each; and again while something
more happens at the same instant. In any other order jobs are killed at the instant of their end, or started and
killed at once. A part that decides later sees what those before it have left: nobody races.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from windlass.model import InputError
from windlass.sim.nodes import Ledger
from windlass.sim.part import Due, Part

#: So often may things happen at one instant before time is said to stand still, and in so many instants without any
#: work going on something must change for those who wait …
_MANY = 1_000_000
#: … which is looked at every so many instants.
_LOOK_EVERY = 4096


class Coupled:
    """Parts in time, as an engine: see :class:`windlass.drive.Engine`.

    The only part of a list is not held up: it runs to its next decision, or to its end.

    Parameters
    ----------
    parts
        In the order in which they decide at one instant.
    ledger
        Whose rows they share; None for parts that share nothing.

    Raises
    ------
    PolicyError, InputError
        From :meth:`wait`: work is left and nothing will ever happen again (what the part says of it), time stands
        still, or a part holds on to cores that were to be vacated.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> from windlass.order.site.policies.fcfs import Fcfs
    >>> from windlass.sim.site.part import SitePart
    >>> ledger = Ledger([[4]], parts=1)
    >>> jobs = JobTable.of(submit=[0, 0], run=[10, 10], procs=[3, 3])
    >>> cluster = Coupled([SitePart(jobs, Fcfs(), ledger)], ledger)
    >>> cluster.wait(), cluster.result()[0].end.tolist()
    (None, [10.0, 20.0])
    """

    def __init__(self, parts: Sequence[Part], ledger: Ledger | None = None) -> None:
        self._parts, self._ledger = tuple(parts), ledger
        self._due: deque[Due] = deque()
        self._now, self._repeats = -np.inf, 0
        self._instants = self._in_vain = 0
        #: Which part decides next at this instant.
        self._turn = len(self._parts)

    def wait(self) -> str | None:
        """Go on until a decision is due: which; None when all work has ended."""
        while True:
            while self._due and not self._due[0].part.wants(self._due[0].decision):
                self._due.popleft()
            if self._due:
                return self._due[0].decision
            if self._turn < len(self._parts):
                self._due.extend(self._parts[self._turn].decide(self._now))
                self._turn += 1
                self._settle()
            elif not self._go_on():
                return None

    def view(self, decision: str) -> Any:
        """What that decision's policy may know now."""
        return self._due[0].part.view(decision)

    def act(self, decision: str, answer: Any) -> None:
        """Carry out an answer."""
        self._due[0].part.act(decision, answer)
        self._due.popleft()
        self._settle()

    def result(self) -> tuple[Any, ...]:
        """What happened, part by part."""
        return tuple(part.result() for part in self._parts)

    def close(self) -> None:
        """Nothing to stop."""

    def _go_on(self) -> bool:
        """Go to the next instant at which something may have to be settled; whether there is one."""
        parts = self._parts
        if all(part.ended() for part in parts):
            return False
        until = np.inf if len(parts) == 1 else min(part.horizon() for part in parts)
        now = min([part.advance(until) for part in parts])
        if now == np.inf:
            for part in parts:
                if not part.ended():
                    raise part.stuck()
            return False
        self._repeats = self._repeats + 1 if now == self._now else 0
        self._now = now
        self._check_moves(self._repeats)
        self._instants += 1
        if self._instants % _LOOK_EVERY == 0:
            self._check_waiting()
        for part in parts:
            part.alter(now)
        self._settle()
        self._turn = 0
        return True

    def _check_waiting(self) -> None:
        """Give up where all that is left waits for a change, and for long only parts that never end have gone on."""
        left = [part for part in self._parts if not part.ended()]
        self._in_vain = self._in_vain + _LOOK_EVERY if all(part.waits() for part in left) else 0
        if left and self._in_vain > _MANY:
            raise left[0].stuck()

    def _settle(self) -> None:
        if self._ledger is None:
            return
        rounds = 0
        while self._ledger.take_changed():
            for part in self._parts:
                part.settle(self._now)
            rounds += 1
            self._check_moves(rounds)
        self._ledger.check_vacated()

    def _check_moves(self, times: int) -> None:
        if times > _MANY:
            raise InputError(f"time stands still at {self._now} s: {_MANY:,} times something happened there")


class SinglePart(Coupled):
    """A part by itself, as an engine whose result is the part's.

    Parameters
    ----------
    part
        It runs to its next decision, or to its end.
    ledger
        Of which it holds cores; None where it holds none.

    Examples
    --------
    >>> from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
    >>> from windlass.sim.fleet.part import PlacedFleet
    >>> jobs = FleetJobs.of([0.0], [[StageSpec(2.0, here=(2, 3))]])
    >>> SinglePart(PlacedFleet(FleetCase(Fleet.of(slots=[4, 1]), jobs))).wait()
    'place'
    """

    def __init__(self, part: Part, ledger: Ledger | None = None) -> None:
        super().__init__((part,), ledger)

    def result(self) -> Any:
        """What happened."""
        return self._parts[0].result()
