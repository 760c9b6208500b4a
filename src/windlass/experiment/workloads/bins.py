"""Jobs generated from counts by time: the submissions and requested GPUs of each bin are those of the counts.

The counts leave some values open, which are drawn or assumed:

- The split of a bin's GPUs among its jobs: each job starts with one, and random jobs are doubled while enough GPUs are
  left; the remainder goes to one of them.
- The time of a submission within its bin: uniform.
- Jobs start in order of submission, as many in a bin as in the counts.
- The jobs that end in a bin: uniformly random among the running jobs that are not larger than the number of GPUs still
  to end. The GPUs that end by the end of a bin thus match the counts, up to fewer than the smallest running job has.
- Jobs that run at the end of the counts end there. Jobs that ran before the first bin are submitted with it; there are
  as few as the counts allow.

A run time is the difference of the resulting start and end; waits are determined by the simulator. Drawing the jobs
that end makes short jobs too rare: the mean run time and the number of used GPUs are right, but not the spread.
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
    """Generate jobs from counts.

    Parameters
    ----------
    bins
        The counts.
    rng
        The random generator.
    cores_per_gpu, memory_per_gpu
        Each job's request of cores and memory, bytes, per GPU.

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
    sizes = [
        _split(int(gpus), int(jobs), rng) for gpus, jobs in zip(bins.requested, bins.submitted, strict=True)
    ]
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
    """Return the sizes of a number of jobs with this total of GPUs."""
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
    """Return the sizes of jobs that ran before the first bin: the fewest GPUs that explain the counted ends."""
    missing = int(max(0, (np.cumsum(bins.ended) - np.cumsum(bins.requested)).max(initial=0)))
    total, jobs = int(bins.requested.sum()), int(bins.submitted.sum())
    count = max(1, round(missing * jobs / max(1, total)))
    return _split(missing, min(count, missing), rng) if missing else np.empty(0, np.int64)


@dataclass(slots=True)
class _RunningJobs:
    """Running jobs by size, so that a job of at most a given size is found quickly."""

    of_size: dict[int, list[int]] = field(default_factory=dict)

    def add(self, job: int, size: int) -> None:
        self.of_size.setdefault(size, []).append(job)

    def take(self, most: int, rng: np.random.Generator) -> tuple[int, int] | None:
        """Remove and return a uniformly random job of at most this size, and its size; None if there is none."""
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
        raise AssertionError("the drawn place is beyond the last job")


def _course(
    bins: Bins, gpus: _Ints, submit: _Floats, before: int, rng: np.random.Generator
) -> tuple[_Floats, _Floats]:
    """Return the start and end of each job."""
    seconds, count = bins.seconds, len(bins.submitted)
    start, end = submit.copy(), np.full(len(gpus), count * seconds)
    running, owed, started = _RunningJobs(), 0, before
    for job in range(before):
        running.add(job, int(gpus[job]))
    come = before + np.cumsum(bins.submitted)
    may = before + np.cumsum(bins.started)
    for number in range(count):
        opens, closes = number * seconds, (number + 1) * seconds
        until = int(min(come[number], may[number]))
        for job in range(started, until):
            start[job] = max(submit[job], rng.uniform(opens, closes) if submit[job] < opens else 0.0)
            running.add(job, int(gpus[job]))
        started = max(started, until)
        owed += int(bins.ended[number])
        while owed > 0 and (found := running.take(owed, rng)) is not None:
            job, size = found
            end[job] = rng.uniform(max(opens, start[job]), closes)
            owed -= size
    # A job that never started by the counts starts when it is submitted.
    return np.minimum(start, end), end
