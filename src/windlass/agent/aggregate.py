"""An aggregator: it keeps the last message of each agent, merges them, and returns the result to new agents.

==========================  ========================================================================
``PUT /nodes/NAME``         set what an agent has learned; needs the token
``DELETE /nodes/NAME``      forget an agent and what it learned; needs the token
``GET /global``             the merged model; 204 if no agent has sent anything; needs the token
``GET /healthz``            200
``GET /metrics``            for Prometheus
==========================  ========================================================================

A rejected message changes nothing: it is validated as a whole first. An aggregator can itself be an agent of another
one: its merged model is sent up in the same way, and new agents then receive the model of the topmost one.
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
from windlass.agent.prometheus import Count, Gauge, LabelledMetric, PrometheusMetric
from windlass.agent.routes import only_get
from windlass.agent.token import Token
from windlass.agent.web import Answered, WebRequest, refuse
from windlass.model import InputError

#: The most agents below one aggregator: further ones are rejected. Aggregators can be nested instead.
MOST = 10_000
_BYTES = "application/octet-stream"
_LESSON = "lesson "


class Aggregate:
    """The messages that an aggregator has received, and their merged model.

    Parameters
    ----------
    dim, rank
        Number of metrics, and the most directions of the merged subspace.
    metrics
        Digest of the names of the metrics, see :func:`~windlass.agent.envelope.digest`.
    forget_after
        An agent that has sent nothing for this long is forgotten, s.
    clock
        Returns the time, s.
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
        #: Number of changes, from which callers detect new state to save.
        self.changes = 0
        self._merged: tuple[int, Learned | None] = (0, None)

    @property
    def children(self) -> tuple[str, ...]:
        """Names of the agents with a stored message."""
        return self._aggregator.children

    def take(self, child: str, data: bytes) -> None:
        """Store what an agent has learned.

        Raises
        ------
        InputError
            The message is invalid or of other metrics, or there are too many agents.
        """
        envelope = opened(data)
        envelope.check("learned", self._metrics)
        learned = from_message(envelope, self._aggregator.dim)
        with self._lock:
            if child not in self._heard and len(self._heard) >= MOST:
                raise InputError(f"{MOST} agents are known, expected no more below one aggregator")
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
        """Forget the agents that have been silent for too long."""
        with self._lock:
            since = self._clock() - self._forget_after
            for child in [each for each, heard in self._heard.items() if heard < since]:
                self._leave(child)

    def learned(self) -> Learned | None:
        """Return the merged model; None if no agent has sent anything."""
        with self._lock:
            # The merged model is cached, as thousands of agents may request it between two changes.
            if self._merged[0] != self.changes:
                self._merged = self.changes, self._merge()
            return self._merged[1]

    def saved(self) -> Envelope:
        """Return the whole state, to be saved."""
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
        """Restore a saved state.

        Raises
        ------
        InputError
            It is not the state of an aggregator with these metrics.
        """
        envelope.check("aggregator", self._metrics)
        found = load_aggregator(envelope.part("aggregator") or b"")
        if found.dim != self._aggregator.dim:
            raise InputError(f"has {found.dim} metrics, expected {self._aggregator.dim}")
        lessons = {
            each.name.removeprefix(_LESSON): load_lesson(each.data)
            for each in envelope.parts
            if each.name.startswith(_LESSON)
        }
        for child in found.children:
            check_name("child", child)
        with self._lock:
            for child, subspace, age in found.subspaces:
                self._aggregator.put(child, subspace, age)
            self._lessons = {child: each for child, each in lessons.items() if child in found.children}
            self._heard = dict.fromkeys(found.children, self._clock())
            self.changes += 1

    def shown(self) -> Iterator[PrometheusMetric]:
        """Yield the metrics for Prometheus."""
        merged = self.learned()
        yield Gauge("agents", "Agents with a stored message.", len(self.children))
        yield Count("taken", "Accepted messages of agents.", self.taken)
        values = () if merged is None else tuple(merged.subspace.singular)
        pairs = tuple((str(at), float(value)) for at, value in enumerate(values))
        yield LabelledMetric("singular_value", "Singular values of the merged directions.", "axis", pairs)

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
    """The pages of an aggregator.

    Parameters
    ----------
    aggregate
        The received messages.
    token
        The tree's token.
    metrics
        Digest of the names of the metrics.
    page
        Returns the page for Prometheus.
    above
        Returns the model received from the aggregator above; None without one.
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

    def __call__(self, request: WebRequest) -> Answered:
        """Answer a request."""
        node = request.path.removeprefix("/nodes/") if request.path.startswith("/nodes/") else None
        if node is None and request.path not in ("/healthz", "/metrics", "/global"):
            return refuse(
                404, "no such page, expected one of /global, /nodes/NAME, /healthz, /metrics", "path"
            )
        if node is None and request.path != "/global":
            return only_get(request) or (
                self._page() if request.path == "/metrics" else Answered(200, b"ok\n")
            )
        if not self._token.is_in(request.authorization):
            return refuse(401, "expected the token of this tree", "token")
        if node is None:
            return only_get(request) or self._global()
        return self._node(request, unquote(node))

    def _global(self) -> Answered:
        learned = self._above() or self._aggregate.learned()
        if learned is None:
            return Answered(204)
        return Answered(200, as_message(learned, "", self._metrics).seal(), content=_BYTES)

    def _node(self, request: WebRequest, name: str) -> Answered:
        try:
            check_name("the name", name)
        except InputError as error:
            return refuse(400, str(error), "name")
        if request.method == "DELETE":
            self._aggregate.leave(name)
            return Answered(204)
        if request.method != "PUT":
            return refuse(
                405, f"{request.method[:16]} is not supported here, expected PUT or DELETE", "method"
            )
        try:
            self._aggregate.take(name, request.body)
        except InputError as error:
            return refuse(400, str(error), "content")
        return Answered(204)
