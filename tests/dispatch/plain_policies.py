"""Plain versions of the dispatch policies, after their docstrings: the worker of each task.

Nothing of the compiled policies is used; their chance, a word of the random stream, is handed in.
"""

from __future__ import annotations

import math

from plain_rosella import Stream, Table, below


class Plain:
    """Common state of all policies: the random stream, the number of arrivals, and the present workers."""

    benchmark_at = math.inf

    def __init__(self, workers: int, word: int) -> None:
        self.n, self.stream = workers, Stream(word)
        self.here, self.arrivals = list(range(workers)), 0

    def arrived(self, now: float) -> None:
        self.arrivals += 1

    def completed(self, worker: int, work: float, seconds: float) -> None:
        pass

    def reported(self, worker: int, work: float, seconds: float) -> None:
        pass

    def benchmarked(self, worker: int, work: float, seconds: float) -> None:
        pass

    def left(self, worker: int) -> None:
        """The last of the list takes the place of the one that leaves."""
        if worker in self.here:
            self.here[self.here.index(worker)] = self.here[-1]
            self.here.pop()

    def joined(self, worker: int) -> None:
        if worker not in self.here:
            self.here.append(worker)

    def set_rate(self, worker: int, rate: float) -> None:
        pass

    def any_worker(self) -> int:
        return self.here[below(self.stream.draw(), len(self.here))]

    def in_turn(self) -> list[int]:
        """The present workers, from a random place of the list on."""
        place = below(self.stream.draw(), len(self.here))
        return self.here[place:] + self.here[:place]


class Uniform(Plain):
    def choose(self, lengths: list[int]) -> int:
        return self.any_worker()


class RoundRobin(Plain):
    turn = 0

    def choose(self, lengths: list[int]) -> int:
        while self.turn not in self.here:
            self.turn = (self.turn + 1) % self.n
        chosen, self.turn = self.turn, (self.turn + 1) % self.n
        return chosen


class Pot(Plain):
    def choose(self, lengths: list[int]) -> int:
        first, second = self.any_worker(), self.any_worker()
        return second if lengths[second] < lengths[first] else first


class Jsq(Plain):
    def choose(self, lengths: list[int]) -> int:
        return min(self.in_turn(), key=lambda worker: lengths[worker])


class LeastOutstanding(Plain):
    def __init__(self, workers: int, word: int) -> None:
        super().__init__(workers, word)
        self.sent = [0] * workers

    def choose(self, lengths: list[int]) -> int:
        chosen = min(self.in_turn(), key=lambda worker: self.sent[worker])
        self.sent[chosen] += 1
        return chosen

    def completed(self, worker: int, work: float, seconds: float) -> None:
        self.sent[worker] = max(self.sent[worker] - 1, 0)

    def left(self, worker: int) -> None:
        super().left(worker)
        self.sent[worker] = 0


class Rated(Plain):
    """Rates are known, and followed where they change."""

    follows = True

    def __init__(self, rates: list[float], word: int) -> None:
        super().__init__(len(rates), word)
        self.rates = list(rates)

    def set_rate(self, worker: int, rate: float) -> None:
        if self.follows:
            self.rates[worker] = rate

    def sample(self) -> int:
        return Table(self.rates, self.here).sample(self.stream)

    def wait(self, worker: int, lengths: list[int]) -> float:
        return (lengths[worker] + 1) / self.rates[worker] if self.rates[worker] else math.inf


class Pss(Rated):
    def choose(self, lengths: list[int]) -> int:
        return self.sample()


class Halo(Pss):
    follows = False


class Ppot(Rated):
    def choose(self, lengths: list[int]) -> int:
        first, second = self.sample(), self.sample()
        return second if lengths[second] < lengths[first] else first


class PpotLl(Rated):
    def choose(self, lengths: list[int]) -> int:
        first, second = self.sample(), self.sample()
        return second if self.wait(second, lengths) < self.wait(first, lengths) else first


