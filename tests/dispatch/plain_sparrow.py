"""A plain version of Sparrow, after its docstring: the reservations of a job of many tasks.

Nothing of the compiled policy is used; its chance, a word of the random stream, is handed in. What comes of a
reservation is the engine's, and in ``naive.py``.
"""

from __future__ import annotations

from plain_rosella import Stream, below


class PlainSparrow:
    """One scheduler: for a job of m tasks, d·m of the present workers, and none twice until all have a reservation."""

    benchmark_at = float("inf")

    def __init__(self, workers: int, word: int, probes: int) -> None:
        self.stream, self.copies = Stream(word), probes
        self.here = list(range(workers))
        self.reserved, self.job_at, self.now = 0, -1.0, 0.0

    def arrived(self, now: float) -> None:
        self.now = max(self.now, now)

    def choose(self, lengths: object) -> int:
        """Choose a worker without a reservation of this job; the first of ``here`` have one."""
        if self.job_at != self.now or self.reserved >= len(self.here):
            self.job_at, self.reserved = self.now, 0
        place = self.reserved + below(self.stream.draw(), len(self.here) - self.reserved)
        here = self.here
        here[place], here[self.reserved] = here[self.reserved], here[place]
        self.reserved += 1
        return here[self.reserved - 1]

    def completed(self, worker: int, work: float, seconds: float) -> None:
        pass

    reported = benchmarked = completed

    def benchmark(self, now: float) -> None:
        return None

    def left(self, worker: int) -> None:
        if worker in self.here:
            self.here[self.here.index(worker)] = self.here[-1]
            self.here.pop()

    def joined(self, worker: int) -> None:
        if worker not in self.here:
            self.here.append(worker)
