"""Streaming queries on real nodes: plans are carried out as chains, and renewed after each change."""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Callable, Sequence

from windlass.engines.streams.book import QueryEntry, StreamBook
from windlass.engines.streams.chain_lifecycle import Chain, Life, Patience
from windlass.engines.streams.executor import (
    ChainBroken,
    ChainLaunch,
    ChainReady,
    Event,
    FramesPassed,
    NodeCame,
    NodeGone,
    QueryFeed,
    StreamExecutor,
)
from windlass.engines.streams.result import PlanDecision, StreamsRun
from windlass.engines.streams.scoring import Playing, Playings, Score
from windlass.model.queries import Hierarchy
from windlass.plan import POLICIES
from windlass.plan.view import Plan, PlanView

#: Polling interval of the requested queries, s.
_ASK_S = 1.0
#: Playings, and decisions, that a run without an end keeps; some tens of MB.
_KEPT = 10_000

#: Returns the queries to run, given the time since the start, s.
QuerySource = Callable[[float], Sequence[QueryFeed]]


class LiveStreams:
    """Runs streaming queries on an executor: see :class:`windlass.drive.Engine`.

    Parameters
    ----------
    hierarchy
        Clusters and links.
    queries
        Returns the queries to run; called once a second. A query is identified by its whole feed: a changed one is
        removed and added again.
    executor
        Carries out decisions.
    score
        Returns the accuracy of a playing.
    seconds
        Duration of the run; infinity to run until interrupted.
    patience
        Timeouts.
    missed_after
        How long after its birth a frame may be received, s; later frames count as missed.
    notify
        Called with a line for each event of interest.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        queries: QuerySource,
        executor: StreamExecutor,
        score: Score,
        *,
        seconds: float = math.inf,
        patience: Patience | None = None,
        missed_after: float = 5.0,
        notify: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._executor, self._query_source, self._score, self._notify = executor, queries, score, notify
        self._patience, self._missed_after = patience or Patience(), missed_after
        self._zero = executor.now()
        self._until = self._zero + seconds
        self.book = StreamBook(hierarchy, executor.nodes)
        self.lives: list[Life] = []
        self._playings: list[Playings] = []
        self._keys = itertools.count()
        self._view: tuple[PlanView, tuple[QueryEntry, ...]] | None = None
        self._upon: list[tuple[float, str]] = []
        self._next_ask = -math.inf
        # A run without an end keeps the last ones only, so that its memory is bounded.
        kept = None if math.isfinite(seconds) else _KEPT
        self._decisions: deque[PlanDecision] = deque(maxlen=kept)
        self._judged: deque[Playing] = deque(maxlen=kept)
        self._stale = False
        self._failures = 0

    def wait(self) -> str | None:
        """Wait until a change requires a new plan; return None when the run is over."""
        while True:
            now = self._executor.now()
            if now >= self._until:
                return None
            if now >= self._next_ask:
                self._poll_queries(now)
            if self._stale:
                # A plan may take longer than the patience with a silent chain; its frames came meanwhile.
                self._stale = False
                for event in self._executor.poll(0.0):
                    self._take(event)
            self._wake(now)
            for event in self._executor.poll(0.0 if self._upon else max(0.0, self._soonest() - now)):
                self._take(event)
            self._judge()
            if self._upon and self._due():
                return POLICIES.key

    def view(self, decision: str) -> PlanView:
        """Return the capacity, and the queries that could run."""
        assert self._view is not None  # set when the decision became due
        return self._view[0]

    def act(self, decision: str, answer: Plan) -> None:
        """Carry out a plan, which is validated first."""
        assert self._view is not None
        view, entries = self._view
        answer.check(view)
        self.book.choose(entries, answer)
        self._decided()

    def result(self) -> StreamsRun:
        """Return the playings and the decisions."""
        return StreamsRun(tuple(self._judged), tuple(self._decisions), self._failures)

    def close(self) -> None:
        """Close the executor."""
        self._executor.close()

    def _due(self) -> bool:
        """Make the view; return whether it has any queries."""
        self._view = self.book.view(self._executor.now() - self._zero)
        if self._view[1]:
            return True
        self._decided()
        return False

    def _decided(self) -> None:
        now = self._executor.now()
        self._view, self._stale = None, True
        upon, self._upon = self._upon, []
        for life in self.lives:
            for chain in life.unwanted():
                self._executor.stop(chain.key)
            life.rests = math.inf
            if not life.settled:
                self._launch(life, now)
        lines = tuple(life.entry.summary for life in self.lives)
        noticed = min((at for at, _ in upon), default=now)
        made = PlanDecision(noticed - self._zero, now - self._zero, tuple(why for _, why in upon), lines)
        self._decisions.append(made)
        for line in made.report():
            self._say(line)

    def _launch(self, life: Life, now: float) -> None:
        entry = life.entry
        taken: dict[int, float] = {}
        for other in self.lives:
            for chain in other.chains():
                self.book.take(other.entry, chain.choice, chain.segments, taken)
        segments = self.book.segments(entry, taken)
        chain = Chain(next(self._keys), entry.choice, segments, now)
        life.starts, life.rests = chain, math.inf
        plan = int(entry.options.plan[entry.choice])
        self._executor.launch(ChainLaunch(chain.key, entry.feed, entry.zero, plan, segments))

    def _poll_queries(self, now: float) -> None:
        """Add and remove queries so that exactly the requested ones run."""
        self._next_ask = now + _ASK_S
        wanted = list(self._query_source(now - self._zero))
        for life in list(self.lives):
            if life.entry.feed in wanted:
                wanted.remove(life.entry.feed)
                continue
            self._stop_all(life)
            at = self.lives.index(life)
            del self.lives[at], self._playings[at]
            self.book.entries.remove(life.entry)
            self._upon.append((now, f"query {life.entry.name} removed"))
        for feed in wanted:
            life = Life(self.book.add(feed, now))
            self.lives.append(life)
            hierarchy = self.book.hierarchy
            self._playings.append(Playings(life, self._score, self._missed_after, hierarchy))
            self._upon.append((now, f"query {feed.query.name} added"))

    def _stop_all(self, life: Life) -> None:
        for chain in life.chains():
            self._executor.stop(chain.key)

    def _soonest(self) -> float:
        wakes = (life.wakes(self._patience) for life in self.lives)
        return min(self._next_ask, self._until, min(wakes, default=math.inf))

    def _wake(self, now: float) -> None:
        """Start chains after their rest, and stop chains after their timeouts."""
        patience = self._patience
        for life in self.lives:
            for chain in [chain for chain, until in life.leaving if until <= now]:
                self._executor.stop(chain.key)
                life.lose(chain.key, now)
            if life.starts is not None and now >= life.starts.since + patience.start:
                self._executor.stop(life.starts.key)
                self._lost(life, life.starts.key, f"was not ready within {patience.start:g} s", now)
            if life.plays is not None and now >= life.plays.last_frame_at + patience.quiet:
                self._executor.stop(life.plays.key)
                self._lost(life, life.plays.key, f"no frame for {patience.quiet:g} s", now)
            if life.rests <= now:
                life.rests = math.inf
                if not life.settled:
                    self._launch(life, now)

    def _take(self, event: Event) -> None:
        now = self._executor.now()
        match event:
            case NodeGone(number):
                self._gone(number, now)
            case NodeCame(node):
                self.book.nodes[node.number] = node
                self._upon.append((now, f"node {node.name} joined"))
            case ChainBroken(key, why):
                for life in self.lives:
                    self._lost(life, key, why, now)
            case ChainReady(key):
                for life in self.lives:
                    if life.starts is not None and life.starts.key == key:
                        self._hand_over(life, now)
            case FramesPassed(key, frames):
                for life, playings in zip(self.lives, self._playings, strict=True):
                    for chain in life.chains():
                        if chain.key == key:
                            chain.last_frame_at = now
                            playings.take(frames)

    def _hand_over(self, life: Life, now: float) -> None:
        chain, replaced, first = life.take_over(now, self._patience)
        if replaced is not None:
            self._executor.end(replaced.key, first)
        self._executor.play(chain.key, first)
        self._say(f"{life.entry.name}: plays {life.entry.options.label(chain.choice)}")

    def _lost(self, life: Life, key: int, why: str, now: float) -> None:
        replaced = [chain.key for chain, _ in life.leaving]
        chain = life.lose(key, now)
        if chain is None or key in replaced:
            return
        self._failures += 1
        life.rest(now, self._patience, failed=chain)
        again = f"; restart in {life.rests - now:g} s" if math.isfinite(life.rests) else ""
        self._say(f"{life.entry.name}: {why}{again}")

    def _gone(self, number: int, now: float) -> None:
        node = self.book.nodes.pop(number, None)
        if node is None:
            return
        self._upon.append((now, f"node {node.name} lost"))
        for life in self.lives:
            for chain in list(life.chains()):
                if any(segment.node == number for segment in chain.segments):
                    self._executor.stop(chain.key)
                    life.lose(chain.key, now)
            life.rest(now, self._patience)

    def _judge(self) -> None:
        now = self._executor.now()
        for playings in self._playings:
            for each in playings.closed(now):
                self._judged.append(each)
                if each.label:
                    self._say(each.summary)

    def _say(self, line: str) -> None:
        self._notify(f"{self._executor.now() - self._zero:8.1f} s  {line}")
