"""Asks once a period how many instances there should be, and has a real cluster follow."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from windlass.drive import Decider
from windlass.engines.backoff import Backoff
from windlass.engines.elastic.system import ClusterError, ClusterSnapshot, ElasticSystem
from windlass.model.instances import InstanceType
from windlass.model.values import number
from windlass.scale import ScaleView, Totals
from windlass.scale.embedding import Embedding

_SCALE = "scale"
#: The first delay before a cluster that does not answer is polled again, s; at most a period.
_FIRST_RETRY_S = 1.0
#: The cluster's own autoscaler launches for jobs that wait, and looks for them so often, s.
_LOOK_S = 10.0

_Floats = NDArray[np.float64]


class DemandHistory(Protocol):
    """Keeps what was needed; see :mod:`windlass.scale.monitor`."""

    def add(self, at: float, counts: _Floats) -> None:
        """(k,) how many instances jobs need at an instant, in seconds since 1970."""
        ...

    def rows(self, at: float) -> _Floats:
        """(t, k) of the periods up to an instant, the last row of the latest."""
        ...


class Clock(Protocol):
    """The time, and how to let it pass."""

    def now(self) -> float:
        """Seconds since 1970."""
        ...

    def sleep(self, seconds: float) -> bool:
        """Wait; whether to go on."""
        ...


@dataclass(frozen=True, slots=True)
class ScaleRun:
    """What an autoscaler did: how often it decided, how often totals changed, how often the cluster was away."""

    decisions: int
    changes: int
    failures: int


class LiveScale:
    """An :class:`windlass.drive.Engine` over a cluster whose instances come and go.

    Where the cluster does not answer, nothing is decided and nothing is changed: what was asked for before stands. The
    next try is after a second, then two, up to a period.

    Parameters
    ----------
    system
        The cluster.
    history
        What was needed before; a row is added with each look.
    clock
        Says when to stop, too.
    period
        Seconds between decisions.
    tell
        Told in a line of what is worth a user's eye.
    """

    def __init__(
        self,
        system: ElasticSystem,
        history: DemandHistory,
        clock: Clock,
        *,
        period: float = 300.0,
        notify: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._system, self._history, self._clock, self._notify = system, history, clock, notify
        self._period = number("period", period, 0.0, open_below=True)
        self._embedding = Embedding([kind.vector() for kind in system.types])
        self._next = -np.inf
        self._backoff, self._missed = Backoff(min(_FIRST_RETRY_S, self._period), self._period), 0
        self._seen: ClusterSnapshot | None = None
        self._counts: tuple[int, ...] | None = None
        self._decisions = self._changes = self._failures = 0

    def wait(self) -> str | None:
        """Until the next period begins and the cluster answers; None when the clock says to stop."""
        while True:
            # A clock that was put back must not make it sleep for as long as that.
            left = min(max(0.0, self._next - self._clock.now()), self._period)
            if not self._clock.sleep(left):
                return None
            try:
                self._seen = self._system.look()
            except ClusterError as away:
                self._failed(away)
                continue
            now = self._clock.now()
            self._history.add(now, self.needed(self._seen))
            self._next = now + self._period
            return _SCALE

    def needed(self, seen: ClusterSnapshot) -> _Floats:
        """(k,) how many instances the jobs that run need; those that ask for what no type has are left out."""
        asked = seen.running.resources
        return self._embedding.counts(asked[self._embedding.hosts(asked)])

    def view(self, decision: str) -> ScaleView:
        """What the policy may know."""
        assert self._seen is not None  # looked at before any question
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
            _LOOK_S,
        )

    def _bounds(self, seen: ClusterSnapshot) -> tuple[InstanceType, ...]:
        """Types, with no fewer allowed than there are: who set ``most`` below that must not be answered by an error."""
        types, there = self._system.types, (seen.ready + seen.coming).tolist()
        if all(count <= kind.most for kind, count in zip(types, there, strict=True)):
            return types
        return tuple(
            replace(kind, most=max(kind.most, count)) for kind, count in zip(types, there, strict=True)
        )

    def act(self, decision: str, answer: Totals) -> None:
        """Have the cluster follow; where it does not answer, it is looked at anew soon."""
        assert self._seen is not None
        answer.check(self.view(decision))
        self._decisions += 1
        try:
            self._system.set_totals(answer, self._seen)
        except ClusterError as away:
            self._failed(away)
            return
        if self._missed:
            self._notify(f"the cluster answers again, after {self._missed} tries")
        self._missed = 0
        if answer.counts != self._counts:
            self._changes += 1
            for kind, count, why in zip(self._system.types, answer.counts, answer.why, strict=True):
                self._notify(f"{kind.name}: {count} in all: {why}")
        self._counts = answer.counts

    def plan(self, policy: Decider[ScaleView, Totals]) -> list[str]:
        """What a policy would have the cluster do now, a line each; nothing is changed, and no history kept.

        Raises
        ------
        ClusterError
            It does not answer.
        PolicyError
            The answer could not be carried out.
        """
        seen = self._system.look()
        rows = np.vstack([self._history.rows(self._clock.now()), self.needed(seen)])
        view = self._view(seen, rows)
        answer = policy.decide(view)
        answer.check(view)
        said = [
            f"{kind.name}: {count} in all, of {ready} ready: {why}"
            for kind, count, ready, why in zip(view.types, answer.counts, view.ready, answer.why, strict=True)
        ]
        return said + self._system.describe(answer, seen)

    def result(self) -> ScaleRun:
        """How often it decided."""
        return ScaleRun(self._decisions, self._changes, self._failures)

    def close(self) -> None:
        """What was asked for stands: who stops an autoscaler to start another one wants no machine to go."""

    def _failed(self, away: ClusterError) -> None:
        self._failures += 1
        self._missed += 1
        delay = self._backoff.delay(self._missed)
        self._notify(f"{away}; tried again in {delay:g} s")
        self._next = self._clock.now() + delay
