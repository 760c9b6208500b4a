"""Tables of jobs whose stages run tasks across sites, stored as columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from windlass.model.errors import InputError

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class StageSpec:
    """One stage of a job.

    Parameters
    ----------
    task_s
        Mean computing time of its tasks, s.
    here
        (n,) number of tasks whose input lies at each site; empty for a shuffle.
    task_bytes
        Input of a task, bytes; unused for a shuffle, whose input follows from its parents.
    tasks
        Number of tasks of a shuffle.
    ratio
        Bytes written per byte read.
    parents
        Positions of the earlier stages of the job whose whole output a shuffle reads.
    estimate_s
        Value of ``task_s`` that policies see; None for the true one.
    """

    task_s: float
    here: tuple[int, ...] = ()
    task_bytes: float = 0.0
    tasks: int = 0
    ratio: float = 1.0
    parents: tuple[int, ...] = ()
    estimate_s: float | None = None


@dataclass(frozen=True, slots=True)
class FleetJobs:
    """J jobs with K stages (in the order of jobs) and T tasks (in the order of stages).

    A stage reads either input that lies at sites or, as a *shuffle*, everything that its parent stages wrote. A stage
    that reads input has one *part* for each site that holds some of it, its sub-job there. A shuffle has a single part,
    at no site (-1). Stages that read input do not share parts. P is the number of parts, E that of parent-child pairs.

    =================  ========  ===============================================================================
    ``submit``         (J,)      time of submission, s, not decreasing
    ``job``            (K,)      the job of the stage
    ``tasks``          (K,)      number of tasks
    ``first``          (K + 1,)  index of its first task
    ``shuffles``       (K,)      1 for a shuffle, whose tasks read from all sites, else 0
    ``task_s``         (K,)      mean computing time of its tasks, s
    ``estimate_s``     (K,)      the estimate of ``task_s`` that policies see, s
    ``ratio``          (K,)      bytes written per byte read
    ``task_bytes``     (K,)      input of a task; 0 for a shuffle, where it follows from the parents
    ``parents``        (K,)      number of stages that a shuffle reads from
    ``child_at``       (K + 1,)  index of its first child stage in ``children``
    ``children``       (E,)      the stages that read its output
    ``part0``          (K + 1,)  index of its first part
    ``site``           (P,)      site of a part's input, or -1
    ``task0``          (P + 1,)  index of a part's first task
    ``duration``       (T,)      computing time of a task, s
    ``size``           (T,)      input of a shuffle's task, divided by the mean of its stage
    ``error``          (J,)      factor by which estimates of a job's task durations are wrong
    ``homes``                    True: the tasks of each part start in their order, and each belongs to the site of
                                 its part. False: the tasks of a stage start in their order, at any site
    =================  ========  ===============================================================================

    Raises
    ------
    InputError
        A value is not allowed; names it.

    Examples
    --------
    >>> stages = [StageSpec(2.0, here=(3, 1), task_bytes=1e8), StageSpec(1.0, tasks=2, parents=(0,))]
    >>> jobs = FleetJobs.of([0.0], [stages])
    >>> jobs.tasks.tolist(), jobs.children.tolist(), jobs.here(2).tolist()
    ([4, 2], [1], [[3, 1], [0, 0]])
    """

    submit: _Floats
    job: _Ints
    tasks: _Ints
    first: _Ints
    shuffles: _Ints
    task_s: _Floats
    estimate_s: _Floats
    ratio: _Floats
    task_bytes: _Floats
    parents: _Ints
    child_at: _Ints
    children: _Ints
    part0: _Ints
    site: _Ints
    task0: _Ints
    duration: _Floats
    size: _Floats
    error: _Floats
    homes: bool = False
    notes: tuple[str, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not len(self.submit):
            raise InputError("workload: no jobs, expected at least one")
        check_column("submit", self.submit, np.isfinite(self.submit), "a finite time")
        back = np.flatnonzero(np.diff(self.submit) < 0)
        if len(back):
            raise InputError(
                f"submit[{back[0] + 1}] is before submit[{back[0]}]: sort jobs by time of submission"
            )
        known = np.isfinite(self.duration) & (self.duration >= 0)
        check_column("duration", self.duration, known, "a time of 0 s or more")

    @classmethod
    def of(
        cls,
        submit: Sequence[float],
        jobs: Sequence[Sequence[StageSpec]],
        factor: _Floats | None = None,
        size: _Floats | None = None,
        notes: tuple[str, ...] = (),
    ) -> FleetJobs:
        """Build from the stages of each job.

        Parameters
        ----------
        submit
            (J,) time of submission, s, not decreasing.
        jobs
            Stages of each job.
        factor, size
            (T,) computing time and input of each task, divided by the mean of its stage; by default 1. The computing
            time is also proportional to the input: its mean is multiplied by ``factor`` and by ``size``.
        notes
            Notes for the user, one line each.

        Raises
        ------
        InputError
            A value is not allowed; names job, stage and field.
        """
        if len(submit) != len(jobs) or not jobs:
            raise InputError(
                f"submit has {len(submit)} times for {len(jobs)} jobs, expected one per job and at least one job"
            )
        if not np.isfinite(submit).all() or (np.diff(submit) < 0).any():
            raise InputError("submit: expected finite times in ascending order")
        width = max((len(stage.here) for job in jobs for stage in job), default=0)
        rows: list[StageSpec] = []
        owner: list[int] = []
        edges: list[tuple[int, int]] = []
        for number, job in enumerate(jobs):
            base = len(rows)
            if not job:
                raise InputError(f"job {number + 1} has no stages, expected at least one")
            for place, stage in enumerate(job):
                _check(stage, f"job {number + 1}, stage {place + 1}", place, width)
                edges += [(base + parent, base + place) for parent in stage.parents]
                rows.append(stage)
                owner.append(number)
        parts = [_parts(stage) for stage in rows]
        counts = np.array([count for part in parts for _, count in part], dtype=np.int64)
        tasks = np.array([sum(count for _, count in part) for part in parts], dtype=np.int64)
        first = np.concatenate([[0], np.cumsum(tasks)])
        edges.sort()
        heads = np.array([head for head, _ in edges], dtype=np.int64)
        tails = np.array([tail for _, tail in edges], dtype=np.int64)
        means = np.array([stage.task_s for stage in rows])
        estimates = [stage.task_s if stage.estimate_s is None else stage.estimate_s for stage in rows]
        own_factor = np.ones(first[-1]) if factor is None else factor
        own_size = np.ones(first[-1]) if size is None else size
        return cls(
            submit=np.array(submit, dtype=np.float64),
            job=np.array(owner, dtype=np.int64),
            tasks=tasks,
            first=first.astype(np.int64),
            shuffles=np.array([not stage.here for stage in rows], dtype=np.int64),
            task_s=means,
            estimate_s=np.array(estimates, dtype=np.float64),
            ratio=np.array([stage.ratio for stage in rows], dtype=np.float64),
            task_bytes=np.array([stage.task_bytes for stage in rows], dtype=np.float64),
            parents=np.bincount(tails, minlength=len(rows)).astype(np.int64),
            child_at=np.searchsorted(heads, np.arange(len(rows) + 1)).astype(np.int64),
            children=tails,
            part0=np.cumsum([0, *(len(part) for part in parts)]).astype(np.int64),
            site=np.array([site for part in parts for site, _ in part], dtype=np.int64),
            task0=np.concatenate(([0], np.cumsum(counts))).astype(np.int64),
            duration=np.repeat(means, tasks) * own_factor * own_size,
            size=own_size,
            error=np.ones(len(submit)),
            notes=notes,
        )

    def __len__(self) -> int:
        return len(self.submit)

    @property
    def stage(self) -> _Ints:
        """(T,) the stage of each task."""
        return np.repeat(np.arange(len(self.tasks)), self.tasks)

    @property
    def home(self) -> _Ints:
        """(T,) site of the input of each task, part by part; -1 for tasks of shuffles."""
        return np.repeat(self.site, np.diff(self.task0))

    @property
    def job_tasks(self) -> _Ints:
        """(J,) number of tasks of each job."""
        return np.bincount(self.job, self.tasks, len(self)).astype(np.int64)

    @property
    def stage0(self) -> _Ints:
        """(J + 1,) index of each job's first stage."""
        return np.searchsorted(self.job, np.arange(len(self) + 1)).astype(np.int64)

    def here(self, sites: int) -> _Ints:
        """Return (K, n) the number of tasks of each stage whose input lies at each of n sites."""
        table = np.zeros((len(self.tasks), sites), np.int64)
        stage = np.repeat(np.arange(len(self.tasks)), np.diff(self.part0))
        local = self.site >= 0
        table[stage[local], self.site[local]] = np.diff(self.task0)[local]
        return table


