"""Parts coupled in time: an engine that moves them from horizon to horizon, in one order within an instant.

At one instant, the parts that it concerns first end work and change capacity; parts with changed rows settle. Then each
of these parts, in the order of the list, takes arrivals and decides, and those with changed rows settle after it. This
repeats while more events happen at the same instant. Any other order would kill jobs at the instant of their end, or
start and kill them at once. A part that decides later sees the cores that earlier parts have left, so parts never race.
The coordination is compiled (:mod:`windlass.sim.instants.loop`); steps of parts in Python are called from here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from windlass.model import InputError, PolicyError
from windlass.sim.handle import Handle
from windlass.sim.instants.loop import (
    CHECK,
    END,
    GO,
    NOTHING_LEFT,
    SETTLED,
    STANDS_STILL,
    TO_ADVANCE,
    TO_ALTER,
    TO_CLOSE,
    TO_DECIDE,
    TO_SETTLE,
    VACATED,
)
from windlass.sim.instants.state import BEGIN, INSTANTS, InstantClock, InstantCounts, make_instants
from windlass.sim.ledger import Ledger, ledger_without_cores
from windlass.sim.part import Due, Part, in_python

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
    names
        For each part, what its decisions' names end with, such as ``.batch@iowa``; by default nothing.

    Raises
    ------
    InputError
        ``names`` is not one for each part.
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

    def __init__(
        self, parts: Sequence[Part], ledger: Ledger | None = None, names: Sequence[str] | None = None
    ) -> None:
        self._parts = tuple(parts)
        if names is not None and len(names) != len(parts):
            raise InputError(f"names has {len(names)} entries, expected one for each of {len(parts)} parts")
        self._names = {id(part): name for part, name in zip(parts, names or ("",) * len(parts), strict=True)}
        self._ledger = ledger_without_cores() if ledger is None else ledger
        self._due: deque[Due] = deque()
        self._in_vain = 0
        self._steps = [part.entries() or in_python(part) for part in self._parts]
        self._instants = make_instants(self._parts, self._steps, self._ledger, _MANY, _CHECK_EVERY)
        self._horizon, self._ended = self._instants.parts["horizon"], self._instants.parts["ended"]
        self._counts, self._clock = (
            InstantCounts.of(self._instants.counts),
            InstantClock.of(self._instants.clock),
        )
        self._handle, self._go = Handle(self._instants, INSTANTS), GO.entry()

    def wait(self) -> str | None:
        """Advance until a decision is due and return it; return None when all work has ended."""
        while True:
            while self._due and not self._due[0].part.wants(self._due[0].decision):
                self._due.popleft()
            if self._due:
                return self._due[0].decision + self._names.get(id(self._due[0].part), "")
            request = self._go(self._handle.address, 0)
            if request == END:
                return None
            self._carry_out(request)
            if self._due:
                self._settle()

    def view(self, decision: str) -> Any:
        """Return what the policy of a decision may know now."""
        due = self._due[0]
        return due.part.view(due.decision)

    def act(self, decision: str, answer: Any) -> None:
        """Carry out an answer."""
        due = self._due[0]
        due.part.act(due.decision, answer)
        self._due.popleft()
        self._settle()

    def result(self) -> tuple[Any, ...]:
        """Return the results of all parts."""
        return tuple(part.result() for part in self._parts)

    def close(self) -> None:
        """Do nothing: a simulation holds no resources."""

    def _settle(self) -> None:
        """Let all parts settle that watch rows which have changed."""
        while (request := self._go(self._handle.address, 1)) != SETTLED:
            self._carry_out(request)

    def _carry_out(self, request: int) -> None:
        """Do what the compiled coordination leaves to Python."""
        if request in _STEP_OF:
            _STEP_OF[request](self, self._counts.part, self._counts.status)
        elif request == VACATED:
            self._ledger.check_vacated()
        elif request == CHECK:
            self._check_waiting()
        elif request == STANDS_STILL:
            raise InputError(
                f"time stands still at {self._clock.now} s: {_MANY:,} times, parts caused more events or changes of "
                "cores at this instant, expected them to finish the instant"
            )
        else:
            assert request == NOTHING_LEFT
            self._stop()

    def _advance(self, at: int, status: int) -> None:
        until = self._clock.until
        self._clock.until = min(self._steps[at].advanced(status, until), until)

    def _alter(self, at: int, status: int) -> None:
        self._steps[at].altered(status, self._clock.now)

    def _settle_part(self, at: int, status: int) -> None:
        self._steps[at].settled(status, self._clock.now)

    def _decide(self, at: int, status: int) -> None:
        self._due.extend(self._steps[at].decided(status, self._clock.now))

    def _close(self, at: int, status: int) -> None:
        """Note when a part in Python is due again, and whether its work has ended."""
        self._horizon[at] = self._parts[at].horizon()
        self._ended[at] = self._parts[at].ended()

    def _stop(self) -> None:
        """Raise the error of the first part that has work left, as no part has another event."""
        for part in self._parts:
            if not part.ended():
                raise self._stuck(part)
        self._ended[:] = 1
        self._counts.phase = BEGIN

    def _check_waiting(self) -> None:
        """Raise the error of a part whose work has waited for a long time while only endless parts advanced."""
        left = [part for part in self._parts if not part.ended()]
        self._in_vain = self._in_vain + _CHECK_EVERY if all(part.waits() for part in left) else 0
        if left and self._in_vain > _MANY:
            raise self._stuck(left[0])

    def _stuck(self, part: Part) -> Exception:
        """Return the error for a part's work that will never end; with an address it names the part."""
        error, name = part.stuck(), self._names.get(id(part), "")
        if not name:
            return error
        if isinstance(error, PolicyError):
            return PolicyError(f"{error} ({name.strip('.@')})", f"{error.decision}{name}")
        return type(error)(f"{name.strip('.@')}: {error}")


#: The steps of a part, by the request for them.
_STEP_OF = {
    TO_ADVANCE: Coupled._advance,
    TO_ALTER: Coupled._alter,
    TO_SETTLE: Coupled._settle_part,
    TO_DECIDE: Coupled._decide,
    TO_CLOSE: Coupled._close,
}


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
