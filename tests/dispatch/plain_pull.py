"""A plain version of the pull policy, after its docstring: reservations of a scheduler, and which worker takes a task.

Nothing of the compiled policy is used; completions are kept as :mod:`plain_rosella` does.
"""

from __future__ import annotations

import math
from typing import Any

from plain_rosella import PlainRosella, below


class PlainPull(PlainRosella):
    """One of ``schedulers``; the engine calls it once per reservation of a task."""

    pools = True

    def __init__(
        self,
        workers: int,
        guaranteed: float | None,
        schedulers: int,
        word: int,
        benchmark_at: float,
        window_scale: float = 0.02,
        *,
        late: bool = True,
        **options: Any,
    ) -> None:
        super().__init__(workers, guaranteed, schedulers, word, benchmark_at, window_scale, **options)
        self.copies = workers if late else 0
        self.arrivals = self.counted = self.reserved = self.waiting = 0
        self.waited, self.job_at, self.of_job, self.per_job = 0.0, -1.0, 0, 1.0
        self.order: list[int] | None = None
        self.speed: dict[int, float] = {}
        self.crowding = 0.0

    def arrived(self, now: float) -> None:
        super().arrived(now)
        self.arrivals += 1

    def choose(self, lengths: list[int]) -> int:
        # A choice before any arrival counts as an arrival.
        if self.counted != self.arrivals or self.counted == 0:
            self.counted, self.reserved = self.arrivals, 0
            self.count()
            self.ticks += 1
            if self.ticks >= self.n or not self.begun:
                self.refresh()
                self.order = None
        order = self.ranked()
        if not self.copies:
            place = below(self.stream.draw(), len(self.here))
            turn = self.here[place:] + self.here[:place]
            return min(turn, key=lambda worker: (lengths[worker] + 1) / self.speed[worker])
        if self.reserved >= len(order):
            self.reserved = 0
        self.reserved += 1
        return order[self.reserved - 1]

    def count(self) -> None:
        if self.now != self.job_at:
            self.waited += (self.waiting - self.waited) / 50
            if self.of_job:
                self.per_job += (self.of_job - self.per_job) / 50
            self.job_at, self.of_job = self.now, 0
        self.of_job += 1
        self.waiting += 1

    def ranked(self) -> list[int]:
        """The present workers, the fastest first; of equals the first on the list."""
        if self.order is None:
            self.speed = self.believed()
            gaps, span = len(self.times) - 1, self.times[-1] - self.times[0] if self.times else 0.0
            rate = 0.0 if gaps < 1 else gaps / span if span > 0.0 else math.inf
            self.crowding = self.k * rate * self.mean / self.per_job
            self.order = sorted(self.here, key=lambda worker: -self.speed[worker])
        return self.order

    def believed(self) -> dict[int, float]:
        logs, doubts = {}, {}
        for worker in self.here:
            blocks = self.windows[worker].all()
            work, seconds = sum(b.work for b in blocks), sum(b.seconds for b in blocks)
            if work > 0.0 and seconds > 0.0:
                logs[worker] = math.log(work / seconds)
                doubts[worker] = 1.0 / sum(b.count for b in blocks)
        mean, real = 0.0, 0.0
        if logs:
            mean = sum(logs.values()) / len(logs)
        if len(logs) > 1:
            variance = sum((log - mean) ** 2 for log in logs.values()) / (len(logs) - 1)
            real = max(0.0, variance - sum(doubts.values()) / len(doubts))
        found = {}
        for worker in self.here:
            share = real / (real + doubts[worker]) if worker in logs and real > 0.0 else 0.0
            found[worker] = math.exp(mean + share * (logs.get(worker, mean) - mean))
        return found

    def reported(self, worker: int, work: float, seconds: float) -> None:
        self.completed(worker, work, seconds)
        self.ticks += 1

    def binds(self, worker: int, now: float, waiting: int) -> bool:
        if self.ticks >= self.n:
            self.now = max(self.now, now)
            self.refresh()
            self.order = None
        order = self.ranked()
        faster = [one for one in order[: order.index(worker)] if self.rates[one] > 0.0]
        spare = sum(self.speed[one] for one in faster) - self.crowding
        needed = max(0.0, spare / self.speed[worker] - len(faster))
        takes = waiting + (self.k - 1) * self.waited > needed
        self.waiting = waiting - takes
        return takes

    def set_rate(self, worker: int, rate: float) -> None:
        self.order = None

    def left(self, worker: int) -> None:
        super().left(worker)
        self.order = None

    def joined(self, worker: int) -> None:
        super().joined(worker)
        self.order = None
