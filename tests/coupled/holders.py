"""A validator of several parts on the same nodes: the rules of :mod:`tests.oracles.ledger`, for all together.

At one instant: jobs end; capacity comes and goes; of each part in turn jobs are killed, of its own the last that came
to a node first; then jobs start.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.oracles import ledger
from tests.oracles.ledger import Attempt
from windlass.model.timetable import NodeTimetable
from windlass.sim import Replay


class Together(ledger.Sweep):
    """Nodes through time, held by several parts."""

    def __init__(self, cores: Sequence[int], holders: int) -> None:
        super().__init__(cores)
        self.of = [list[Attempt]() for _ in range(holders)]
        #: Number of kills and starts on nodes of which a later part held cores.
        self.shared = 0

    def enter(self, holder: int, attempt: Attempt, sign: int) -> None:
        """Let a part take the cores of an attempt, or return them."""
        self.add(attempt, sign)
        mine = self.of[holder]
        if sign > 0:
            mine.append(attempt)
        else:
            mine.remove(attempt)

    def note_sharing(self, holder: int, attempt: Attempt) -> None:
        """Count attempts on nodes of which another part holds cores."""
        others = [each for other, held in enumerate(self.of) if other != holder for each in held]
        self.shared += any(node in each.pieces for each in others for node in attempt.pieces)


def swept(replays: Sequence[Replay], cores: Sequence[int], timetable: NodeTimetable) -> Together:
    """Go through all instants of parts that settle in this order.

    >>> import numpy as np
    >>> from windlass.model import JobTable
    >>> one, other = (Replay(JobTable.of([0], [5], [procs]), 4, np.array([0.0]), np.array([5.0]), np.array([0]), ("",),
    ...     held=np.array([[0, 0, procs, 0.0]])) for procs in (1, 2))
    >>> swept([one, other], [3], NodeTimetable.none()).found
    []
    >>> swept([one, other], [2], NodeTimetable.none()).found
    ['at 0 s, 3 of 2 cores of node 0 are held']
    """
    attempts = [(place, each) for place, replay in enumerate(replays) for each in ledger.attempts_of(replay)]
    sweep, changes = Together(cores, len(replays)), ledger.changes_of(timetable)
    for now in sorted({time for _, each in attempts for time in (each.start, each.end)} | set(changes)):
        for holder, each in attempts:
            if each.end == now and each.start < now and not each.lost:
                sweep.enter(holder, each, -1)
        rows = changes.get(now, {}).values()
        for change in rows:
            sweep.capacity[change.node] = change.cores
        emptied = {change.node for change in rows if change.kill}
        for holder, each in attempts:
            if each.end == now and each.lost:
                _kill(sweep, holder, each, emptied)
        sweep.found += [f"at {now:g} s, node {node} is not vacated" for node in emptied if sweep.over(node)]
        _start(sweep, [(holder, each) for holder, each in attempts if each.start == now], now)
    return sweep


def violations(replays: Sequence[Replay], cores: Sequence[int], timetable: NodeTimetable) -> list[str]:
    """Return the violations of all parts together, and of each part alone."""
    found = swept(replays, cores, timetable).found
    for replay in replays:
        attempts = ledger.attempts_of(replay)
        found += [*ledger._lines(replay, attempts), *ledger._times(replay, attempts, True)]
    return found


def _kill(sweep: Together, holder: int, victim: Attempt, emptied: set[int]) -> None:
    mine = sweep.of[holder]
    if victim not in mine:
        sweep.found.append(f"{victim} was killed and did not run")
        return
    nodes = [node for node in victim.pieces if node in emptied and sweep.over(node)]
    if not any(all(victim.start >= each.start for each in mine if node in each.pieces) for node in nodes):
        sweep.found.append(f"{victim} was killed in vain, or before others of its part")
    sweep.note_sharing(holder, victim)
    sweep.enter(holder, victim, -1)


def _start(sweep: Together, starting: list[tuple[int, Attempt]], now: float) -> None:
    """Check that starting attempts fit; those of length 0 hold cores for that instant only."""
    for _, each in starting:
        if each.end == now:
            ledger._check(sweep, each, now, more=each.pieces)
    for holder, each in starting:
        if each.end > now:
            sweep.enter(holder, each, 1)
            sweep.note_sharing(holder, each)
    for _, each in starting:
        if each.end > now:
            ledger._check(sweep, each, now, more={})
