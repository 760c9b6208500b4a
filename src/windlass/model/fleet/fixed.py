"""Construction of jobs with one stage, whose tasks are fixed to sites, from their sub-jobs."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.model.errors import InputError
from windlass.model.fleet.jobs import FleetJobs

_Ints = NDArray[np.int64]


def fixed_jobs(
    submit: ArrayLike,
    job: _Ints,
    site: _Ints,
    tasks: _Ints,
    duration: ArrayLike,
    *,
    expected: ArrayLike | None = None,
    error: ArrayLike | None = None,
    notes: tuple[str, ...] = (),
) -> FleetJobs:
    """Build jobs of one stage from their sub-jobs; tasks are fixed to sites and read their input in no time.

    Parameters
    ----------
    submit
        (J,) time of submission, s, not decreasing.
    job, site, tasks
        (P,) job, site and number of tasks (at least 1) of each sub-job, sorted by job.
    duration
        (T,) duration of each task, s, in the order of sub-jobs.
    expected
        (T,) expected duration of each task, s; by default the true one. In each sub-job, tasks start from the longest
        expected duration to the shortest.
    error
        (J,) the factor by which estimates of a job's task durations are wrong; by default 1.
    notes
        Notes for the user.

    Examples
    --------
    >>> one = np.array([0, 1])
    >>> fixed_jobs([0, 1], one, one, np.array([2, 1]), [1.0, 3.0, 5.0]).duration.tolist()
    [3.0, 1.0, 5.0]
    """
    arrivals = np.array(submit, dtype=np.float64)
    count = len(arrivals)
    task0 = np.concatenate(([0], np.cumsum(tasks, dtype=np.int64)))
    seconds = np.ascontiguousarray(duration, dtype=np.float64)
    guessed = seconds if expected is None else np.ascontiguousarray(expected, dtype=np.float64)
    for name, column in (("duration", seconds), ("expected", guessed)):
        if column.shape != (task0[-1],):
            raise InputError(f"{name} has shape {column.shape}, expected ({task0[-1]},), one per task")
    owner = np.repeat(np.arange(len(tasks)), tasks)
    part0 = np.searchsorted(job, np.arange(count + 1)).astype(np.int64)
    first = task0[part0]
    factor = np.ones(count) if error is None else np.ascontiguousarray(error, dtype=np.float64)
    sums = np.add.reduceat(np.append(seconds, 0.0), np.minimum(first[:-1], len(seconds)))
    mean = sums / np.maximum(np.diff(first), 1)
    none, zeros = np.zeros(count, np.int64), np.zeros(count)
    return FleetJobs(
        submit=arrivals,
        job=np.arange(count),
        tasks=np.diff(first),
        first=first,
        shuffles=none,
        task_s=mean,
        estimate_s=mean * factor,
        ratio=zeros,
        task_bytes=zeros,
        parents=none,
        child_at=np.zeros(count + 1, np.int64),
        children=np.empty(0, np.int64),
        part0=part0,
        site=np.array(site, dtype=np.int64),
        task0=task0,
        duration=seconds[np.lexsort((-guessed, owner))],
        size=np.empty(0),
        error=factor,
        homes=True,
        notes=notes,
    )


def fixed_table(submit: ArrayLike, subjobs: ArrayLike, duration: ArrayLike, **further: object) -> FleetJobs:
    """Build jobs as :func:`fixed_jobs` does, from a table of jobs and sites.

    Parameters
    ----------
    submit
        (J,) time of submission, s, not decreasing.
    subjobs
        (J, n) number of tasks of each job at each site, integers.
    duration
        (T,) duration of each task, s, sorted by job, then site.
    further
        Further arguments of :func:`fixed_jobs`.

    Raises
    ------
    InputError
        A value or shape is not allowed.

    Examples
    --------
    >>> jobs = fixed_table([0, 1], [[2, 0], [1, 1]], [1.0, 3.0, 5.0, 7.0])
    >>> jobs.part0.tolist(), jobs.site.tolist(), jobs.duration.tolist()
    ([0, 1, 3], [0, 0, 1], [3.0, 1.0, 5.0, 7.0])
    """
    counts, arrivals = np.asarray(subjobs), np.asarray(submit)
    if counts.ndim != 2 or len(counts) != len(arrivals):
        raise InputError(f"subjobs has shape {counts.shape}, expected ({len(arrivals)}, sites)")
    if counts.dtype.kind not in "iu":
        raise InputError(f"subjobs holds {counts.dtype}, expected whole numbers of tasks")
    if (counts < 0).any():
        row, column = np.argwhere(counts < 0)[0]
        raise InputError(f"subjobs[{row}, {column}] is {counts[row, column]}, expected 0 tasks or more")
    empty = np.flatnonzero(counts.sum(axis=1) == 0)
    if len(empty):
        raise InputError(f"subjobs[{empty[0]}] is all 0, expected at least one task")
    job, site = np.nonzero(counts)
    return fixed_jobs(arrivals, job, site, counts[job, site], duration, **further)  # type: ignore[arg-type]
