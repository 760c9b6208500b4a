"""Serve's routers in virtual time: the rule of ``pull`` compared with other rules, power of two choices among them.

This is the setting of :mod:`benchmarks.serve` without Serve, HTTP or a real clock. ``Replicas``, the core of the
router, sends requests to replicas that serve one at a time. Each proxy has its own router. It knows its own requests,
and the queue length that a replica reported when it last took one; reports expire after ``KNOWN_S``, as in Serve.
Power of two choices then queries the replica. Messages take no time, and replicas take any number of requests. All
routers get the same requests. In the middle of the counted time each replica gets its neighbour's speed.
"""

from __future__ import annotations

import heapq
import itertools
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Row
from windlass.engines.serve.ejection import RequestOutcome
from windlass.engines.serve.options import RouterOptions
from windlass.engines.serve.replicas import Replicas

WARM_S, COUNTED_S = 5.0, 30.0
#: Time for which Serve uses a replica's report of its queue, s.
KNOWN_S = 10.0
EVERY_REPLICA_S = 10.0
#: The first is compared with each other one.
ROUTERS = ("pull", "rosella", "prequal", "ll", "jsq", "jiq", "fastest-idle", "power of two")


@dataclass(frozen=True, slots=True)
class Setting:
    """Speeds of the replicas, offered load, number of proxies, and law of the sizes.

    ``fails_after``: seconds after which a request to the first replica fails, once requests count; None if it serves.
    """

    speeds: tuple[int, ...]
    load: float
    proxies: int = 1
    sizes: str = "exponential"
    fails_after: float | None = None

    def __str__(self) -> str:
        fails = "" if self.fails_after is None else f", one fails after {self.fails_after:g} s"
        return f"{shown(self.speeds)}, load {self.load:.0%}, {self.proxies} proxies, {self.sizes}{fails}"


_LIKE = ((1, 2, 4), (1, 1, 1, 6), (1, 1, 1, 1), (1,) * 8 + (2,) * 4 + (4,) * 4)
SETTINGS = (
    *(Setting(speeds, load) for speeds in _LIKE for load in (0.6, 0.85)),
    *(Setting(speeds, 0.85, sizes="pareto") for speeds in _LIKE[:3]),
    *(Setting(speeds, 0.85, proxies=4) for speeds in _LIKE),
    # Twice the mean time of a request is slow.
    *(Setting(_LIKE[2], 0.6, fails_after=seconds) for seconds in (0.0, 0.2)),
)


def shown(speeds: Sequence[int]) -> str:
    """Return the speeds with the number of replicas of each.

    >>> shown((1, 1, 1, 6))
    '3×1/1×6'
    """
    return "/".join(f"{len(list(same))}×{speed}" for speed, same in itertools.groupby(speeds))


class Router(Protocol):
    """A router, as the simulation calls it."""

    def choose(self, request: int) -> int:
        """Return the replica for a request."""

    def sent(self, replica: int, request: int, length: int) -> None:
        """Record that a replica took a request, and has ``length`` requests now."""

    def ended(self, replica: int, request: int, outcome: RequestOutcome) -> None:
        """Record that a request was served, or failed."""


class _Seen:
    """The queue lengths that a router knows, as in Serve's cache."""

    def __init__(self, count: int, clock: Callable[[], float]) -> None:
        self.length: list[int] = [0] * count
        self._heard = [-np.inf] * count
        self._clock = clock

    def note(self, replica: int, length: int) -> None:
        self.length[replica], self._heard[replica] = length, self._clock()

    def less(self, replica: int) -> None:
        self.length[replica] = max(0, self.length[replica] - 1)

    def get(self, replica: int) -> int | None:
        return self.length[replica] if self._clock() - self._heard[replica] <= KNOWN_S else None


class _Learns:
    def __init__(
        self, options: RouterOptions, count: int, clock: Callable[[], float], seed: list[int]
    ) -> None:
        rng = np.random.default_rng(seed)
        self._replicas: Replicas[int] = Replicas(
            lambda workers: options.policy(workers, rng),
            clock=clock,
            rng=rng,
            at_once=options.at_once,
            explore_share=options.explore_share,
            window=options.window,
        )
        self._replicas.members(range(count))
        self._seen, self._count, self._rng = _Seen(count, clock), count, rng

    def choose(self, request: int) -> int:
        self._replicas.arrived()
        ranked = self._replicas.rank({one: self._seen.get(one) for one in range(self._count)}, {})
        return ranked[0] if ranked else int(self._rng.integers(self._count))

    def sent(self, replica: int, request: int, length: int) -> None:
        self._seen.note(replica, length)
        self._replicas.sent(replica, request, length)

    def ended(self, replica: int, request: int, outcome: RequestOutcome) -> None:
        self._seen.less(replica)
        self._replicas.ended(replica, request, outcome)


