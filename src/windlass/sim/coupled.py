"""Parts coupled in time: an engine that moves them from horizon to horizon, in one order within an instant.

At one instant, all parts first end work and change capacity; parts with changed rows settle. Then each part, in the
order of the list, takes arrivals and decides, and all settle after it. This repeats while more events happen at the
same instant. Any other order would kill jobs at the instant of their end, or start and kill them at once. A part that
decides later sees the cores that earlier parts have left, so parts never race.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from windlass.model import InputError
from windlass.sim.nodes import Ledger
from windlass.sim.part import Due, Part

#: Limit of repetitions at one instant, and of instants in which all remaining work waits in vain.
_MANY = 1_000_000
#: Instants between two checks for work that waits in vain.
_CHECK_EVERY = 4096


class Coupled:
    """An engine of several parts: see :class:`windlass.drive.Engine`.

    A single part runs to its next decision, or to its end, without intermediate stops.

    Parameters
    ----------
    parts
        The parts, in the order in which they decide at one instant.
    ledger
        The ledger of the rows that they share; None for parts that share nothing.

    Raises
    ------
    PolicyError, InputError
        From :meth:`wait`: unfinished work will never end (the part's own error), time stands still, or a part keeps
        cores of a row to be vacated.

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
        #: The part that decides next at this instant.
        self._turn = len(self._parts)

    def wait(self) -> str | None:
        """Advance until a decision is due and return it; return None when all work has ended."""
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
        """Return what the policy of a decision may know now."""
        return self._due[0].part.view(decision)

    def act(self, decision: str, answer: Any) -> None:
        """Carry out an answer."""
        self._due[0].part.act(decision, answer)
        self._due.popleft()
        self._settle()

    def result(self) -> tuple[Any, ...]:
        """Return the results of all parts."""
        return tuple(part.result() for part in self._parts)

    def close(self) -> None:
        """Do nothing: a simulation holds no resources."""

    def _go_on(self) -> bool:
        """Advance to the next instant at which parts may have to settle; return whether there is one."""
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
        if self._instants % _CHECK_EVERY == 0:
            self._check_waiting()
        for part in parts:
            part.alter(now)
        self._settle()
        self._turn = 0
        return True

    def _check_waiting(self) -> None:
        """Raise the error of a part whose work has waited for a long time while only endless parts advanced."""
        left = [part for part in self._parts if not part.ended()]
        self._in_vain = self._in_vain + _CHECK_EVERY if all(part.waits() for part in left) else 0
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
            raise InputError(
                f"time stands still at {self._now} s: {_MANY:,} times, parts caused more events or changes of cores "
                "at this instant, expected them to finish the instant"
            )


class SinglePart(Coupled):
    """An engine of one part, whose result is the part's.

    Parameters
    ----------
    part
        The part; it runs to its next decision, or to its end.
    ledger
        The ledger of its cores; None if it holds none.

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
        """Return the part's result."""
        return self._parts[0].result()
