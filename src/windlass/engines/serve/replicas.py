"""Dispatch among a changing set of replicas, timed from outside.

This is the part of a live request router that depends on no engine: it maps replicas to the worker numbers of a
dispatch policy, times requests, reports arrivals and completions to the policy, and calls it for a choice. Clock and
random generator are arguments.

A replica's speed is requests per busy second. *Busy* time counts from sending a request to its end, for as many
requests as the replica processes at once: with ``at_once`` = 1, one second of a replica with three outstanding
requests is one busy second. Queueing therefore does not count as slowness, whether the replica serves requests in turn
or by sharing. If a replica reports a queue that includes other routers' requests, all requests that were there when
one was accepted count as served by its end; each router's own requests alone would show only a fraction of the speed.
Busy seconds are learned from even before a completion, once they exceed what the estimate explains, so that a replica
that has become slow is detected before its next completion.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from windlass.engines.serve.calls import Learner
from windlass.engines.serve.ejection import RequestOutcome
from windlass.engines.serve.replica import Replica

Id = TypeVar("Id", bound=Hashable)

#: Mean service times without a completion after which silence is reported to the policy. Exponential service is silent
#: for this long one time in seven; the ratio of work and time stays correct.
_SILENT = 2.0
#: Queue length of an ejected replica for the policy, which knows nothing of ejections and must not choose it.
_EJECTED = 1_000_000


class Replicas(Generic[Id]):
    """Sends requests to replicas under a dispatch policy that learns their speeds.

    - A replica's first completion is not learned from, as it includes one-time work (loading, compiling).
    - A replica with fewer than two learned completions is *new*: it gets a request whenever it is idle, and no
      second one before that has ended. A new replica that hangs costs one request, or three if clients cancel them.
    - An ``explore_share`` of requests goes to the idle replica with the oldest completion, so that an estimate that has
      become too low, and keeps requests away, is corrected.
    - A replica whose requests fail is ejected for a while, unless all replicas are; see
      :class:`windlass.engines.serve.ejection.Ejection`. Requests that failed are not learned from.
    - All other requests follow the policy.
    - When the set of replicas changes, a new policy is made and learns the recent completions of the remaining ones.

    Memory is bounded: outstanding requests, and ``window`` times per replica.

    Parameters
    ----------
    make
        Makes the policy for a number of workers.
    clock
        Returns a monotonic time, s.
    rng
        The random generator of exploration.
    at_once
        Requests that a replica processes at full speed at the same time.
    explore_share
        Share of requests that explore, 0 to 1.
    window
        Completions per replica, and twice as many arrivals, that are kept.

    Examples
    --------
    >>> from windlass.dispatch import Rosella
    >>> rng, now = np.random.default_rng(1), [0.0]
    >>> replicas = Replicas(lambda n: Rosella(n, rng=rng), clock=lambda: now[0], rng=rng)
    >>> replicas.members(["slow", "fast"])
    >>> for request in range(400):
    ...     replicas.arrived()
    ...     chosen = replicas.rank({}, {})[0]
    ...     replicas.sent(chosen, request)
    ...     now[0] += {"slow": 0.4, "fast": 0.1}[chosen]
    ...     replicas.ended(chosen, request)
    >>> speeds = replicas.speeds
    >>> round(speeds["fast"] / speeds["slow"], 2)
    4.0
    """

    def __init__(
        self,
        make: Callable[[int], Learner],
        *,
        clock: Callable[[], float],
        rng: np.random.Generator,
        at_once: int = 1,
        explore_share: float = 0.01,
        window: int = 16,
    ) -> None:
        self._make = make
        self._clock = clock
        self._rng = rng
        self._at_once = at_once
        self._explore_share = explore_share
        self._window = window
        self._policy: Learner | None = None
        self._ids: list[Id] = []
        self._replicas: dict[Id, Replica] = {}
        self._arrivals: deque[float] = deque(maxlen=2 * window)

    def members(self, ids: Iterable[Id]) -> None:
        """Set the current replicas; what was learned of remaining ones is kept.

        Parameters
        ----------
        ids
            All replicas; an unchanged set is cheap.
        """
        wanted = dict.fromkeys(ids)
        if wanted.keys() == self._replicas.keys():
            return
        now = self._clock()
        self._replicas = {one: self._replicas.get(one) or Replica(now, self._window) for one in wanted}
        self._ids = list(wanted)
        self._policy = self._make(len(self._ids)) if self._ids else None
        self._arrivals = deque(self._arrivals, maxlen=2 * self._window * max(len(self._ids), 1))
        if self._policy is None:
            return
        for at in self._arrivals:
            self._policy.arrived(at)
        for worker, replica in enumerate(self._replicas.values()):
            replica.worker = worker
            for work, seconds in replica.last:
                self._policy.completed(worker, work, seconds)

    def arrived(self) -> None:
        """Record an arrival; once per request, however often it is sent."""
        now = self._clock()
        self._arrivals.append(now)
        if self._policy is not None:
            self._policy.arrived(now)

    def rank(self, seen: Mapping[Id, int | None], limits: Mapping[Id, int]) -> list[Id] | None:
        """Return the replicas to try for the next request, in turn: the policy's choice, then by expected wait.

        Full and ejected replicas are left out, and so are replicas expected to answer later than a full one: it may be
        better to wait for a fast replica than to join the queue of a slow one. A replica that is silent for longer than
        its queue explains is expected to stay silent for as long again, so that no request waits for one that hangs.

        Parameters
        ----------
        seen
            Requests at each replica as known to the engine, including other routers'; None or absent if unknown. If
            the own count of outstanding requests is higher, it is used.
        limits
            The most requests that a replica accepts; absent for no limit.

        Returns
        -------
        list or None
            Empty to wait until a replica has room; None while no replica is known.
        """
        if self._policy is None:
            return None
        lengths = np.array(
            [max(len(replica.outstanding), seen.get(one) or 0) for one, replica in self._replicas.items()],
            np.int64,
        )
        self._report_silence()
        allowed = self._allowed()
        # Called even if the choice is not used, because the call updates the estimates.
        choice = self._policy.choose(np.where(allowed, self._queues(lengths), _EJECTED))
        first = self._new_or_neglected(lengths, allowed)
        if first is None:
            if not any(replica.known for replica in self._replicas.values()):
                return None
            first = choice
        waits = self._waits(lengths)
        has_room = lengths < [limits.get(one, np.iinfo(np.int64).max) for one in self._ids]
        has_room &= allowed
        if has_room[first]:
            waits[first] = -1.0
        worth_it = has_room & (waits <= waits[allowed & ~has_room].min(initial=np.inf))
        return [self._ids[worker] for worker in np.argsort(waits, kind="stable") if worth_it[worker]]

    def allowed(self) -> set[Id]:
        """Return the replicas that are not ejected, nor on a trial that is under way; all if there is no other."""
        return {one for one, may in zip(self._ids, self._allowed(), strict=True) if may}

    def _allowed(self) -> NDArray[np.bool_]:
        """(n,) whether each may have a request; all if none may."""
        now = self._clock()
        allowed = np.array([replica.may_have_one(now) for replica in self._replicas.values()])
        return allowed if allowed.any() else np.ones(len(allowed), bool)

    def _report_silence(self) -> None:
        """Report busy seconds without a completion to the policy, if they exceed what its estimate explains."""
        rates = None if self._policy is None else self._policy.rates
        now = self._clock()
        for replica in self._replicas.values():
            replica.count(now, self._at_once)
            if rates is not None and replica.known:
                silent = replica.busy - replica.reported
                if silent * rates[replica.worker] > _SILENT:
                    replica.reported = replica.busy
                    self._learn(replica, 0.0, silent)

    def _learn(self, replica: Replica, work: float, seconds: float) -> None:
        if self._policy is not None:
            replica.last.append((work, seconds))
            self._policy.completed(replica.worker, work, seconds)

    def _waits(self, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """(n,) expected seconds until each would have served one more request."""
        rates = None if self._policy is None else self._policy.rates
        held_back = np.ones(len(lengths)) if rates is None else rates
        silent = np.array([replica.busy for replica in self._replicas.values()])
        queues = self._queues(lengths) + 1
        expected: NDArray[np.float64] = np.maximum(queues / np.maximum(held_back, 1e-12), silent)
        return expected / self._at_once

    def _queues(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n,) lengths for the policy: a free place costs no wait, so all lengths below ``at_once`` are equal."""
        return np.maximum(lengths, self._at_once - 1)

    def _new_or_neglected(self, lengths: NDArray[np.int64], allowed: NDArray[np.bool_]) -> int | None:
        """Return the worker to explore now, or None."""
        replicas, now = list(self._replicas.values()), self._clock()
        idle = [worker for worker, length in enumerate(lengths) if length == 0 and allowed[worker]]
        tried = [
            worker
            for worker in idle
            if not replicas[worker].known or replicas[worker].ejection.is_on_trial(now)
        ]
        if not tried and self._explore_share > 0 and self._rng.random() < self._explore_share:
            tried = idle
        if not tried:
            return None
        worker = min(tried, key=lambda one: replicas[one].last_active)
        # Updated at once, so that the next request explores another replica even before this one is sent.
        replicas[worker].last_active = self._clock()
        return worker

    def sent(self, one: Id, request: Hashable, length: int | None = None) -> None:
        """Record that a replica accepted a request.

        Parameters
        ----------
        one
            The replica; ignored if it is no longer a member.
        request
            The request's identity, as passed to :meth:`ended`.
        length
            The replica's queue length with this request and other routers', as it reported on acceptance; None if it
            did not.
        """
        replica = self._replicas.get(one)
        if replica is not None:
            replica.begin(request, self._clock(), self._at_once, length)

    def ended(self, one: Id, request: Hashable, outcome: RequestOutcome = RequestOutcome.SERVED) -> None:
        """Record that a request left a replica.

        A served request is learned from as work, and a cancelled one as time without work: the rate that explains
        both best is the number of completions per busy second. Of a request that was not recorded as sent, only a
        failure counts.
        """
        replica = self._replicas.get(one)
        if replica is None:
            return
        now = self._clock()
        if request in replica.outstanding or outcome is RequestOutcome.FAILED:
            replica.ejection.count(outcome, now)
        if request not in replica.outstanding:
            return
        if outcome is RequestOutcome.DROPPED:
            silent = replica.drop(request, now, self._at_once)
            if replica.known and silent.seconds > 0.0:
                self._learn(replica, *silent)
            return
        done = replica.end(request, now, self._at_once)
        if replica.ended > 1 and outcome is RequestOutcome.SERVED:
            self._learn(replica, *done)

    @property
    def speeds(self) -> dict[Id, float]:
        """Estimated requests per busy second of each known replica."""
        rates = None if self._policy is None else self._policy.estimated_rates
        if rates is None:
            return {}
        return {one: float(rates[replica.worker]) for one, replica in self._replicas.items() if replica.known}

    @property
    def arrival_rate(self) -> float:
        """Requests per second since the oldest arrival that is kept; 0 before the second one."""
        seconds = self._arrivals[-1] - self._arrivals[0] if self._arrivals else 0.0
        return (len(self._arrivals) - 1) / seconds if seconds > 0.0 else 0.0

    @property
    def spare_rate(self) -> float:
        """Estimated requests per second that known replicas could serve in addition to the arriving ones."""
        return max(self._at_once * sum(self.speeds.values()) - self.arrival_rate, 0.0)

    def idle(self, seen: Mapping[Id, int | None]) -> Id | None:
        """Return a random replica without own requests and, as far as the engine knows, without others'; or None."""
        idle = [one for one in self._ids if not self._replicas[one].outstanding and not seen.get(one)]
        return idle[int(self._rng.integers(len(idle)))] if idle else None

    @property
    def outstanding(self) -> dict[Id, int]:
        """Own outstanding requests at each replica."""
        return {one: len(replica.outstanding) for one, replica in self._replicas.items()}
