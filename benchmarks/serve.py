"""Ray Serve under real HTTP load: Windlass's routers compared with Serve's power of two choices and Prequal.

Replicas serve one request at a time, and together ``CAPACITY`` requests per second. Arrivals are Poisson; work is
exponential or Pareto. All routers get the same requests at the same time, each for its own freshly deployed replicas,
so other load on the machine affects all alike. ``WARM_S`` are not counted, then ``COUNTED_S`` are; in their middle each
replica gets its neighbour's speed. Instead, the first of the replicas may fail from the beginning of the counted time
on: each of its requests ends with an error, at once or after a while. The share of requests that fail counts from one
second later on, and response times are those of the others. With more than four replicas, each gets fewer requests per
second, and times are longer by the same factor. Several proxies are a deployment in front of the replicas, with a
router in each of its own replicas. Each request is then forwarded twice, so the rate is divided, and times multiplied,
by the number of proxies.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from ray import serve
from ray.serve.config import RequestRouterConfig

from benchmarks.measure import Row
from benchmarks.routers import shown
from benchmarks.serve_app import deploy, serving, write_state
from benchmarks.serve_load import Answers, Stream, send
from windlass.engines.serve import router as routers

CAPACITY = 40.0
WARM_S, COUNTED_S = 5.0, 30.0
SPEEDS = ((1, 2, 4), (1, 1, 1, 6))
LOADS = (0.6, 0.85)
#: Values of ``max_ongoing_requests``: Serve's default, and one with which all queues are in the replicas.
LIMITS = (5, 100)
EQUAL, MANY, FEW_REPLICAS = (1, 1, 1, 1), (1,) * 8 + (2,) * 4 + (4,) * 4, 4
#: After which time a request to a failing replica fails, s: at once, or after twice the mean time of a request.
FAST, SLOW = 0.0, 0.2
#: How long a router may take to notice failures, s.
NOTICED_S = 1.0
ROUTERS: dict[str, Callable[[], RequestRouterConfig | None]] = {
    "pull": routers.pull,
    "rosella": routers.rosella,
    "prequal": lambda: routers.router("prequal"),
    "power of two": lambda: None,
}
MEASURES: dict[str, Callable[[NDArray[np.float64]], float]] = {
    "p50": lambda seconds: float(np.percentile(seconds, 50)),
    "mean": lambda seconds: float(seconds.mean()),
    "p99": lambda seconds: float(np.percentile(seconds, 99)),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """Limit of ongoing requests per replica, speeds, offered load, number of proxies, law of the sizes, and more.

    ``fails_after``: seconds after which a request to the first replica fails, None if it serves; ``streamed``: whether
    answers are streamed.
    """

    limit: int
    speeds: tuple[int, ...]
    load: float
    proxies: int = 1
    sizes: str = "exponential"
    fails_after: float | None = None
    streamed: bool = False

    def __str__(self) -> str:
        proxies = f", {self.proxies} proxies" if self.proxies > 1 else ""
        fails = "" if self.fails_after is None else f", one fails after {self.fails_after:g} s"
        streamed = ", streamed" if self.streamed else ""
        base = f"at most {self.limit}, {shown(self.speeds)}, load {self.load:.0%}{proxies}, {self.sizes}"
        return base + fails + streamed

    @property
    def slower(self) -> float:
        """The factor by which times are longer."""
        return max(1.0, len(self.speeds) / FEW_REPLICAS, self.proxies)

    @property
    def capacity(self) -> float:
        """Requests per second that all replicas together can serve."""
        return CAPACITY / self.proxies


SETTINGS = (
    *(Setting(*each) for each in itertools.product(LIMITS, SPEEDS, LOADS)),
    *(Setting(LIMITS[0], EQUAL, load) for load in LOADS),
    *(Setting(LIMITS[0], speeds, 0.85, sizes="pareto") for speeds in (*SPEEDS, EQUAL)),
    *(Setting(LIMITS[0], speeds, 0.85, proxies=4) for speeds in (*SPEEDS, EQUAL)),
    *(Setting(LIMITS[0], MANY, load) for load in LOADS),
    *(Setting(LIMITS[0], EQUAL, LOADS[0], fails_after=seconds) for seconds in (FAST, SLOW)),
    *(Setting(LIMITS[0], speeds, 0.85, streamed=True) for speeds in (SPEEDS[0], EQUAL)),
)


def rows(repeats: int, settings: Sequence[Setting] = SETTINGS) -> list[Row]:
    """Return all comparisons of the suite; report each run on standard error."""
    with tempfile.TemporaryDirectory() as folder, serving() as address:
        file = Path(folder) / "state.json"
        return [row for setting in settings for row in _compare(setting, repeats, address, file)]


def _compare(setting: Setting, repeats: int, address: str, file: Path) -> list[Row]:
    found: dict[str, list[Answers]] = {router: [] for router in ROUTERS}
    for repeat in range(repeats):
        for router, answers in _measure(setting, repeat, address, file).items():
            found[router].append(answers)
            figures = "  ".join(f"{name} {1e3 * of(answers.served):7.1f}" for name, of in MEASURES.items())
            text = f"{setting}, {repeat + 1}: {router:12} {figures} ms, n {len(answers.due)}"
            print(f"{text}, failed {_failed(setting, answers):.1%}", file=sys.stderr, flush=True)
    ours, *peers = ROUTERS
    made = [
        _row(
            f"{setting}: {name}",
            [1e3 * of(one.served) for one in found[ours]],
            [1e3 * of(one.served) for one in found[peer]],
            peer,
            "ms",
        )
        for name, of in MEASURES.items()
        for peer in peers
    ]
    for peer in peers if setting.fails_after is not None else ():
        own, theirs = ([1e2 * _failed(setting, one) for one in found[each]] for each in (ours, peer))
        made.append(_row(f"{setting}: failed", own, theirs, peer, "%"))
    return made


def _failed(setting: Setting, answers: Answers) -> float:
    """Return the share of requests that failed, once a router may have noticed that a replica fails."""
    noticed = setting.slower * WARM_S + NOTICED_S + (setting.fails_after or 0.0)
    return float(answers.since(noticed).failed.mean())


def _row(name: str, ours: list[float], theirs: list[float], peer_name: str, unit: str) -> Row:
    ratios = [peer / own if own else np.inf for own, peer in zip(ours, theirs, strict=True)]
    return Row(
        name=name,
        ours=statistics.median(ours),
        peer=statistics.median(theirs),
        peer_name=peer_name,
        unit=unit,
        ratio=statistics.median(ratios),
        ratio_low=min(ratios),
        ratio_high=max(ratios),
    )


def _measure(setting: Setting, repeat: int, address: str, file: Path) -> dict[str, Answers]:
    """Return the answers to the counted requests by router; requests differ by repeat, not by router."""
    unit = setting.capacity / sum(setting.speeds)
    before = [unit * speed for speed in setting.speeds]
    after = [before[-1], *before[:-1]]
    warm, counted = setting.slower * WARM_S, setting.slower * COUNTED_S
    rng = np.random.default_rng(repeat + 1)
    stream = Stream.poisson(setting.capacity * setting.load, warm + counted, rng, setting.sizes)
    # The first router in this order gets each request first, so the order alternates.
    names = {router: router.replace(" ", "-") for router in list(ROUTERS)[:: -1 if repeat % 2 else 1]}
    write_state(file, before)
    for router, name in names.items():
        deploy(name, file, len(before), setting.limit, ROUTERS[router](), setting.proxies)
    if setting.fails_after is None:
        change = (warm + counted / 2, lambda: write_state(file, after))
    else:
        change = (warm, lambda: write_state(file, before, setting.fails_after))

    async def all_at_once() -> list[Answers]:
        streams = (send(f"{address}/{name}", stream, [change], setting.streamed) for name in names.values())
        return await asyncio.gather(*streams)

    try:
        results = asyncio.run(all_at_once())
    finally:
        for name in names.values():
            serve.delete(name)
    return {router: answers.since(warm) for router, answers in zip(names, results, strict=True)}
