"""A plain version of the pull policy, after its docstring: reservations of a scheduler, and which worker takes a task.

Nothing of the compiled policy is used; completions are kept as :mod:`plain_rosella` does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, localcontext
from itertools import pairwise
from typing import Any

from plain_rosella import PlainRosella, below
from scipy import stats


@dataclass
class Logs:
    """What one worker's completions say of its speed, and the sums that notice a change."""

    mean: float = 0.0
    count: float = 0.0
    above: float = 0.0
    below: float = 0.0
    silent: float = 0.0


def delays(saved: float, together: float, arriving: float) -> Iterator[Decimal]:
    """The delay that one waiting task causes if it is handed over once 1, 2, … tasks wait.

    The delay c(w) that w waiting tasks cause follows from c(0) = 0 and (λ + M) c(w) = 1 + λ c(w + 1) + M c(w − 1) up
    to the factor c(1), which follows from c(x) = ``saved`` where a task is handed over.
    """
    # c(w) = fixed + factor c(1), for w and for the number before it.
    fixed, factor, last_fixed, last_factor = Decimal(0), Decimal(1), Decimal(0), Decimal(0)
    fast, new = Decimal(together), Decimal(arriving)
    while True:
        with localcontext(prec=300) as context:
            context.Emax, context.Emin = 10**9, -(10**9)
            delay = (Decimal(saved) - fixed) / factor
            fixed, last_fixed = ((new + fast) * fixed - 1 - fast * last_fixed) / new, fixed
            factor, last_factor = ((new + fast) * factor - fast * last_factor) / new, factor
        yield delay


def least_waiting(saved: float, together: float, arriving: float) -> float:
    """The best number of waiting tasks at which to hand one over: the first one after which the next is no better."""
    if saved <= 0.0 or together <= 0.0 or arriving == math.inf:
        return 0.0
    if arriving <= 0.0:
        return math.ceil(saved * together)
    following = pairwise(delays(saved, together, arriving))
    return next(at for at, (this, other) in enumerate(following, start=1) if other >= this)


def pays(held: int, drain: float, share: float) -> bool:
    """Whether a request ahead saves more time for tasks than it costs, by probabilities of SciPy."""
    saved = float(stats.poisson.sf(held - 1, share))
    if drain == math.inf:
        return saved >= 0.01
    # E(G - y)+ is the integral of P(G > x) from y on, which is h P(G' > y) - y P(G > y) with one number more in G'.
    lost = held * stats.gamma.sf(drain, held + 1) - drain * stats.gamma.sf(drain, held)
    return saved >= 0.01 and saved * (1.0 + drain) >= lost