class Sed(Rated):
    def choose(self, lengths: list[int]) -> int:
        return min(self.in_turn(), key=lambda worker: self.wait(worker, lengths))


class Bandit(Plain):
    """Work, seconds and completions of each worker, faded by each completion that follows."""

    def __init__(self, workers: int, word: int, curiosity: float, memory: float) -> None:
        super().__init__(workers, word)
        self.curiosity, self.memory = curiosity, memory
        self.done: list[list[tuple[float, float]]] = [[] for _ in range(workers)]

    def completed(self, worker: int, work: float, seconds: float) -> None:
        self.done[worker].append((work, seconds))

    reported = benchmarked = completed

    def joined(self, worker: int) -> None:
        super().joined(worker)
        self.done[worker] = []

    def faded(self, worker: int) -> tuple[float, float, float]:
        """Work, seconds and number of completions."""
        work = seconds = count = 0.0
        for one, other in self.done[worker]:
            keep = 1.0 - 1.0 / self.memory
            work, seconds, count = keep * work + one, keep * seconds + other, keep * count + 1.0
        return work, seconds, count

    def rate(self, worker: int) -> float:
        work, seconds, _ = self.faded(worker)
        return work / seconds if seconds else math.inf

    def delay(self, worker: int, length: int) -> float:
        """Expected time until one more task of unit work ends, s."""
        rate = self.rate(worker)
        return (length + 1) / rate if rate > 0.0 else math.inf

    @property
    def rates(self) -> list[float]:
        return [self.rate(worker) for worker in range(self.n)]


class EpsGreedy(Bandit):
    def choose(self, lengths: list[int]) -> int:
        turn = self.in_turn()
        if ((self.stream.draw() >> 11) + 1) / 2**53 <= self.curiosity:
            return turn[0]
        return min(turn, key=lambda worker: (lengths[worker] + 1) / self.rate(worker))


class Jiq(Plain):
    def choose(self, lengths: list[int]) -> int:
        idle = [worker for worker in self.here if lengths[worker] == 0] or self.here
        return idle[below(self.stream.draw(), len(idle))]


class FastestIdle(Bandit):
    def choose(self, lengths: list[int]) -> int:
        turn = self.in_turn()
        return max((worker for worker in turn if lengths[worker] == 0), key=self.rate, default=turn[0])


class Ll(Bandit):
    def __init__(self, workers: int, word: int, probes: int, memory: float) -> None:
        super().__init__(workers, word, 0.0, memory)
        self.probes = probes

    def choose(self, lengths: list[int]) -> int:
        drawn = [self.any_worker() for _ in range(self.probes)]
        return min(drawn, key=lambda worker: self.delay(worker, lengths[worker]))


class WeightedLeastRequest(Bandit):
    def __init__(self, workers: int, word: int, memory: float) -> None:
        super().__init__(workers, word, 0.0, memory)
        self.sent = [0] * workers

    def choose(self, lengths: list[int]) -> int:
        best = min(self.in_turn(), key=lambda worker: self.delay(worker, self.sent[worker]))
        self.sent[best] += 1
        return best

    def completed(self, worker: int, work: float, seconds: float) -> None:
        super().completed(worker, work, seconds)
        self.sent[worker] = max(0, self.sent[worker] - 1)

    def left(self, worker: int) -> None:
        super().left(worker)
        self.sent[worker] = 0