def _parts(stage: StageSpec) -> list[tuple[int, int]]:
    if not stage.here:
        return [(-1, stage.tasks)]
    return [(site, count) for site, count in enumerate(stage.here) if count]


def check_column(name: str, values: NDArray[np.generic], allowed: NDArray[np.bool_], expected: str) -> None:
    """Raise an error for the first value of a column that is not allowed.

    Raises
    ------
    InputError
        Names column, row, value, and what was expected.
    """
    if not allowed.all():
        row = int(np.argmin(allowed))
        raise InputError(f"{name}[{row}] is {values[row]}, expected {expected}")


def _check(stage: StageSpec, what: str, place: int, width: int) -> None:
    for name in ("task_s", "task_bytes", "ratio"):
        value = getattr(stage, name)
        if not 0.0 <= value < np.inf:
            raise InputError(f"{what}: {name} is {value}, expected a finite number of 0 or more")
    if stage.here and len(stage.here) != width:
        raise InputError(f"{what}: here has {len(stage.here)} sites, expected {width}")
    if any(count < 0 for count in stage.here):
        raise InputError(f"{what}: here is {stage.here}, expected 0 or more tasks a site")
    if sum(stage.here) + stage.tasks < 1:
        raise InputError(f"{what} has no tasks, expected at least one")
    if bool(stage.here) == bool(stage.parents):
        raise InputError(f"{what}: expected either input ('here') or parents")
    if any(not 0 <= parent < place for parent in stage.parents):
        raise InputError(f"{what}: parents are {stage.parents}, expected earlier stages of the job")