class PlainPull(PlainRosella):
    """One of ``schedulers``; the engine calls it once per task, or to offer tasks to workers."""

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
        self.copies = -1 if late else 0
        self.memory, self.alarm = (200.0, 8.0) if late else (40.0, 4.0)
        self.arrivals = self.counted = 0
        self.job_at, self.of_job, self.per_job = -1.0, 0, 1.0
        self.order: list[int] | None = None
        self.speed: dict[int, float] = {}
        self.arriving = self.crowding = self.fetch = 0.0
        self.mean_then = self.root = 1.0
        self.logs = [Logs() for _ in range(workers)]
        self.variance = 0.0
        self.completions = 0

    def take(self, worker: int, work: float, seconds: float) -> None:
        super().take(worker, work, seconds)
        logs = self.logs[worker]
        logs.silent += seconds
        if work <= 0.0 or logs.silent <= 0.0:
            return
        logarithm, logs.silent = math.log(work / logs.silent), 0.0
        difference = logarithm - logs.mean
        if logs.count:
            deviation = difference / max(math.sqrt(self.variance), 0.02)
            deviation = max(-2.0, min(2.0, deviation))
            logs.above = max(0.0, logs.above + deviation - 0.5)
            logs.below = max(0.0, logs.below - deviation - 0.5)
            if max(logs.above, logs.below) > self.alarm <= min(logs.count, self.completions):
                logs.above, logs.below, logs.count = 0.0, 0.0, 2.0
            else:
                self.completions += 1
                squared = difference**2 * logs.count / (logs.count + 1)
                self.variance += (squared - self.variance) / min(self.completions, 1000)
        logs.count = min(logs.count + 1, self.memory)
        logs.mean += difference / logs.count

    def arrived(self, now: float) -> None:
        super().arrived(now)
        self.arrivals += 1

    def choose(self, lengths: list[int]) -> int:
        self.note_arrival()
        self.ranked()
        place = below(self.stream.draw(), len(self.here))
        turn = self.here[place:] + self.here[:place]
        return min(turn, key=lambda worker: (lengths[worker] + 1) / self.speed[worker])

    def offers(self) -> Iterator[int]:
        if not self.here:
            return
        self.note_arrival()
        for place in range(len(self.here)):
            yield self.ranked()[place]

    def note_arrival(self) -> None:
        # A choice before any arrival counts as an arrival.
        if self.counted != self.arrivals or self.counted == 0:
            self.counted = self.arrivals
            self.count()
            self.ticks += 1
            if self.ticks >= self.n or not self.begun:
                self.refresh()
                self.order = None

    def count(self) -> None:
        if self.now != self.job_at:
            if self.of_job:
                self.per_job += (self.of_job - self.per_job) / 50
            self.job_at, self.of_job = self.now, 0
        self.of_job += 1

    def ranked(self) -> list[int]:
        """The present workers, the fastest first; of equals the first on the list."""
        if self.order is None:
            self.speed = self.believed()
            gaps, span = len(self.times) - 1, self.times[-1] - self.times[0] if self.times else 0.0
            rate = 0.0 if gaps < 1 else gaps / span if span > 0.0 else math.inf
            self.arriving = rate * self.mean * self.k
            self.root, self.mean_then = math.sqrt(self.per_job), self.mean
            self.crowding = self.arriving / self.root
            self.order = sorted(self.here, key=lambda worker: -self.speed[worker])
        return self.order

    def believed(self) -> dict[int, float]:
        logs = {worker: self.logs[worker] for worker in self.here if self.logs[worker].count}
        doubts = {worker: self.variance / known.count for worker, known in logs.items()}
        mean, real = 0.0, 0.0
        if logs:
            mean = sum(known.mean for known in logs.values()) / len(logs)
        if len(logs) > 1:
            variance = sum((known.mean - mean) ** 2 for known in logs.values()) / (len(logs) - 1)
            real = max(0.0, variance - sum(doubts.values()) / len(doubts))
        blocks = {worker: self.windows[worker].all() for worker in logs}
        done = sum(block.work for each in blocks.values() for block in each)
        expected = sum(
            sum(block.seconds for block in each) * math.exp(logs[worker].mean)
            for worker, each in blocks.items()
        )
        scale = done / expected if done > 0.0 and expected > 0.0 else 1.0
        found = {}
        for worker in self.here:
            share = real / (real + doubts[worker]) if worker in logs and real > 0.0 else 0.0
            speed = scale * math.exp(mean + (share * (logs[worker].mean - mean) if share else 0.0))
            found[worker] = speed / (1.0 + self.logs[worker].silent * speed / self.mean / 8.0)
        return found

    def reported(self, worker: int, work: float, seconds: float) -> None:
        self.completed(worker, work, seconds)
        self.ticks += 1

    def takes(
        self, worker: int, now: float, waiting: int, others: int = 0, *, held: int = 0, fetch: float = 0.0
    ) -> int:
        if self.ticks >= self.n:
            self.now = max(self.now, now)
            self.refresh()
            self.order = None
        if fetch != self.fetch:
            self.fetch, self.order = fetch, None
        order, all_waiting = self.ranked(), waiting + others
        alive = [one for one in order if self.rates[one] > 0.0]
        faster = [one for one in order[: order.index(worker)] if one in alive]
        together = sum(self.speed[one] for one in faster)
        saved = 0.0
        if faster:
            saved = 1.0 / self.speed[worker] - len(faster) / together - 0.5 * fetch / self.mean_then
        needed = least_waiting(saved, together, self.crowding)
        if all_waiting < needed:
            return 0
        if held:
            drained = max(0.0, sum(self.speed[one] for one in alive) - self.arriving)
            drain = all_waiting * self.speed[worker] / drained if drained else math.inf
            share = fetch * self.speed[worker]
            # A worker with one task is cautious, the more so the more tasks a job has.
            if not pays(1, drain / (2.0 * self.root), share / self.mean_then):
                return 0
            if not pays(held, drain, share / self.mean):
                return 0
        return max(1, int(needed))

    def set_rate(self, worker: int, rate: float) -> None:
        self.order = None

    def left(self, worker: int) -> None:
        super().left(worker)
        self.order = None

    def joined(self, worker: int) -> None:
        super().joined(worker)
        self.logs[worker] = Logs()
        self.order = None
