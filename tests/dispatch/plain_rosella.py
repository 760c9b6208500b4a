"""A plain version of Rosella, after its docstrings: the oracle for the state that one of several schedulers learns.

Nothing of the compiled policy is used. Its chance is handed in: a word of the random stream, and when the first
benchmark task is due.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field

WORD = 1 << 64
FULL = 1 << 32
UNKNOWN = 1e-9
BLOCKS, SIZES = 16, 64


class Stream:
    """SplitMix64."""

    def __init__(self, word: int) -> None:
        self.word = word % WORD

    def draw(self) -> int:
        self.word = (self.word + 0x9E3779B97F4A7C15) % WORD
        bits = self.word
        bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 % WORD
        bits = (bits ^ bits >> 27) * 0x94D049BB133111EB % WORD
        return bits ^ bits >> 31


def below(bits: int, count: int) -> int:
    return (bits >> 32) * count >> 32


def low_half(bits: int) -> int:
    return bits % FULL


class Table:
    """Walker's table, by Vose: of the present workers, each in proportion to its rate."""

    def __init__(self, rates: list[float], present: list[int]) -> None:
        count, here = len(rates), set(present)
        total = sum(rates[worker] for worker in range(count) if worker in here)
        weights = [rates[worker] if total > 0.0 else 1.0 for worker in range(count)]
        scale = count / (total if total > 0.0 else len(present))
        self.own = [int(weights[at] * scale * FULL) if at in here else 0 for at in range(count)]
        self.other = list(range(count))
        poor = [at for at in range(count) if self.own[at] < FULL]
        rich = [at for at in range(count) if self.own[at] >= FULL]
        while poor and rich:
            one, giver = poor.pop(), rich[-1]
            self.other[one] = giver
            self.own[giver] -= FULL - self.own[one]
            if self.own[giver] < FULL:
                poor.append(rich.pop())
        best = max(sorted(here), key=lambda at: weights[at])
        for at in poor:
            if at in here and weights[at] > 0.0:
                self.own[at] = FULL
            else:
                self.other[at] = best

    def sample(self, stream: Stream) -> int:
        bits = stream.draw()
        column = below(bits, len(self.own))
        return column if low_half(bits) < self.own[column] else self.other[column]


@dataclass
class Block:
    """Completions of one worker that follow each other."""

    began: float
    work: float = 0.0
    seconds: float = 0.0
    count: int = 0


@dataclass
class Window:
    """The last completions of a worker: closed blocks, and the one that is being filled."""

    filling: Block
    closed: deque[Block] = field(default_factory=deque)

    def all(self) -> list[Block]:
        return [*self.closed, self.filling]


