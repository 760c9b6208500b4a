"""Waiting jobs, and running jobs with their allocations and guests.

All shares and utilisations are in percent, as in cgroups; quotas are whole percents. NaN marks a number that
was never measured.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from windlass.model.values import number, whole


@dataclass(frozen=True, slots=True)
class Candidate:
    """A waiting job, or one that runs as a guest.

    Parameters
    ----------
    job
        Job number.
    job_class
        Class of similar jobs, for example the name of their program.
    cores
        Number of cores that it needs at the same time.
    memory
        Requested memory, bytes.
    request
        Requested time limit, s.
    cpu
        CPU time that jobs of its class used alone, percent of their cores' time; NaN if never measured.
    restarts
        True if it may be requeued after it started, and restarted.

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
    """The second job on an allocation.

    Parameters
    ----------
    job
        The job.
    quota
        Percent of its cores' time; 0 for a stopped job, which holds memory only.
    progress
        Speed since the last checkpoint, percent of its speed alone; NaN if unknown.
    note
        Numbers that the policy attached when it set the quota.
    elapsed
        Walltime used so far, s, about the time that a restart would lose.
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
    """A running job with its allocation, which may host a guest.

    Parameters
    ----------
    job, job_class, cores
        See :class:`Candidate`; ``cores`` is all cores of the allocation.
    memory
        Memory of the allocation, bytes.
    walltime
        Time limit after which the system kills the job, s.
    elapsed
        Time it has run, s.
    cpu
        CPU time that it used when it last had its cores alone, percent of their time.
    memory_used
        Peak memory so far, percent of ``memory``.
    parallel
        True if its present stage uses all cores, False if it uses one; None if unknown.
    tasks_done, tasks_left, rate
        Finished and remaining tasks of the job, and tasks/s since the last checkpoint.
    rate_alone
        Tasks/s before it had a guest.
    waited
        Percent of the time since the last checkpoint in which its processes were runnable without a core, not
        counting throttled time.
    guest
        The guest, or None.
    ends
        Time by which its cores are expected to be free, on the engine's clock, s; NaN means at its walltime.
        The cores of a former guest may be promised to others earlier.

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
        """Memory that neither the job nor its guest holds, bytes."""
        held = 0.0 if self.guest is None else self.guest.job.memory
        return self.memory * (100.0 - self.memory_used) / 100.0 - held

    def fits(self, candidate: Candidate) -> bool:
        """Return whether the allocation can host this job: it has no guest, and enough cores and memory.

        >>> host = Allocation(1, "montage", 4, 8e9, 60.0, 0.0, cpu=10.0, memory_used=50.0)
        >>> host.fits(Candidate(2, "blast", 4, 4e9, 60.0)), host.fits(Candidate(3, "blast", 5, 4e9, 60.0))
        (True, False)
        """
        return self.guest is None and candidate.cores <= self.cores and candidate.memory <= self.memory_free


def _known(name: str, value: float, most: float) -> None:
    """Raise if a number is out of bounds; NaN means unknown and is allowed."""
    if not math.isnan(value):
        number(name, value, 0.0, most)
