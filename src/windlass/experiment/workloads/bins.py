"""Jobs made of counts by time: as many are submitted in each bin, and ask for as many GPUs, as the counts say.

What counts do not say is drawn, and assumed:

- How the GPUs of a bin are spread over its jobs: each job begins with one, and jobs drawn at random are doubled while
  that is not too much; what is left over goes to one of them.
- When a job comes within its bin: at any instant of it alike.
- Jobs start in the order in which they are submitted, as many in a bin as the counts say.
- Which of those that run end: any alike, of those that are not larger than what has to end by then. So the GPUs that
  have ended by the end of a bin are those of the counts, but for less than the smallest job that runs has.
- Those that still run at the end run up to there. Those that ran before the first bin are taken to be submitted with
  it; there are as few as the counts allow.

A run time is from the start to the end that follow; how long a job waits is for the simulator to say. Drawing who ends
makes short jobs rarer than they are: their mean is right, and how many GPUs are in use, but not the spread.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces.bins import Bins
from windlass.model import InputError
from windlass.model.vectors import VectorJobs

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def jobs_of_bins(
    bins: Bins, rng: np.random.Generator, cores_per_gpu: float = 0.0, memory_per_gpu: float = 0.0
) -> VectorJobs:
    """Make jobs of counts.

    Parameters
    ----------
    bins
        The counts.
    rng
        Where chance comes from.
    cores_per_gpu, memory_per_gpu
        What each job asks for besides, for each of its GPUs; memory in bytes.

    Raises
    ------
    InputError
        There are no jobs.

    Examples
    --------
    >>> counts = np.array([2, 1, 0]), np.array([2, 1, 0]), np.array([5, 4, 0]), np.array([0, 5, 4])
    >>> jobs = jobs_of_bins(Bins(600.0, *counts), np.random.default_rng(1))
    >>> len(jobs), float(jobs.resources[:, 0].sum()), bool((jobs.submit + jobs.run).max() <= 1800.0)
    (3, 9.0, True)
    """
    sizes = [_split(int(gpus), int(jobs), rng) for gpus, jobs in zip(bins.asked, bins.submitted, strict=True)]
    before = _before(bins, rng)
    gpus = np.concatenate([before, *sizes])
    if not len(gpus):
        raise InputError("bins: no job is submitted")
    of_bin = np.repeat(np.arange(len(bins.submitted)), bins.submitted)
    at = np.sort((of_bin + rng.random(len(of_bin))) * bins.seconds)
    submit = np.concatenate((np.zeros(len(before)), at))
    start, end = _course(bins, gpus, submit, len(before), rng)
    return VectorJobs.of(submit, end - start, gpus, gpus * cores_per_gpu, gpus * memory_per_gpu)


def _split(gpus: int, jobs: int, rng: np.random.Generator) -> _Ints:
    """Sizes of so many jobs that ask for so many GPUs together."""
    sizes = np.ones(jobs, np.int64)
    left = gpus - jobs
    while left > 0:
        able = np.flatnonzero(sizes <= left)
        if not len(able):
            sizes[rng.integers(jobs)] += left
            break
        chosen = able[rng.integers(len(able))]
        left -= int(sizes[chosen])
        sizes[chosen] *= 2
    return sizes


def _before(bins: Bins, rng: np.random.Generator) -> _Ints:
    """Sizes of jobs that ran before the first bin: so many that there are never more GPUs that end than run."""
    missing = int(max(0, (np.cumsum(bins.ended) - np.cumsum(bins.asked)).max(initial=0)))
    total, jobs = int(bins.asked.sum()), int(bins.submitted.sum())
    count = max(1, round(missing * jobs / max(1, total)))
    return _split(missing, min(count, missing), rng) if missing else np.empty(0, np.int64)


@dataclass(slots=True)
class _Running:
    """Who runs, by size, so that one of at most some size is found at once."""

    of_size: dict[int, list[int]] = field(default_factory=dict)

    def add(self, job: int, size: int) -> None:
        self.of_size.setdefault(size, []).append(job)

    def take(self, most: int, rng: np.random.Generator) -> tuple[int, int] | None:
        """Anyone of at most this size, all alike, and the size."""
        able = [(size, jobs) for size, jobs in self.of_size.items() if size <= most and jobs]
        total = sum(len(jobs) for _, jobs in able)
        if not total:
            return None
        place = int(rng.integers(total))
        for size, jobs in able:
            if place < len(jobs):
                jobs[place], jobs[-1] = jobs[-1], jobs[place]
                return jobs.pop(), size
            place -= len(jobs)
        raise AssertionError("a place beyond the last")


def _course(
    bins: Bins, gpus: _Ints, submit: _Floats, before: int, rng: np.random.Generator
) -> tuple[_Floats, _Floats]:
    """When each job starts and ends."""
    seconds, count = bins.seconds, len(bins.submitted)
    start, end = submit.copy(), np.full(len(gpus), count * seconds)
    running, owed, begun = _Running(), 0, before
    for job in range(before):
        running.add(job, int(gpus[job]))
    come = before + np.cumsum(bins.submitted)
    may = before + np.cumsum(bins.started)
    for number in range(count):
        opens, closes = number * seconds, (number + 1) * seconds
        until = int(min(come[number], may[number]))
        for job in range(begun, until):
            start[job] = max(submit[job], rng.uniform(opens, closes) if submit[job] < opens else 0.0)
            running.add(job, int(gpus[job]))
        begun = max(begun, until)
        owed += int(bins.ended[number])
        while owed > 0 and (found := running.take(owed, rng)) is not None:
            job, size = found
            end[job] = rng.uniform(max(opens, start[job]), closes)
            owed -= size
    # Who never started by the counts starts when it comes.
    return np.minimum(start, end), end