class _PowerOfTwo:
    def __init__(
        self, count: int, clock: Callable[[], float], ask: Callable[[int], int], seed: list[int]
    ) -> None:
        self._seen, self._ask, self._rng, self._count = (
            _Seen(count, clock),
            ask,
            np.random.default_rng(seed),
            count,
        )

    def choose(self, request: int) -> int:
        drawn = [int(one) for one in self._rng.choice(self._count, 2, replace=False)]
        known = [self._seen.get(one) for one in drawn]
        lengths = [self._ask(one) if seen is None else seen for one, seen in zip(drawn, known, strict=True)]
        return drawn[int(np.argmin(lengths))]

    def sent(self, replica: int, request: int, length: int) -> None:
        self._seen.note(replica, length)

    def ended(self, replica: int, request: int, outcome: RequestOutcome) -> None:
        self._seen.less(replica)


def drawn_work(sizes: str, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw the work of ``count`` requests, with mean 1; with Pareto's exponent of 2.1 the variance is just finite."""
    if sizes == "exponential":
        return rng.exponential(1.0, count)
    return np.asarray((1 + rng.pareto(2.1, count)) * 1.1 / 2.1)


def responses(setting: Setting, router: str, seed: int) -> NDArray[np.float64]:
    """Return the response time of each counted request that did not fail, s."""
    count, rng = len(setting.speeds), np.random.default_rng(seed)
    capacity = EVERY_REPLICA_S * count
    unit = capacity / sum(setting.speeds)
    last = WARM_S + COUNTED_S
    came = np.cumsum(rng.exponential(1 / (capacity * setting.load), int(2 * capacity * last)))
    came = came[came < last]
    work = drawn_work(setting.sizes, len(came), rng)
    proxy = rng.integers(setting.proxies, size=len(came))
    now, waiting = [0.0], [0] * count

    def made(number: int) -> Router:
        if router == "power of two":
            return _PowerOfTwo(count, lambda: now[0], lambda one: waiting[one], [seed, number])
        return _Learns(RouterOptions(dispatch=router), count, lambda: now[0], [seed, number])

    routers = [made(number) for number in range(setting.proxies)]
    free, ends, served = [0.0] * count, list[tuple[float, int, int]](), np.zeros(len(came))
    outcomes = [RequestOutcome.SERVED] * len(came)
    for request, due in enumerate(came.tolist()):
        while ends and ends[0][0] <= due:
            _end(heapq.heappop(ends), now, waiting, routers, proxy, outcomes)
        now[0] = due
        chosen = routers[proxy[request]].choose(request)
        waiting[chosen] += 1
        begin = max(due, free[chosen])
        # The speed at the beginning of a request holds until its end, as in the measured deployment.
        swapped = begin >= WARM_S + COUNTED_S / 2
        speed = unit * setting.speeds[chosen - 1 if swapped else chosen]
        lasts = work[request] / speed
        if setting.fails_after is not None and chosen == 0 and begin >= WARM_S:
            lasts, outcomes[request] = setting.fails_after, RequestOutcome.FAILED
        served[request] = free[chosen] = begin + lasts
        heapq.heappush(ends, (free[chosen], chosen, request))
        routers[proxy[request]].sent(chosen, request, waiting[chosen])
    is_served = np.array([outcome is RequestOutcome.SERVED for outcome in outcomes])
    return (served - came)[is_served & (came >= WARM_S)]


def _end(
    end: tuple[float, int, int],
    now: list[float],
    waiting: list[int],
    routers: Sequence[Router],
    proxy: NDArray[np.int64],
    outcomes: Sequence[RequestOutcome],
) -> None:
    now[0], replica, request = end
    waiting[replica] -= 1
    routers[proxy[request]].ended(replica, request, outcomes[request])


def rows(repeats: int) -> list[Row]:
    """Return means and 99th percentiles of the first router and of each other one, with one seed per repeat."""
    return [row for setting in SETTINGS for row in _compare(setting, range(1, repeats + 1))]


def _compare(setting: Setting, seeds: Sequence[int]) -> list[Row]:
    found = {router: [responses(setting, router, seed) for seed in seeds] for router in ROUTERS}
    made = []
    for name, of in (("mean", np.mean), ("p99", lambda seconds: np.percentile(seconds, 99))):
        own = [float(of(seconds)) for seconds in found[ROUTERS[0]]]
        for peer in ROUTERS[1:]:
            theirs = [float(of(seconds)) for seconds in found[peer]]
            ratios = [other / mine for mine, other in zip(own, theirs, strict=True)]
            made.append(
                Row(
                    name=f"{setting}: {name}",
                    ours=1e3 * statistics.median(own),
                    peer=1e3 * statistics.median(theirs),
                    peer_name=peer,
                    unit="ms",
                    ratio=statistics.median(ratios),
                    ratio_low=min(ratios),
                    ratio_high=max(ratios),
                )
            )
    return made
