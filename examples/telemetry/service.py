"""A service as a load: processes that answer requests whose rate rises and falls, and short batch jobs in between.

Each process draws its own arrivals; all of them know the same surges, which are drawn from the seed. A surge rises over
several seconds. Requests that find their process busy wait in it, and computing a request takes a core.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

#: Number of processes that answer requests.
PROCESSES = 8
#: Mean processor time of a request, s.
REQUEST = 0.03


@dataclass(frozen=True)
class Surge:
    """A rise of the request rate: its start, s; its rise, top and fall, s; and the load at the top, cores."""

    start: float
    rise: float
    top: float
    height: float

    def at(self, now: float) -> float:
        """Return the additional load, cores."""
        since = now - self.start
        if since < 0.0 or since > 2.0 * self.rise + self.top:
            return 0.0
        edge = min(since, 2.0 * self.rise + self.top - since)
        return self.height * min(1.0, edge / self.rise)


def surges(rng: random.Random, seconds: float, cores: int) -> list[Surge]:
    """Draw the surges of a recording."""
    found, now = [], rng.expovariate(1.0 / 20.0)
    while now < seconds:
        found.append(
            Surge(now, rng.uniform(2.0, 12.0), rng.uniform(3.0, 20.0), cores * rng.uniform(0.4, 2.0))
        )
        now += rng.expovariate(1.0 / 40.0) + 10.0
    return found


def answer(
    seed: str, process: int, seconds: float, cores: int, begun: float, compute: Callable[[float], None]
) -> None:
    """Answer this process's share of the requests for ``seconds`` from ``begun`` (monotonic clock, s)."""
    shared, own = surges(random.Random(seed), seconds, cores), random.Random(f"{seed}:{process}")
    arrival = begun
    while True:
        since = arrival - begun
        load = 0.25 * cores + sum(each.at(since) for each in shared)
        arrival += own.expovariate(load / REQUEST / PROCESSES)
        if arrival - begun > seconds:
            return
        time.sleep(max(0.0, arrival - time.monotonic()))
        if time.monotonic() - begun > seconds:
            return
        compute(own.expovariate(1.0 / REQUEST))


def batch_jobs(rng: random.Random, seconds: float) -> Iterator[tuple[float, float]]:
    """Yield start and length, s, of batch jobs of one process each; they come in groups."""
    now = rng.expovariate(1.0 / 45.0)
    while now < seconds:
        for _ in range(rng.randint(1, 4)):
            yield now, rng.uniform(1.0, 6.0)
        now += rng.expovariate(1.0 / 60.0)
