"""Measurements of a job between two readings, and the CPU use of job classes alone."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """Counters that an engine reads of a running job; they count from its start.

    Parameters
    ----------
    at
        Time on the engine's clock, s.
    cpu
        CPU time used, s.
    memory
        Peak memory, bytes.
    stage
        Number of its present stage; None if unknown.
    parallel
        True if this stage uses all cores, False if one; None if unknown.
    done, left
        Finished and remaining tasks; NaN if they are not counted.
    waited
        Time in which it was runnable without a core, not counting throttled time, s; NaN if unknown.
    """

    at: float
    cpu: float
    memory: float
    stage: int | None = None
    parallel: bool | None = None
    done: float = math.nan
    left: float = math.nan
    waited: float = math.nan


@dataclass(frozen=True, slots=True)
class Interval:
    """Activity of a job between two readings.

    Parameters
    ----------
    seconds
        Length of the interval, s.
    cpu
        CPU time used, percent of its cores' time.
    rate
        Tasks/s; NaN if they are not counted, or if another stage with other tasks started in between.
    waited
        Percent of the time in which it was runnable without a core; NaN if unknown.

    Examples
    --------
    >>> first = Reading(at=0.0, cpu=0.0, memory=0.0, stage=1, done=0.0)
    >>> Interval.between(first, Reading(at=10.0, cpu=8.0, memory=0.0, stage=1, done=5.0), cores=2)
    Interval(seconds=10.0, cpu=40.0, rate=0.5, waited=nan)
    """

    seconds: float
    cpu: float
    rate: float
    waited: float

    @classmethod
    def between(cls, first: Reading, last: Reading, cores: int) -> Interval:
        """Compute the activity of a job on ``cores`` cores; NaN if the interval has no length."""
        seconds = last.at - first.at
        if seconds <= 0.0:
            return cls(0.0, math.nan, math.nan, math.nan)
        tasks = last.done - first.done if first.stage == last.stage else math.nan
        return cls(
            seconds,
            _percent((last.cpu - first.cpu) / (seconds * cores)),
            # max(0.0, nan) is 0.0, so uncounted tasks would count as a standstill.
            tasks if math.isnan(tasks) else max(0.0, tasks) / seconds,
            _percent((last.waited - first.waited) / seconds),
        )


def _percent(part: float) -> float:
    return part if math.isnan(part) else min(100.0, max(0.0, 100.0 * part))


#: The most classes of which the use is kept: where each job has a name of its own, they would grow without end.
MOST_CLASSES = 10_000


class ClassUse:
    """Mean CPU use of jobs of each class while they had their cores alone; of the 10,000 measured last.

    Examples
    --------
    >>> use = ClassUse()
    >>> use.cpu("blast")
    nan
    >>> use.take("blast", seconds=10.0, cpu=80.0); use.take("blast", seconds=30.0, cpu=100.0)
    >>> use.cpu("blast")
    95.0
    """

    def __init__(self, totals: Iterable[tuple[str, float, float]] = ()) -> None:
        self._totals = {name: (seconds, used) for name, seconds, used in totals}

    def totals(self) -> tuple[tuple[str, float, float], ...]:
        """Return each class, its measured seconds, and its seconds times percent, to make another instance from."""
        return tuple((name, *total) for name, total in self._totals.items())

    def take(self, job_class: str, seconds: float, cpu: float) -> None:
        """Add a measurement of ``seconds`` at ``cpu`` percent; NaN is ignored."""
        if not math.isnan(cpu):
            time, used = self._totals.pop(job_class, (0.0, 0.0))
            self._totals[job_class] = time + seconds, used + seconds * cpu
            if len(self._totals) > MOST_CLASSES:
                del self._totals[next(iter(self._totals))]

    def cpu(self, job_class: str) -> float:
        """Return the mean CPU use, percent of the cores' time; NaN if never measured."""
        time, used = self._totals.get(job_class, (0.0, 0.0))
        return min(100.0, used / time) if time > 0.0 else math.nan
