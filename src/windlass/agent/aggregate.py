"""An aggregator: keeps the last that each agent has learned, merges it, and hands it to newcomers.

==========================  ========================================================================
``PUT /nodes/NAME``         what an agent has learned; needs the token
``DELETE /nodes/NAME``      forgets an agent, and what it knew; needs the token
``GET /global``             what all together have learned; 204 where nobody sent anything; needs the token
``GET /healthz``            200
``GET /metrics``            for Prometheus
==========================  ========================================================================

What is refused changes nothing: a message is checked as a whole before any of it is kept. Aggregators can be agents of
another one: what they have merged goes up in the same way, and newcomers are then handed what the topmost one has.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from urllib.parse import unquote

from windlass.admit import Aggregator
from windlass.admit.learned import Learned
from windlass.admit.saving import load_aggregator, load_lesson, save_aggregator, save_lesson
from windlass.admit.shared_model import Lesson
from windlass.agent.envelope import Envelope, EnvelopePart, opened
from windlass.agent.node import as_message, from_message
from windlass.agent.options import check_name
from windlass.agent.prometheus import Count, Gauge, Many, Shown
from windlass.agent.routes import only_get
from windlass.agent.token import Token
from windlass.agent.web import Answered, WebRequest, refuse
from windlass.model import InputError

#: No more agents below one aggregator: further ones are refused, and aggregators can be below aggregators.
MOST = 10_000
_BYTES = "application/octet-stream"
_LESSON = "lesson "


class Aggregate:
    """What an aggregator has been sent.

    Parameters
    ----------
    dim, rank
        Metrics, and directions of the merged subspace at most.
    metrics
        Which metrics, as of :func:`~windlass.agent.envelope.digest`.
    forget_after
        Who sent nothing for so long is forgotten, s.
    clock
        Says the time, s.
    """

    def __init__(
        self, dim: int, rank: int, metrics: str, forget_after: float, clock: Callable[[], float]
    ) -> None:
        self._aggregator = Aggregator(dim, rank)
        self._lessons: dict[str, Lesson] = {}
        self._heard: dict[str, float] = {}
        self._metrics, self._forget_after, self._clock = metrics, forget_after, clock
        self._lock = threading.Lock()
        self.taken = 0
        #: Counts changes: who saves looks whether there were any.
        self.changes = 0
        self._merged: tuple[int, Learned | None] = (0, None)

    @property
    def children(self) -> tuple[str, ...]:
        """Names of those of whom there is something."""
        return self._aggregator.children

    def take(self, child: str, data: bytes) -> None:
        """Keep what an agent has learned.

        Raises
        ------
        InputError
            It is nothing that an agent of these metrics could have learned, or there are too many agents.
        """
        envelope = opened(data)
        envelope.check("learned", self._metrics)
        learned = from_message(envelope, self._aggregator.dim)
        with self._lock:
            if child not in self._heard and len(self._heard) >= MOST:
                raise InputError(f"{MOST} agents are here, expected no more below one aggregator")
            self._aggregator.take(child, learned.subspace)
            if learned.lesson is None:
                self._lessons.pop(child, None)
            else:
                self._lessons[child] = learned.lesson
            self._heard[child] = self._clock()
            self.taken += 1
            self.changes += 1

    def leave(self, child: str) -> None:
        """Forget an agent."""
        with self._lock:
            self._leave(child)

    def forget(self) -> None:
        """Forget those that have been silent for too long."""
        with self._lock:
            since = self._clock() - self._forget_after
            for child in [each for each, heard in self._heard.items() if heard < since]:
                self._leave(child)

    def learned(self) -> Learned | None:
        """What all together have learned; None where nobody sent anything."""
        with self._lock:
            # Thousands may ask between two changes.
            if self._merged[0] != self.changes:
                self._merged = self.changes, self._merge()
            return self._merged[1]

    def saved(self) -> Envelope:
        """All of it, to be kept."""
        with self._lock:
            parts = [
                EnvelopePart(f"{_LESSON}{child}", save_lesson(each))
                for child, each in sorted(self._lessons.items())
            ]
            return Envelope(
                "aggregator",
                "",
                self._metrics,
                (EnvelopePart("aggregator", save_aggregator(self._aggregator)), *parts),
            )

    def restore(self, envelope: Envelope) -> None:
        """Have what was saved.

        Raises
        ------
        InputError
            It is not that.
        """
        envelope.check("aggregator", self._metrics)
        found = load_aggregator(envelope.part("aggregator") or b"")
        if found.dim != self._aggregator.dim:
            raise InputError(f"is of {found.dim} metrics, expected {self._aggregator.dim}")
        lessons = {
            each.name.removeprefix(_LESSON): load_lesson(each.data)
            for each in envelope.parts
            if each.name.startswith(_LESSON)
        }
        for child in found.children:
            check_name("child", child)
        with self._lock:
            for child, subspace, age in found.kept:
                self._aggregator.put(child, subspace, age)
            self._lessons = {child: each for child, each in lessons.items() if child in found.children}
            self._heard = dict.fromkeys(found.children, self._clock())
            self.changes += 1

    def shown(self) -> Iterator[Shown]:
        """For Prometheus."""
        merged = self.learned()
        yield Gauge("agents", "Agents of whom there is something.", len(self.children))
        yield Count("taken", "Messages of agents that were taken.", self.taken)
        values = () if merged is None else tuple(merged.subspace.singular)
        pairs = tuple((str(at), float(value)) for at, value in enumerate(values))
        yield Many("singular_value", "Of the merged directions.", "axis", pairs)

    def _merge(self) -> Learned | None:
        merged = self._aggregator.merged
        if merged is None:
            return None
        lessons = [self._lessons[child] for child in sorted(self._lessons)]
        return Learned(merged, Lesson.of_all(lessons, merged) if lessons else None)

    def _leave(self, child: str) -> None:
        self._aggregator.leave(child)
        self._lessons.pop(child, None)
        self._heard.pop(child, None)
        self.changes += 1


class Routes:
    """Answers of an aggregator.

    Parameters
    ----------
    aggregate
        What it was sent.
    token
        Of the tree.
    metrics
        Which metrics.
    page
        For Prometheus.
    above
        What the aggregator above has, if there is one and it has said.
    """

    def __init__(
        self,
        aggregate: Aggregate,
        token: Token,
        metrics: str,
        page: Callable[[], Answered],
        above: Callable[[], Learned | None],
    ) -> None:
        self._aggregate, self._token, self._metrics = aggregate, token, metrics
        self._page, self._above = page, above

    def __call__(self, asked: WebRequest) -> Answered:
        """What is answered."""
        node = asked.path.removeprefix("/nodes/") if asked.path.startswith("/nodes/") else None
        if node is None and asked.path not in ("/healthz", "/metrics", "/global"):
            return refuse(
                404, "no such page, expected one of /global, /nodes/NAME, /healthz, /metrics", "path"
            )
        if node is None and asked.path != "/global":
            return only_get(asked) or (self._page() if asked.path == "/metrics" else Answered(200, b"ok\n"))
        if not self._token.is_in(asked.authorization):
            return refuse(401, "expected the token of this tree", "token")
        if node is None:
            return only_get(asked) or self._global()
        return self._node(asked, unquote(node))

    def _global(self) -> Answered:
        learned = self._above() or self._aggregate.learned()
        if learned is None:
            return Answered(204)
        return Answered(200, as_message(learned, "", self._metrics).seal(), content=_BYTES)

    def _node(self, asked: WebRequest, name: str) -> Answered:
        try:
            check_name("the name", name)
        except InputError as error:
            return refuse(400, str(error), "name")
        if asked.method == "DELETE":
            self._aggregate.leave(name)
            return Answered(204)
        if asked.method != "PUT":
            return refuse(405, f"{asked.method[:16]} is not answered here, expected PUT or DELETE", "method")
        try:
            self._aggregate.take(name, asked.body)
        except InputError as error:
            return refuse(400, str(error), "content")
        return Answered(204)
