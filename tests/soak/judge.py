"""Whether hours of driving went well: pure functions of what was recorded."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tests.soak.samples import Sample

#: The first minutes of a process fill caches, s.
WARM_UP = 300.0
#: A process with less time after that is not judged, s.
SHORTEST = 900.0
#: Largest growth that counts as flat, from the first third to the last, as a share.
TOLERANCE = 0.1
#: Of latencies, a growth below this is not told from noise, s.
LEAST_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Growth:
    """Medians of a quantity in the first and the last third of a process's life."""

    what: str
    process: int
    first: float
    last: float
    least: float = 0.0

    @property
    def flat(self) -> bool:
        """Whether the last third is not above the first, within the tolerance."""
        return self.last - self.first <= max(TOLERANCE * self.first, self.least)


def growths(samples: Sequence[Sample]) -> list[Growth]:
    """Return the growth of memory, of polls and of the lag of decisions, for each process that lived long enough."""
    quantities: tuple[tuple[str, Callable[[Sample], float], float], ...] = (
        ("memory, bytes", lambda each: float(each.memory), 0.0),
        ("poll, s", lambda each: each.poll, LEAST_SECONDS),
        ("lag, s", lambda each: each.lag, LEAST_SECONDS),
    )
    found = []
    for process in sorted({each.process for each in samples}):
        mine = [each for each in samples if each.process == process]
        mine = [each for each in mine if each.at >= mine[0].at + WARM_UP]
        if not mine or mine[-1].at - mine[0].at < SHORTEST:
            continue
        third = len(mine) // 3
        for what, value, least in quantities:
            first, last = (_median(map(value, part)) for part in (mine[:third], mine[-third:]))
            found.append(Growth(what, process, first, last, least))
    return found


def _median(found: Iterable[float]) -> float:
    """Return the median of what is known: the lag is unknown until the first decision."""
    return statistics.median(each for each in found if not math.isnan(each))


def violations(lines: Iterable[str], submitted: Iterable[int], cancelled: Iterable[int]) -> list[str]:
    """Return what is wrong with the runs of jobs, by the lines that the jobs themselves wrote.

    Parameters
    ----------
    lines
        ``begin JOB RESTARTS`` and ``end JOB RESTARTS``.
    submitted
        All jobs.
    cancelled
        Jobs that were cancelled, which may have run in part or not at all.

    Examples
    --------
    >>> violations(["begin 1 0", "begin 1 1", "end 1 1"], [1, 2], [])
    ['job 2 did not run']
    """
    begun: Counter[tuple[int, int]] = Counter()
    ended: Counter[int] = Counter()
    for line in lines:
        word, job, restarts = line.split()
        if word == "begin":
            begun[int(job), int(restarts)] += 1
        else:
            ended[int(job)] += 1
    dropped, known = set(cancelled), set(submitted)
    found = [
        f"job {job} began {times} times as start {start}"
        for (job, start), times in begun.items()
        if times > 1
    ]
    found += [f"job {job} ended {times} times" for job, times in ended.items() if times > 1]
    found += [f"job {job} ran and was not submitted" for job in sorted({job for job, _ in begun} - known)]
    return found + [f"job {job} did not run" for job in sorted(known - dropped - set(ended))]