class PlainRosella:
    """One of ``schedulers`` that share the workers; ``guaranteed`` is what all of these can do, None if unknown."""

    def __init__(
        self,
        workers: int,
        guaranteed: float | None,
        schedulers: int,
        word: int,
        benchmark_at: float,
        window_scale: float = 0.02,
        *,
        gaps: int = 1000,
        probe_share: float = 0.1,
        most_load: float = 0.95,
        by: str = "queue",
        probes: int = 2,
    ) -> None:
        self.n, self.k, self.knows_capacity, self.scale = (
            workers,
            schedulers,
            guaranteed is not None,
            window_scale,
        )
        self.probe_share, self.most_load, self.by, self.probes = probe_share, most_load, by, probes
        self.guaranteed = UNKNOWN if guaranteed is None else guaranteed
        self.stream, self.benchmark_at = Stream(word), benchmark_at
        self.now, self.times = 0.0, deque[float](maxlen=gaps + 1)
        self.here, self.rates = list(range(workers)), [self.guaranteed / workers] * workers
        self.windows = [Window(Block(0.0)) for _ in range(workers)]
        self.table: Table | None = None
        self.ticks, self.begun, self.sizes_seen, self.sizes = 0, False, 0, [0.0] * SIZES
        self.mean, self.load, self.epsilon, self.length, self.cut_off = 1.0, 0.0, 0.0, 1.0, 0.0

    def arrived(self, now: float) -> None:
        self.now = max(self.now, now)
        self.times.append(now)

    def choose(self, lengths: list[int]) -> int:
        self.ticks += 1
        if self.ticks >= self.n or not self.begun:
            self.refresh()
        if self.table is None:
            self.table = Table(self.rates, self.here)
        # Of equals the one that was drawn first.
        drawn = [self.table.sample(self.stream) for _ in range(self.probes)]
        return min(drawn, key=lambda worker: self.cost(worker, lengths))

    def cost(self, worker: int, lengths: list[int]) -> float:
        if self.by == "queue":
            return lengths[worker]
        return (lengths[worker] + 1) / self.rates[worker] if self.rates[worker] else math.inf

    def completed(self, worker: int, work: float, seconds: float) -> None:
        self.take(worker, work, seconds)
        if work == 0.0:
            return
        self.sizes[self.sizes_seen % SIZES] = work
        self.sizes_seen += 1
        self.mean += (work - self.mean) / min(self.sizes_seen, 1000)

    reported = completed

    def benchmarked(self, worker: int, work: float, seconds: float) -> None:
        self.take(worker, work, seconds)

    def take(self, worker: int, work: float, seconds: float) -> None:
        window = self.windows[worker]
        block = window.filling
        block.work, block.seconds, block.count = block.work + work, block.seconds + seconds, block.count + 1
        if block.count >= self.length / (BLOCKS - 1):
            if len(window.closed) == BLOCKS:
                window.closed.popleft()
            window.closed.append(block)
            window.filling = Block(self.now)

    def set_rate(self, worker: int, rate: float) -> None:
        self.table = None

    def left(self, worker: int) -> None:
        if worker in self.here:
            self.here[self.here.index(worker)] = self.here[-1]
            self.here.pop()
        self.table = None

    def joined(self, worker: int) -> None:
        if worker not in self.here:
            self.here.append(worker)
        self.windows[worker] = Window(Block(self.now))
        self.rates[worker] = self.guaranteed / self.n
        self.table = None

    def benchmark(self, now: float) -> tuple[int, float] | None:
        if now < self.benchmark_at:
            return None
        self.now = max(self.now, now)
        self.take_load()
        self.schedule(now)
        if not self.here:
            return None
        bits = self.stream.draw()
        at = low_half(bits) % SIZES
        size = self.sizes[at % min(self.sizes_seen, SIZES)] if self.sizes_seen else 0.0
        return self.here[below(bits, len(self.here))], size

    def take_load(self) -> None:
        """Estimate the load from own arrivals, which are one k-th of all."""
        gaps = len(self.times) - 1
        span = self.times[-1] - self.times[0] if gaps > 0 else math.inf
        of_all = self.k * (gaps / span if span > 0.0 else math.inf)
        self.load = min(of_all * self.mean / self.guaranteed, self.most_load)
        self.epsilon = 0.3 * (1.0 - self.load)
        self.length = max(16, math.ceil(self.scale * math.log(max(self.n, 2)) / self.epsilon**2))
        mean_rate = self.guaranteed / self.n / self.mean
        self.cut_off = (1.0 + self.epsilon) * self.length / (mean_rate * (1.0 - self.load) / 10.0)

    def schedule(self, now: float) -> None:
        rate = self.probe_share * (1.0 - self.load) * self.guaranteed / self.mean / self.k
        if rate > 0.0:
            self.benchmark_at = now - math.log(((self.stream.draw() >> 11) + 1) / 2**53) / rate
        else:
            self.benchmark_at = math.inf

    def rate_of(self, window: Window) -> float:
        while window.closed:
            rest = sum(block.count for block in window.all()[1:])
            if rest < self.length:
                break
            window.closed.popleft()
        blocks = window.all()
        if self.now - blocks[0].began > self.cut_off:
            return 0.0
        seconds = sum(block.seconds for block in blocks)
        if seconds > 0.0:
            return (1.0 - self.epsilon) * sum(block.work for block in blocks) / seconds
        return (1.0 - self.epsilon) * self.guaranteed / self.n

    def refresh(self) -> None:
        self.take_load()
        if not self.begun:
            self.begun = True
            for window in self.windows:
                window.filling.began = self.now
        before, self.rates = self.rates, [self.rate_of(window) for window in self.windows]
        total = sum(self.rates[worker] for worker in self.here)
        if sum(abs(self.rates[worker] - before[worker]) for worker in self.here) > 0.001 * total:
            self.table = None
        self.ticks = 0
        if not self.knows_capacity and total > UNKNOWN:
            first = self.guaranteed <= UNKNOWN
            self.guaranteed = total / (1.0 - self.epsilon)
            if first:
                self.take_load()
                self.schedule(self.now)
                self.ticks = self.n
