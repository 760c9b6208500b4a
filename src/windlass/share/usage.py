"""What a job is doing, told from what was read of it at two instants; and what jobs of a class use alone."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reading:
    """What an engine reads of a running job; counters count from its start.

    Parameters
    ----------
    at
        When, on the engine's clock, s.
    cpu
        Seconds of cores that it has used.
    memory
        Bytes that it has used at most so far.
    stage
        The number of its present stage; None where unknown.
    parallel
        Whether this stage uses all cores or one; None where unknown.
    done, left
        Tasks that have ended and that have not; NaN where nobody counts them.
    waited
        Seconds in which it could run and had no core, without those in which it was throttled; NaN where unknown.
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
    """What a job did between two readings.

    Parameters
    ----------
    seconds
        How long that was.
    cpu
        Percent of its cores' time that it used.
    rate
        Tasks/s; NaN where nobody counts them, or where another stage began meanwhile, whose tasks are others.
    waited
        Percent of the time in which it could run and had no core; NaN where unknown.

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
        """Of a job on so many cores; nothing is known of an interval without length."""
        seconds = last.at - first.at
        if seconds <= 0.0:
            return cls(0.0, math.nan, math.nan, math.nan)
        tasks = last.done - first.done if first.stage == last.stage else math.nan
        return cls(
            seconds,
            _percent((last.cpu - first.cpu) / (seconds * cores)),
            # max() would take 0 over a NaN: tasks that nobody counts would read as a standstill.
            tasks if math.isnan(tasks) else max(0.0, tasks) / seconds,
            _percent((last.waited - first.waited) / seconds),
        )


def _percent(part: float) -> float:
    return part if math.isnan(part) else min(100.0, max(0.0, 100.0 * part))


class ClassUse:
    """What jobs of each class used of their cores while they had them for themselves.

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
        """Each class, the seconds that were measured, and those times percent: what another one can begin with."""
        return tuple((name, *total) for name, total in self._totals.items())

    def take(self, job_class: str, seconds: float, cpu: float) -> None:
        """So many seconds at so many percent were measured; NaN is no measurement."""
        if not math.isnan(cpu):
            time, used = self._totals.get(job_class, (0.0, 0.0))
            self._totals[job_class] = time + seconds, used + seconds * cpu

    def cpu(self, job_class: str) -> float:
        """Percent of their cores' time, on average; NaN where none was measured."""
        time, used = self._totals.get(job_class, (0.0, 0.0))
        return min(100.0, used / time) if time > 0.0 else math.nan
