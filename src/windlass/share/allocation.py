"""A job that waits, one that runs on what it was given, and who shares that with it.

All shares and utilisations are in percent, as operators and cgroups have them; quotas are whole percents. A number that
nobody has measured is NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from windlass.model.values import number, whole


@dataclass(frozen=True, slots=True)
class Candidate:
    """A job that waits, or that has been taken in.

    Parameters
    ----------
    job
        Its number.
    job_class
        What jobs that are alike have in common, such as the name of their program.
    cores
        How many it needs, all at once.
    memory
        How many bytes it asks for.
    request
        How long it asks to run, s.
    cpu
        Percent of its cores' time that jobs of its class used when they ran alone; NaN where none has been measured.
    restarts
        Whether it may be put back in the queue after it has begun, to begin again.

    Raises
    ------
    InputError
        A number is out of bounds.

    Examples
    --------
    >>> Candidate(job=7, job_class="blast", cores=8, memory=4e9, request=3600.0).cores
    8
    """

    job: int
    job_class: str
    cores: int
    memory: float
    request: float
    cpu: float = math.nan
    restarts: bool = False

    def __post_init__(self) -> None:
        where = f"job {self.job}: "
        whole(f"{where}cores", self.cores, 1)
        number(f"{where}memory", self.memory, 0.0)
        number(f"{where}request", self.request, 0.0)
        _known(f"{where}cpu", self.cpu, 100.0)


@dataclass(frozen=True, slots=True)
class Guest:
    """The job that shares an allocation with the one it belongs to.

    Parameters
    ----------
    job
        Who it is.
    quota
        Percent of the time of its cores that it has; 0 for one that is stopped and holds memory only.
    progress
        How fast it was since the last checkpoint, percent of its speed alone; NaN where unknown.
    note
        What the policy left with the pair when it decided the quota.
    elapsed
        How much of its walltime it has used, s: about what would be lost if it had to begin again.
    """

    job: Candidate
    quota: int
    progress: float = math.nan
    note: tuple[float, ...] = ()
    elapsed: float = 0.0

    def __post_init__(self) -> None:
        where = f"job {self.job.job}: "
        number(f"{where}quota", whole(f"{where}quota", self.quota, 0), 0.0, 100.0)
        _known(f"{where}progress", self.progress, math.inf)
        number(f"{where}elapsed", self.elapsed, 0.0)


@dataclass(frozen=True, slots=True)
class Allocation:
    """A running job, and what it was given: who could take somebody in.

    Parameters
    ----------
    job, job_class, cores
        As of a :class:`Candidate`; the cores are all that the allocation has.
    memory
        Bytes that the allocation has.
    walltime
        After so many seconds the system kills the job.
    elapsed
        How long it has run, s.
    cpu
        Percent of its cores' time that it used when last it had them to itself.
    memory_used
        Percent of ``memory`` that it has used at most so far; a peak, as what is given away does not come back.
    parallel
        Whether its present stage uses all cores or one; None where unknown.
    tasks_done, tasks_left, rate
        Tasks of the job that have ended and that have not, and tasks/s since the last checkpoint.
    rate_alone
        Tasks/s that it had by itself, before anybody was taken in.
    waited
        Percent of the time since the last checkpoint in which its processes could run and had no core, without
        the time in which they were throttled.
    guest
        Who shares it, or None.
    ends
        By when its cores are expected back, on the engine's clock, s; NaN where that is at its walltime. One that was
        a guest may be promised to be gone before.

    Raises
    ------
    InputError
        A number is out of bounds.

    Examples
    --------
    >>> host = Allocation(job=1, job_class="montage", cores=16, memory=64e9, walltime=7200.0, elapsed=1800.0,
    ...     cpu=45.0, memory_used=10.0)
    >>> host.guest is None, host.memory_free
    (True, 57600000000.0)
    """

    job: int
    job_class: str
    cores: int
    memory: float
    walltime: float
    elapsed: float
    cpu: float
    memory_used: float
    parallel: bool | None = None
    tasks_done: float = math.nan
    tasks_left: float = math.nan
    rate: float = math.nan
    rate_alone: float = math.nan
    waited: float = math.nan
    guest: Guest | None = None
    ends: float = math.nan

    def __post_init__(self) -> None:
        where = f"job {self.job}: "
        whole(f"{where}cores", self.cores, 1)
        number(f"{where}memory", self.memory, 0.0)
        number(f"{where}walltime", self.walltime, 0.0, open_below=True)
        number(f"{where}elapsed", self.elapsed, 0.0)
        number(f"{where}cpu", self.cpu, 0.0, 100.0)
        number(f"{where}memory_used", self.memory_used, 0.0, 100.0)
        for name in ("tasks_done", "tasks_left", "rate", "rate_alone"):
            _known(f"{where}{name}", getattr(self, name), math.inf)
        _known(f"{where}waited", self.waited, 100.0)
        if not math.isnan(self.ends):
            number(f"{where}ends", self.ends, -math.inf)

    @property
    def memory_free(self) -> float:
        """Bytes that neither the job nor its guest has."""
        held = 0.0 if self.guest is None else self.guest.job.memory
        return self.memory * (100.0 - self.memory_used) / 100.0 - held

    def fits(self, candidate: Candidate) -> bool:
        """Whether it can take this job in: nobody else is there, and it has all cores and all memory for it.

        >>> host = Allocation(1, "montage", 4, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0)
        >>> host.fits(Candidate(2, "blast", 4, 4e9, 60.0)), host.fits(Candidate(3, "blast", 5, 4e9, 60.0))
        (True, False)
        """
        return self.guest is None and candidate.cores <= self.cores and candidate.memory <= self.memory_free


def _known(name: str, value: float, most: float) -> None:
    """Refuse a number that is out of bounds; NaN stands for one that nobody knows."""
    if not math.isnan(value):
        number(name, value, 0.0, most)
