"""Ray Serve under real HTTP load: our routers beside Serve's power of two choices, milliseconds.

Replicas serve one request at a time, at speeds that together do ``CAPACITY`` a second; requests are Poisson, their
work is exponential or Pareto's. All routers get the same requests at the same time, each for replicas of its own,
deployed afresh, so that whatever else the machine does it does to all. After ``WARM_S``, which is not counted,
``COUNTED_S`` are, and in their middle the replicas' speeds are dealt out anew: each gets its neighbour's. Of more
than four replicas each has fewer requests a second, and all of this takes as many times as long. Several proxies are a
deployment in front, each replica of which has a router of its own; as each request is handed on twice, as many times
fewer come, for as many times longer: two cores do no more.
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
#: ``max_ongoing_requests``: Serve's default; and one that keeps all queues in the replicas.
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
    """Replicas of these speeds, this many requests to each at most, under this share of their capacity."""

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
        """How many times as long it takes."""
        return max(1.0, len(self.speeds) / FEW_REPLICAS, self.proxies)

    @property
    def capacity(self) -> float:
        """Requests a second that all replicas together can serve."""
        return CAPACITY / self.proxies


SETTINGS = (
    *(Setting(*each) for each in itertools.product(LIMITS, SPEEDS, LOADS)),
    *(Setting(LIMITS[0], EQUAL, load) for load in LOADS),
    *(Setting(LIMITS[0], speeds, 0.85, sizes="pareto") for speeds in (*SPEEDS, EQUAL)),
    *(Setting(LIMITS[0], speeds, 0.85, proxies=4) for speeds in (*SPEEDS, EQUAL)),
    *(Setting(LIMITS[0], MANY, load) for load in LOADS),
)


def rows(repeats: int) -> list[Row]:
    """All comparisons of the suite; each run is told on standard error."""
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
    """Seconds of each counted request, by router; every repeat has other requests, all routers the same."""
    unit = setting.capacity / sum(setting.speeds)
    before = [unit * speed for speed in setting.speeds]
    after = [before[-1], *before[:-1]]
    warm, counted = setting.slower * WARM_S, setting.slower * COUNTED_S
    rng = np.random.default_rng(repeat + 1)
    stream = Stream.poisson(setting.capacity * setting.load, warm + counted, rng, setting.sizes)
    # Who is first is sent each request first.
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
