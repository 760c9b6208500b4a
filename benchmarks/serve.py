"""Ray Serve under real HTTP load: Windlass's routers compared with Serve's power of two choices, ms.

Replicas serve one request at a time, and together ``CAPACITY`` requests per second. Arrivals are Poisson; work is
exponential or Pareto. All routers get the same requests at the same time, each for its own freshly deployed replicas,
so other load on the machine affects all alike. ``WARM_S`` are not counted, then ``COUNTED_S`` are; in their middle each
replica gets its neighbour's speed. With more than four replicas, each gets fewer requests per second, and times are
longer by the same factor. Several proxies are a deployment in front of the replicas, with a router in each of its own
replicas. Each request is then forwarded twice, so the rate is divided, and times multiplied, by the number of proxies.
"""

from __future__ import annotations

import asyncio
import itertools
import statistics
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from ray import serve

from benchmarks.measure import Row
from benchmarks.routers import shown
from benchmarks.serve_app import deploy, serving, write_speeds
from benchmarks.serve_load import Stream, send
from windlass.engines.serve.router import pull, rosella

CAPACITY = 40.0
WARM_S, COUNTED_S = 5.0, 30.0
SPEEDS = ((1, 2, 4), (1, 1, 1, 6))
LOADS = (0.6, 0.85)
#: Values of ``max_ongoing_requests``: Serve's default, and one with which all queues are in the replicas.
LIMITS = (5, 100)
EQUAL, MANY, FEW_REPLICAS = (1, 1, 1, 1), (1,) * 8 + (2,) * 4 + (4,) * 4, 4
ROUTERS = {"pull": pull, "rosella": rosella, "power of two": lambda: None}
MEASURES: dict[str, Callable[[NDArray[np.float64]], float]] = {
    "p50": lambda seconds: float(np.percentile(seconds, 50)),
    "mean": lambda seconds: float(seconds.mean()),
    "p99": lambda seconds: float(np.percentile(seconds, 99)),
}


@dataclass(frozen=True, slots=True)
class Setting:
    """Limit of ongoing requests per replica, speeds, offered load, number of proxies, and law of the sizes."""

    limit: int
    speeds: tuple[int, ...]
    load: float
    proxies: int = 1
    sizes: str = "exponential"

    def __str__(self) -> str:
        proxies = f", {self.proxies} proxies" if self.proxies > 1 else ""
        return f"at most {self.limit}, {shown(self.speeds)}, load {self.load:.0%}{proxies}, {self.sizes}"

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
)


def rows(repeats: int) -> list[Row]:
    """Return all comparisons of the suite; report each run on standard error."""
    with tempfile.TemporaryDirectory() as folder, serving() as address:
        file = Path(folder) / "speeds.json"
        return [row for setting in SETTINGS for row in _compare(setting, repeats, address, file)]


def _compare(setting: Setting, repeats: int, address: str, file: Path) -> list[Row]:
    found: dict[str, list[NDArray[np.float64]]] = {router: [] for router in ROUTERS}
    for repeat in range(repeats):
        for router, seconds in _measure(setting, repeat, address, file).items():
            found[router].append(seconds)
            figures = "  ".join(f"{name} {1e3 * of(seconds):7.1f}" for name, of in MEASURES.items())
            text = f"{setting}, {repeat + 1}: {router:12} {figures} ms, n {len(seconds)}"
            print(text, file=sys.stderr, flush=True)
    ours, *peers = ROUTERS
    return [
        _row(f"{setting}: {name}", [of(one) for one in found[ours]], [of(one) for one in found[peer]], peer)
        for name, of in MEASURES.items()
        for peer in peers
    ]


def _row(name: str, ours: list[float], theirs: list[float], peer_name: str) -> Row:
    ratios = [peer / own for own, peer in zip(ours, theirs, strict=True)]
    return Row(
        name=name,
        ours=1e3 * statistics.median(ours),
        peer=1e3 * statistics.median(theirs),
        peer_name=peer_name,
        unit="ms",
        ratio=statistics.median(ratios),
        ratio_low=min(ratios),
        ratio_high=max(ratios),
    )


def _measure(setting: Setting, repeat: int, address: str, file: Path) -> dict[str, NDArray[np.float64]]:
    """Return the response times of the counted requests by router, s; requests differ by repeat, not by router."""
    unit = setting.capacity / sum(setting.speeds)
    before = [unit * speed for speed in setting.speeds]
    after = [before[-1], *before[:-1]]
    warm, counted = setting.slower * WARM_S, setting.slower * COUNTED_S
    rng = np.random.default_rng(repeat + 1)
    stream = Stream.poisson(setting.capacity * setting.load, warm + counted, rng, setting.sizes)
    # The first router in this order gets each request first, so the order alternates.
    names = {router: router.replace(" ", "-") for router in list(ROUTERS)[:: -1 if repeat % 2 else 1]}
    write_speeds(file, before)
    for router, name in names.items():
        deploy(name, file, len(before), setting.limit, ROUTERS[router](), setting.proxies)
    swap = (warm + counted / 2, lambda: write_speeds(file, after))

    async def all_at_once() -> list[NDArray[np.float64]]:
        return await asyncio.gather(*(send(f"{address}/{name}", stream, [swap]) for name in names.values()))

    try:
        results = asyncio.run(all_at_once())
    finally:
        for name in names.values():
            serve.delete(name)
    return {router: seconds[stream.due >= warm] for router, seconds in zip(names, results, strict=True)}
