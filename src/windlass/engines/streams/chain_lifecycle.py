"""A query's chains: the one that plays, the one that is to take over from it, and when to try again what failed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from windlass.engines.streams.book import QueryEntry
from windlass.engines.streams.executor import Segment


@dataclass(frozen=True, slots=True)
class Patience:
    """How long what may be waited for, s.

    Parameters
    ----------
    rest, longest_rest
        Before a chain that failed is started again; twice as long after each failure, up to the longest.
    start
        For a chain to be ready: starting processes takes long on a machine with other work.
    quiet
        For a frame to come through a chain that plays.
    boundary
        For a playing to end before another chain takes over from one that works.
    drain
        For the last frames of a chain that was relieved.
    steady
        A chain that played for so long has not failed: its next failure counts as the first.
    """

    rest: float = 0.5
    longest_rest: float = 30.0
    start: float = 300.0
    quiet: float = 60.0
    boundary: float = 10.0
    drain: float = 5.0
    steady: float = 10.0


@dataclass(slots=True, eq=False)
class Chain:
    """A chain that was launched.

    Parameters
    ----------
    key
        Its own.
    choice
        Which of its query's options it is.
    segments
        Where it runs.
    since
        When it was launched; once it plays, from when on, s.
    first, last
        Of the frames that it was to play: the last exclusive, infinity while it plays on.
    heard
        When a frame last came through, s.
    """

    key: int
    choice: int
    segments: tuple[Segment, ...]
    since: float
    first: int = 0
    last: float = math.inf
    heard: float = -math.inf


@dataclass(slots=True, eq=False)
class Life:
    """One query's chains.

    At any instant one of these holds, so that no query is dead and nobody knows: nothing is chosen for it; a chain of
    its choice plays, or starts and is waited for no longer than :attr:`Patience.start`; or it rests until an instant at
    which it is started again.

    Parameters
    ----------
    entry
        The query in the book.
    plays, starts
        The chain that plays, and the one that is to take over.
    leaving
        Chains that were relieved, and when each is stopped, s.
    rests
        When a chain is started again, s; infinity where none is to be.
    failures
        How often in a row a chain failed.
    past
        All chains that were ever to play, in order: what playings are judged by.
    """

    entry: QueryEntry
    plays: Chain | None = None
    starts: Chain | None = None
    leaving: list[tuple[Chain, float]] = field(default_factory=list)
    rests: float = math.inf
    failures: int = 0
    past: list[Chain] = field(default_factory=list)

    def chains(self) -> Iterator[Chain]:
        """All that hold anything."""
        yield from (chain for chain in (self.plays, self.starts) if chain is not None)
        yield from (chain for chain, _ in self.leaving)

    @property
    def settled(self) -> bool:
        """Whether a chain of the query's choice plays or starts, or none is to."""
        return self.entry.choice < 0 or any(
            chain is not None and chain.choice == self.entry.choice for chain in (self.plays, self.starts)
        )

    @property
    def state(self) -> str:
        """How the query is, in a word."""
        if self.plays is not None:
            return "plays"
        if self.starts is not None:
            return "starts"
        return "rests" if math.isfinite(self.rests) else "cannot run"

    def unwanted(self) -> list[Chain]:
        """Chains to be stopped now that the choice is what it is; they are forgotten here.

        A chain of another choice that plays goes on until the one of this choice takes over.
        """
        found = []
        if self.starts is not None and (
            self.entry.choice != self.starts.choice
            or (self.plays is not None and self.plays.choice == self.entry.choice)
        ):
            found.append(self.starts)
            self.starts = None
        if self.entry.choice < 0 and self.plays is not None:
            found.append(self.plays)
            self.plays = None
        return found

    def handover(self, now: float, patience: Patience) -> int:
        """The first frame of the chain that takes over: that of the next playing, if it is soon and somebody plays."""
        feed = self.entry.feed
        at = max(0, math.floor((now - self.entry.zero) * feed.rate) + 1)
        boundary = -(-at // feed.frames) * feed.frames
        waits = boundary / feed.rate + self.entry.zero - now
        return boundary if self.plays is not None and waits <= patience.boundary else at

    def take_over(self, now: float, patience: Patience) -> tuple[Chain, Chain | None, int]:
        """The chain that started plays now, and relieves another; which, and the first frame of it."""
        chain = self.starts
        assert chain is not None
        first = self.handover(now, patience)
        born = self.entry.zero + first / self.entry.feed.rate
        relieved = self.plays
        if relieved is not None:
            relieved.last = first
            self.leaving.append((relieved, max(born, now) + patience.drain))
        chain.first, chain.since, chain.heard = first, max(born, now), max(born, now)
        self.plays, self.starts, self.rests = chain, None, math.inf
        self.past.append(chain)
        return chain, relieved, first

    def lose(self, key: int, now: float) -> Chain | None:
        """A chain is no more; which, or None if it was nobody's."""
        for chain in self.chains():
            if chain.key == key:
                break
        else:
            return None
        if chain is self.plays:
            self.plays = None
            chain.last = max(chain.first, math.ceil((now - self.entry.zero) * self.entry.feed.rate))
        elif chain is self.starts:
            self.starts = None
        self.leaving = [(one, until) for one, until in self.leaving if one is not chain]
        return chain

    def rest(self, now: float, patience: Patience, *, failed: Chain | None = None) -> None:
        """Start again after a while, twice as long as the last time if a chain failed."""
        if failed is not None:
            steady = failed.heard - failed.since >= patience.steady
            self.failures = 1 if steady else self.failures + 1
        if not self.settled:
            longer = 2.0 ** min(max(self.failures - 1, 0), 60)
            self.rests = now + min(patience.rest * longer, patience.longest_rest)

    def wakes(self, patience: Patience) -> float:
        """When something is to be done about this query though nothing happens, s."""
        times = [self.rests, *(until for _, until in self.leaving)]
        if self.starts is not None:
            times.append(self.starts.since + patience.start)
        if self.plays is not None:
            times.append(self.plays.heard + patience.quiet)
        return min(times)
