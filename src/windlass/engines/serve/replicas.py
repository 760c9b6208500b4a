"""Dispatch among replicas that come and go, timed from outside.

The part of a live request router that knows no engine: it maps replicas to the worker numbers of a dispatch policy,
times requests, tells the policy of arrivals and completions, and asks it for a choice. Clock and chance are handed in.

A replica's speed is requests per busy second. *Busy* counts from when a request is sent to when it ends, as often as
the replica works on requests at once: with ``at_once`` = 1, one second of a replica with three requests outstanding
is one busy second, so that waiting behind others does not count as slowness, whether the replica serves them in turn
or shares itself among them. Where a replica says that requests of others are there, too, those that were there when
one came are what it did until that one ended; what each router alone sees would be a fraction of that, and the
others' share chance. Busy seconds are learned from as they pass, before a completion ends them, where they are
more than the estimate explains: a replica that has become slow is known to be so before it has proved it.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from windlass.engines.serve.calls import Learner
from windlass.engines.serve.replica import Replica

Id = TypeVar("Id", bound=Hashable)

#: Mean service times without a completion that are told before there is one. Exponential service is silent for as
#: long one time in seven; work over time is the same either way.
_SILENT = 2.0
#: Ends without a beginning that are remembered, in case the beginning is told late.
_EARLY = 1024


class Replicas(Generic[Id]):
    """Sends requests to replicas under a dispatch policy that learns how fast they are.

    - A replica's first completion is not learned from: it holds what a process does once (loading, compiling).
    - A replica with fewer than two completions learned from is *new*: it gets a request whenever it has none, and no
      second one before it has ended. A new replica that hangs costs one request.
    - An ``explore_share`` of requests goes to the idle replica that was heard from longest ago, so that an estimate
      that has become too low, and keeps requests away, is found out.
    - All others go where the policy says.
    - When replicas come or go, the policy is made anew and told what those that stay last did.

    Memory is bounded: requests outstanding, ``window`` times per replica, and a thousand ends without a beginning.

    Parameters
    ----------
    make
        Makes the policy for a number of workers.
    clock
        The time now, s; never goes back.
    rng
        Where the chance to explore comes from.
    at_once
        Requests that a replica works on at full speed at the same time.
    explore_share
        Share of requests that explore, 0 to 1.
    window
        Completions per replica, and twice as many arrivals in all, that survive when replicas come or go.

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
        self._early: OrderedDict[tuple[Id, Hashable], None] = OrderedDict()

    def members(self, ids: Iterable[Id]) -> None:
        """Take in which replicas there are; of those that were there before, what was learned stays.

        Parameters
        ----------
        ids
            All replicas; the same as before is cheap.
        """
        wanted = dict.fromkeys(ids)
        if wanted.keys() == self._replicas.keys():
            return
        now = self._clock()
        self._replicas = {one: self._replicas.get(one) or Replica(now, self._window) for one in wanted}
        self._ids = list(wanted)
        self._policy = self._make(len(self._ids)) if self._ids else None
        if self._policy is None:
            return
        for at in self._arrivals:
            self._policy.arrived(at)
        for worker, replica in enumerate(self._replicas.values()):
            replica.worker = worker
            for work, seconds in replica.last:
                self._policy.completed(worker, work, seconds)

    def arrived(self) -> None:
        """A request came; once per request, however often it is sent."""
        now = self._clock()
        self._arrivals.append(now)
        if self._policy is not None:
            self._policy.arrived(now)

    def rank(self, seen: Mapping[Id, int | None], limits: Mapping[Id, int]) -> list[Id] | None:
        """Replicas to try for the next request, in turn: the policy's choice, then by expected wait.

        Those at their limit are left out, and so is who would answer later than one of those is expected to: a
        request may do better to wait for a fast replica than to join the queue of a slow one. One that is silent for
        longer than its queue explains is expected to stay so for as long, so that nobody waits for what hangs.

        Parameters
        ----------
        seen
            Requests at each replica as far as the engine knows, others' included; None or absent where it does
            not. Where the own count of outstanding ones is higher, that counts.
        limits
            Requests that a replica takes at most; absent for any number.

        Returns
        -------
        list or None
            Empty to wait until a replica has room; None while nothing is known to choose by.
        """
        if self._policy is None:
            return None
        lengths = np.array(
            [max(len(replica.outstanding), seen.get(one) or 0) for one, replica in self._replicas.items()],
            np.int64,
        )
        self._tell_silent()
        # Asked even where it does not count: it is then that it makes its estimates.
        choice = self._policy.choose(self._queues(lengths))
        first = self._new_or_neglected(lengths)
        if first is None:
            if not any(replica.known for replica in self._replicas.values()):
                return None
            first = choice
        waits = self._waits(lengths)
        has_room = lengths < [limits.get(one, np.iinfo(np.int64).max) for one in self._ids]
        if has_room[first]:
            waits[first] = -1.0
        worth_it = has_room & (waits <= waits[~has_room].min(initial=np.inf))
        return [self._ids[worker] for worker in np.argsort(waits, kind="stable") if worth_it[worker]]

    def _tell_silent(self) -> None:
        """Tell the policy of busy seconds without a completion, where there are more than its estimate explains."""
        rates = None if self._policy is None else self._policy.rates
        now = self._clock()
        for replica in self._replicas.values():
            replica.count(now, self._at_once)
            if rates is not None and replica.known:
                silent = replica.busy - replica.told
                if silent * rates[replica.worker] > _SILENT:
                    replica.told = replica.busy
                    self._learn(replica, 0.0, silent)

    def _learn(self, replica: Replica, work: float, seconds: float) -> None:
        if self._policy is not None:
            replica.last.append((work, seconds))
            self._policy.completed(replica.worker, work, seconds)

    def _waits(self, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """(n,) seconds until each would have served one more."""
        rates = None if self._policy is None else self._policy.rates
        held_back = np.ones(len(lengths)) if rates is None else rates
        silent = np.array([replica.busy for replica in self._replicas.values()])
        queues = self._queues(lengths) + 1
        expected: NDArray[np.float64] = np.maximum(queues / np.maximum(held_back, 1e-12), silent)
        return expected / self._at_once

    def _queues(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n,) lengths as they count: a place that is free costs no wait, so that fewer than all taken are as none."""
        return np.maximum(lengths, self._at_once - 1)

    def _new_or_neglected(self, lengths: NDArray[np.int64]) -> int | None:
        """The worker that is to be tried now, if one is."""
        replicas = list(self._replicas.values())
        idle = [worker for worker, length in enumerate(lengths) if length == 0]
        tried = [worker for worker in idle if not replicas[worker].known]
        if not tried and self._explore_share > 0 and self._rng.random() < self._explore_share:
            tried = idle
        if not tried:
            return None
        worker = min(tried, key=lambda one: replicas[one].heard)
        # Before the request is under way, the next one may be asked for: then another one's turn has come.
        replicas[worker].heard = self._clock()
        return worker

    def sent(self, one: Id, request: Hashable, length: int | None = None) -> None:
        """A replica has accepted a request.

        Parameters
        ----------
        one
            The replica; one that is not a member any more is passed over.
        request
            What :meth:`ended` will name it by.
        length
            Requests there, this one and others' included, as the replica said when it accepted it; None where it did
            not.
        """
        replica = self._replicas.get(one)
        if replica is None:
            return
        if (one, request) in self._early:
            # It ended before this was told; how long it took is not known.
            del self._early[one, request]
            return
        replica.begin(request, self._clock(), self._at_once, length)

    def ended(self, one: Id, request: Hashable) -> None:
        """A request is no longer at a replica: served, failed, cancelled, or never accepted."""
        replica = self._replicas.get(one)
        if replica is None:
            return
        if request not in replica.outstanding:
            self._early[one, request] = None
            while len(self._early) > _EARLY:
                self._early.popitem(last=False)
            return
        done = replica.end(request, self._clock(), self._at_once)
        if replica.ended > 1:
            self._learn(replica, *done)

    @property
    def speeds(self) -> dict[Id, float]:
        """Requests per busy second of each known replica, as the policy estimates them."""
        rates = None if self._policy is None else self._policy.rates
        if self._policy is None or rates is None:
            return {}
        rates /= 1.0 - self._policy.accuracy
        return {one: float(rates[replica.worker]) for one, replica in self._replicas.items() if replica.known}

    @property
    def arrival_rate(self) -> float:
        """Requests per second, estimated; 0 before the second."""
        return 0.0 if self._policy is None else self._policy.arrival_rate

    @property
    def spare_rate(self) -> float:
        """Requests per second that known replicas could serve beyond those that come, estimated."""
        return max(self._at_once * sum(self.speeds.values()) - self.arrival_rate, 0.0)

    def idle(self, seen: Mapping[Id, int | None]) -> Id | None:
        """A replica drawn from those without requests, its own and, as far as the engine knows, others'."""
        idle = [one for one in self._ids if not self._replicas[one].outstanding and not seen.get(one)]
        return idle[int(self._rng.integers(len(idle)))] if idle else None

    @property
    def outstanding(self) -> dict[Id, int]:
        """Own requests at each replica."""
        return {one: len(replica.outstanding) for one, replica in self._replicas.items()}
