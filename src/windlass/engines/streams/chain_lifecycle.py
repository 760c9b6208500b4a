"""A query's chains: the one that plays, its successor while that starts, and the time of the next attempt."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from windlass.engines.backoff import Backoff
from windlass.engines.streams.book import QueryEntry
from windlass.engines.streams.executor import Segment


@dataclass(frozen=True, slots=True)
class Patience:
    """Timeouts of the engine of streams, s.

    Parameters
    ----------
    rest, longest_rest
        Delay before a failed chain is started again; it doubles with each failure, up to the longest.
    start
        Time limit for a chain to become ready: starting processes takes long on a busy machine.
    quiet
        Time limit for the next frame of a chain that plays.
    boundary
        Longest wait for the end of a playing before another chain takes over from one that works.
    drain
        Time for the last frames of a chain that was replaced.
    steady
        A chain that played this long counts as working: its next failure counts as the first.
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
    """A launched chain.

    Parameters
    ----------
    key
        The key of its launch.
    choice
        The query's option that it runs.
    segments
        Its segments and their nodes.
    since
        When it was launched; once it plays, when it started to play, s.
    first, last
        The frames that it should play: the last is exclusive, and infinite while it plays on.
    last_frame_at
        When its last frame was received, s; before the first, when it started to play. Minus infinity until it plays.
    """

    key: int
    choice: int
    segments: tuple[Segment, ...]
    since: float
    first: int = 0
    last: float = math.inf
    last_frame_at: float = -math.inf


@dataclass(slots=True, eq=False)
class Life:
    """The chains of one query.

    At any time one of these is true, so that no query stays without a chain unnoticed: no option is chosen for it; a
    chain of its choice plays, or starts within at most :attr:`Patience.start`; or a time for the next start is set.

    Parameters
    ----------
    entry
        The query in the book.
    plays, starts
        The chain that plays, and the one that will take over.
    leaving
        Replaced chains, and when each is stopped, s.
    rests
        When a chain is started again, s; infinity if none is due.
    failures
        Number of failures in a row.
    past
        All chains that played, in order, by which playings are scored.
    """

    entry: QueryEntry
    plays: Chain | None = None
    starts: Chain | None = None
    leaving: list[tuple[Chain, float]] = field(default_factory=list)
    rests: float = math.inf
    failures: int = 0
    past: list[Chain] = field(default_factory=list)

    def chains(self) -> Iterator[Chain]:
        """Yield all chains that hold resources."""
        yield from (chain for chain in (self.plays, self.starts) if chain is not None)
        yield from (chain for chain, _ in self.leaving)

    @property
    def settled(self) -> bool:
        """True if a chain of the query's choice plays or starts, or no option is chosen."""
        return self.entry.choice < 0 or any(
            chain is not None and chain.choice == self.entry.choice for chain in (self.plays, self.starts)
        )

    @property
    def state(self) -> str:
        """The query's state in one word."""
        if self.plays is not None:
            return "plays"
        if self.starts is not None:
            return "starts"
        return "rests" if math.isfinite(self.rests) else "cannot run"

    def unwanted(self) -> list[Chain]:
        """Remove and return the chains that the current choice makes superfluous.

        A playing chain of another choice continues until the chain of this choice takes over.
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
        """Return the first frame of the new chain: that of the next playing if a chain plays and that is soon."""
        feed = self.entry.feed
        at = max(0, math.floor((now - self.entry.zero) * feed.rate) + 1)
        boundary = -(-at // feed.frames) * feed.frames
        waits = boundary / feed.rate + self.entry.zero - now
        return boundary if self.plays is not None and waits <= patience.boundary else at

    def take_over(self, now: float, patience: Patience) -> tuple[Chain, Chain | None, int]:
        """Let the started chain take over; return it, the chain that it replaces, and its first frame."""
        chain = self.starts
        assert chain is not None
        first = self.handover(now, patience)
        born = self.entry.zero + first / self.entry.feed.rate
        replaced = self.plays
        if replaced is not None:
            replaced.last = first
            self.leaving.append((replaced, max(born, now) + patience.drain))
        chain.first, chain.since, chain.last_frame_at = first, max(born, now), max(born, now)
        self.plays, self.starts, self.rests = chain, None, math.inf
        self.past.append(chain)
        return chain, replaced, first

    def lose(self, key: int, now: float) -> Chain | None:
        """Remove a chain; return it, or None if it is not this query's."""
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
        """Set the time of the next start; the delay doubles if a chain failed."""
        if failed is not None:
            steady = failed.last_frame_at - failed.since >= patience.steady
            self.failures = 1 if steady else self.failures + 1
        if not self.settled:
            delays = Backoff(patience.rest, patience.longest_rest)
            self.rests = now + delays.delay(max(self.failures, 1))

    def wakes(self, patience: Patience) -> float:
        """Return when the next timeout of this query expires, s."""
        times = [self.rests, *(until for _, until in self.leaving)]
        if self.starts is not None:
            times.append(self.starts.since + patience.start)
        if self.plays is not None:
            times.append(self.plays.last_frame_at + patience.quiet)
        return min(times)
