"""The scaling engine: it calls a policy once a period and scales a real cluster to the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from windlass.drive import Decider
from windlass.engines.backoff import Backoff
from windlass.engines.elastic.metrics import ScaleStatus
from windlass.engines.elastic.system import ClusterError, ClusterSnapshot, ElasticSystem
from windlass.model.instances import InstanceType
from windlass.model.values import number
from windlass.scale import ScaleView, Totals
from windlass.scale.embedding import Embedding

_SCALE = "scale"
#: Delay before the first retry if the cluster does not answer, s; at most a period.
_FIRST_RETRY_S = 1.0
#: Interval at which the cluster's own autoscaler checks for waiting jobs, s.
_POLL_S = 10.0

_Floats = NDArray[np.float64]


class DemandHistory(Protocol):
    """A record of past demand; see :mod:`windlass.scale.monitor`."""

    def add(self, at: float, counts: _Floats) -> None:
        """Record how many instances of each type jobs need (k,) at a time, in seconds since 1970."""
        ...

    def rows(self, at: float) -> _Floats:
        """Return the demand in each period up to a time (t, k), latest last."""
        ...


class Clock(Protocol):
    """A clock, real or simulated."""

    def now(self) -> float:
        """Return the seconds since 1970."""
        ...

    def sleep(self, seconds: float) -> bool:
        """Sleep for ``seconds``; return whether the run continues."""
        ...


@dataclass(frozen=True, slots=True)
class ScaleRun:
    """Counts of one run: decisions, decisions that changed the totals, and failed calls of the cluster."""

    decisions: int
    changes: int
    failures: int


class LiveScale:
    """An :class:`windlass.drive.Engine` over a real cluster of a varying number of instances.

    If the cluster does not answer, nothing is decided and earlier requests are kept. The first retry follows after 1 s;
    the delay doubles with each further failure, up to a period.

    Parameters
    ----------
    system
        The cluster.
    history
        Past demand; the current demand is added at each poll.
    clock
        The clock; its ``sleep`` returns False to end the run.
    period
        Time between decisions, s.
    notify
        Called with each message for the user, one line.
    status
        Updated with each poll and decision, for metrics.

    Raises
    ------
    InputError
        ``period`` is not above 0.
    """

    def __init__(
        self,
        system: ElasticSystem,
        history: DemandHistory,
        clock: Clock,
        *,
        period: float = 300.0,
        notify: Callable[[str], None] = lambda line: None,
        status: ScaleStatus | None = None,
    ) -> None:
        self._system, self._history, self._clock, self._notify = system, history, clock, notify
        self._period = number("period", period, 0.0, open_below=True)
        self._embedding = Embedding([kind.vector() for kind in system.types])
        self._next = -np.inf
        self._backoff, self._missed = Backoff(min(_FIRST_RETRY_S, self._period), self._period), 0
        self._seen: ClusterSnapshot | None = None
        self._counts: tuple[int, ...] | None = None
        self._status = status or ScaleStatus()
        self._status.health.interval = self._period

    def wait(self) -> str | None:
        """Wait until the next period begins and the cluster answers; return None if the clock ends the run."""
        while True:
            # If the clock is set back, the wait is still at most a period.
            remaining = min(max(0.0, self._next - self._clock.now()), self._period)
            self._status.health.progressed(remaining)
            if not self._clock.sleep(remaining):
                return None
            began = self._clock.now()
            try:
                self._seen = self._system.look()
            except ClusterError as error:
                self._retry_later(error)
                continue
            now = self._clock.now()
            self._count(self._seen, began, now)
            self._history.add(now, self.demand(self._seen))
            self._next = now + self._period
            return _SCALE

    def demand(self, seen: ClusterSnapshot) -> _Floats:
        """Return how many instances of each type the running jobs need (k,).

        Jobs that request a resource which no type has are left out.
        """
        requests = seen.running.resources
        return self._embedding.counts(requests[self._embedding.hosts(requests)])

    def view(self, decision: str) -> ScaleView:
        """Return the view of the policy."""
        assert self._seen is not None  # wait() polls before each decision
        return self._view(self._seen, self._history.rows(self._clock.now()))

    def _view(self, seen: ClusterSnapshot, rows: _Floats) -> ScaleView:
        return ScaleView(
            self._clock.now(),
            self._period,
            self._bounds(seen),
            seen.ready,
            seen.coming,
            seen.used,
            seen.running,
            seen.waiting,
            rows,
            _POLL_S,
        )

    def _bounds(self, seen: ClusterSnapshot) -> tuple[InstanceType, ...]:
        """Return the types, with ``most`` raised to the number of existing instances.

        Otherwise a policy that keeps the existing instances would fail after ``most`` was set below their number.
        """
        types, existing = self._system.types, (seen.ready + seen.coming).tolist()
        if all(count <= kind.most for kind, count in zip(types, existing, strict=True)):
            return types
        return tuple(
            replace(kind, most=max(kind.most, count)) for kind, count in zip(types, existing, strict=True)
        )

    def act(self, decision: str, answer: Totals) -> None:
        """Request the totals of an answer; if the cluster does not answer, poll it again soon."""
        assert self._seen is not None
        answer.check(self.view(decision))
        self._status.decisions += 1
        try:
            self._system.set_totals(answer, self._seen)
        except ClusterError as error:
            self._retry_later(error)
            return
        if self._missed:
            self._notify(f"the cluster answers again, after {self._missed} failed tries")
        self._status.away, self._status.requested = False, sum(answer.counts)
        self._missed = 0
        if answer.counts != self._counts:
            self._status.changes += 1
            for kind, count, why in zip(self._system.types, answer.counts, answer.why, strict=True):
                self._notify(f"{kind.name}: {count} in total: {why}")
        self._counts = answer.counts

    def plan(self, policy: Decider[ScaleView, Totals]) -> list[str]:
        """Describe what a policy would request now, one line each; neither the cluster nor the history is changed.

        Raises
        ------
        ClusterError
            The cluster does not answer.
        PolicyError
            The policy's answer is invalid.
        """
        seen = self._system.look()
        rows = np.vstack([self._history.rows(self._clock.now()), self.demand(seen)])
        view = self._view(seen, rows)
        answer = policy.decide(view)
        answer.check(view)
        lines = [
            f"{kind.name}: {count} in total, {ready} ready: {why}"
            for kind, count, ready, why in zip(view.types, answer.counts, view.ready, answer.why, strict=True)
        ]
        return lines + self._system.describe(answer, seen)

    def result(self) -> ScaleRun:
        """Return the counts of this run."""
        return ScaleRun(self._status.decisions, self._status.changes, self._status.failures)

    def close(self) -> None:
        """Keep all requests, so that no instance is removed while the autoscaler restarts."""

    def _count(self, seen: ClusterSnapshot, began: float, now: float) -> None:
        status, took = self._status, max(0.0, now - began)
        status.ready, status.coming, status.used = (
            int(counts.sum()) for counts in (seen.ready, seen.coming, seen.used)
        )
        status.running, status.waiting = len(seen.running.resources), len(seen.waiting.resources)
        status.polls, status.polled = status.polls + 1, now
        status.last_poll_seconds, status.poll_seconds = took, status.poll_seconds + took

    def _retry_later(self, error: ClusterError) -> None:
        self._status.failures += 1
        self._status.outages += not self._status.away
        self._status.away = True
        self._missed += 1
        delay = self._backoff.delay(self._missed)
        self._notify(f"{error}; retrying in {delay:g} s")
        self._next = self._clock.now() + delay