class PeakEwma(Plain):
    """Averages of latencies, and when each was last updated."""

    def __init__(self, workers: int, word: int, decay: float) -> None:
        super().__init__(workers, word)
        self.decay, self.now = decay, 0.0
        self.sent, self.average = [0] * workers, [0.0] * workers
        self.since = [0.0] * workers

    def arrived(self, now: float) -> None:
        super().arrived(now)
        self.now = max(self.now, now)

    def decayed(self, worker: int) -> float:
        return self.average[worker] * math.exp(-(self.now - self.since[worker]) / self.decay)

    def load(self, worker: int) -> float:
        if self.average[worker] == 0.0 and self.sent[worker]:
            return math.inf
        return self.decayed(worker) * (self.sent[worker] + 1)

    def choose(self, lengths: list[int]) -> int:
        chosen = self.any_worker()
        if len(self.here) > 1:
            others = [worker for worker in self.here if worker != chosen]
            other = others[below(self.stream.draw(), len(others))]
            chosen = other if self.load(other) < self.load(chosen) else chosen
        self.sent[chosen] += 1
        return chosen

    def completed(self, worker: int, work: float, seconds: float) -> None:
        self.sent[worker] = max(self.sent[worker] - 1, 0)
        before = self.decayed(worker)
        left = math.exp(-(self.now - self.since[worker]) / self.decay)
        self.average[worker] = seconds if seconds > before else before + seconds * (1.0 - left)
        self.since[worker] = self.now

    def left(self, worker: int) -> None:
        super().left(worker)
        self.sent[worker] = 0

    def joined(self, worker: int) -> None:
        super().joined(worker)
        self.average[worker] = 0.0


class Prequal(Bandit):
    """A pool of probes, each a list of worker, tasks in flight, uses and time (ns)."""

    def __init__(self, workers: int, word: int, probes: int, uses: int, hot: float, age: float) -> None:
        super().__init__(workers, word, 0.0, 4.0)
        self.probes, self.uses, self.hot, self.age = probes, uses, hot, age
        self.pool: list[list[int]] = []
        self.recent: list[int] = []
        self.now, self.oldest_next = 0.0, False

    def arrived(self, now: float) -> None:
        super().arrived(now)
        self.now = max(self.now, now)

    def drop(self, place: int) -> None:
        self.pool[place] = self.pool[-1]
        self.pool.pop()

    def drop_where(self, gone) -> None:
        place = 0
        while place < len(self.pool):
            if gone(self.pool[place]):
                self.drop(place)
            else:
                place += 1

    def choose(self, lengths: list[int]) -> int:
        now = int(self.now * 1e9)
        self.drop_where(lambda probe: probe[0] not in self.here or now - probe[3] > self.age * 1e9)
        chosen = self.any_worker() if len(self.pool) < 2 else self.from_pool()
        for _ in range(self.probes):
            worker = self.any_worker()
            self.recent = [*self.recent, min(lengths[worker], 63)][-128:]
            probe = [worker, lengths[worker], 0, now]
            same = [place for place, each in enumerate(self.pool) if each[0] == worker]
            if same:
                self.pool[same[0]] = probe
            elif len(self.pool) == 16:
                self.pool[self.oldest()] = probe
            else:
                self.pool.append(probe)
        return chosen

    def oldest(self) -> int:
        return min(range(len(self.pool)), key=lambda place: self.pool[place][3])

    def from_pool(self) -> int:
        ordered = sorted(self.recent)
        limit = ordered[max(math.ceil(self.hot * len(ordered)), 1) - 1]

        def rank(place: int) -> tuple[bool, float]:
            worker, flight, *_ = self.pool[place]
            return (True, flight) if flight > limit else (False, self.delay(worker, flight))

        best = min(range(len(self.pool)), key=rank)
        probe = self.pool[best]
        probe[1] += 1
        probe[2] += 1
        if probe[2] >= self.uses:
            self.drop(best)
        self.oldest_next = not self.oldest_next
        self.drop(self.oldest() if self.oldest_next else max(range(len(self.pool)), key=rank))
        return probe[0]


class Ucb(Bandit):
    def choose(self, lengths: list[int]) -> int:
        doubt = self.curiosity * math.sqrt(math.log(max(self.arrivals, 2)))

        def delay(worker: int) -> float:
            count = max(self.faded(worker)[2], 1.0)
            return (lengths[worker] + 1) / (self.rate(worker) * (1.0 + doubt / math.sqrt(count)))

        return min(self.in_turn(), key=delay)
