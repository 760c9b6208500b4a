"""Jobs of tasks that are fixed to sites: what the world of many sites runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.model.errors import InputError


@dataclass(frozen=True, slots=True, eq=False)
class GeoWorkload:
    """J jobs in order of arrival, their S sub-jobs and T tasks, and the sites.

    Parameters
    ----------
    submit
        (J,) float64, s, not decreasing.
    first
        (J + 1,) int64: job j's sub-jobs are ``first[j]`` up to ``first[j + 1]``.
    site
        (S,) int64, where each sub-job's tasks are; a job has at most one sub-job a site.
    task0
        (S + 1,) int64: sub-job s's tasks are ``task0[s]`` up to ``task0[s + 1]``.
    duration
        (T,) float64, what each task takes, s; in a sub-job, in the order in which they are started.
    slots
        (m,) int64, how many tasks each site runs at once.
    error
        (J,) float64, the factor by which a job's expected seconds are off.
    notes
        What the user should know, one line each.

    Raises
    ------
    InputError
        A value is not allowed; names it.
    """

    submit: NDArray[np.float64]
    first: NDArray[np.int64]
    site: NDArray[np.int64]
    task0: NDArray[np.int64]
    duration: NDArray[np.float64]
    slots: NDArray[np.int64]
    error: NDArray[np.float64]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not len(self.submit):
            raise InputError("workload: no jobs, expected at least one")
        if not len(self.slots):
            raise InputError("slots: no sites, expected at least one")
        _check("submit", self.submit, np.isfinite(self.submit), "a finite time")
        back = np.flatnonzero(np.diff(self.submit) < 0)
        if len(back):
            raise InputError(f"submit[{back[0] + 1}] is before submit[{back[0]}]: sort jobs by arrival")
        known = np.isfinite(self.duration) & (self.duration >= 0)
        _check("duration", self.duration, known, "a time of 0 s or more")
        _check("slots", self.slots, self.slots >= 0, "0 or more")
        _check("site", self.site, (self.site >= 0) & (self.site < len(self.slots)), "a site's number")
        closed = np.flatnonzero(self.slots[self.site] == 0)
        if len(closed):
            site = int(self.site[closed[0]])
            raise InputError(f"slots[{site}] is 0, but the site has tasks: expected a slot or more")

    @property
    def jobs(self) -> int:
        """J, the number of jobs."""
        return len(self.submit)

    @property
    def job_tasks(self) -> NDArray[np.int64]:
        """(J,) tasks of each job."""
        return self.task0[self.first[1:]] - self.task0[self.first[:-1]]


def _check(name: str, values: NDArray[np.generic], allowed: NDArray[np.bool_], expected: str) -> None:
    if not allowed.all():
        row = int(np.argmin(allowed))
        raise InputError(f"{name}[{row}] is {values[row]}, expected {expected}")


def workload_of(
    submit: ArrayLike,
    subjobs: ArrayLike,
    duration: ArrayLike,
    slots: ArrayLike,
    *,
    expected: ArrayLike | None = None,
    error: ArrayLike | None = None,
    notes: tuple[str, ...] = (),
) -> GeoWorkload:
    """A workload from a table of jobs and sites.

    Parameters
    ----------
    submit
        (J,) s, not decreasing.
    subjobs
        (J, m) whole numbers of tasks of each job at each site.
    duration
        (T,) s, of all tasks: by job, then site.
    slots
        (m,) slots of each site.
    expected
        (T,) what each task is expected to take, s: the longest of a sub-job starts first. By default what it takes.
    error
        (J,) the factor by which a job's expected seconds are off; by default 1.
    notes
        What the user should know.

    Raises
    ------
    InputError
        A value or shape is not allowed.

    Examples
    --------
    >>> work = workload_of([0, 1], [[2, 0], [1, 1]], [1.0, 3.0, 5.0, 7.0], [1, 1])
    >>> work.first.tolist(), work.site.tolist(), work.duration.tolist()
    ([0, 1, 3], [0, 0, 1], [3.0, 1.0, 5.0, 7.0])
    """
    table = np.asarray(subjobs)
    arrivals = np.ascontiguousarray(submit, dtype=np.float64)
    capacity = np.ascontiguousarray(slots, dtype=np.int64)
    if table.ndim != 2 or table.shape != (len(arrivals), len(capacity)):
        raise InputError(f"subjobs has shape {table.shape}, expected ({len(arrivals)}, {len(capacity)})")
    if table.dtype.kind not in "iu":
        raise InputError(f"subjobs holds {table.dtype}, expected whole numbers of tasks")
    if (table < 0).any():
        job, site = np.argwhere(table < 0)[0]
        raise InputError(f"subjobs[{job}, {site}] is {table[job, site]}, expected 0 tasks or more")
    empty = np.flatnonzero(table.sum(axis=1) == 0)
    if len(empty):
        raise InputError(f"subjobs[{empty[0]}] is all 0, expected a job of at least one task")
    job, site = np.nonzero(table)
    return sparse_workload(
        arrivals,
        job,
        site,
        table[job, site],
        duration,
        capacity,
        expected=expected,
        error=error,
        notes=notes,
    )


def sparse_workload(
    submit: NDArray[np.float64],
    job: NDArray[np.int64],
    site: NDArray[np.int64],
    tasks: NDArray[np.int64],
    duration: ArrayLike,
    slots: NDArray[np.int64],
    *,
    expected: ArrayLike | None = None,
    error: ArrayLike | None = None,
    notes: tuple[str, ...] = (),
) -> GeoWorkload:
    """The same from the sub-jobs alone, (S,) columns by job: job, site, tasks of at least 1."""
    task0 = np.concatenate(([0], np.cumsum(tasks, dtype=np.int64)))
    seconds = np.ascontiguousarray(duration, dtype=np.float64)
    guessed = seconds if expected is None else np.ascontiguousarray(expected, dtype=np.float64)
    for name, column in (("duration", seconds), ("expected", guessed)):
        if column.shape != (task0[-1],):
            raise InputError(f"{name} has shape {column.shape}, expected ({task0[-1]},), one per task")
    owner = np.repeat(np.arange(len(tasks)), tasks)
    return GeoWorkload(
        submit=np.array(submit, dtype=np.float64),
        first=np.searchsorted(job, np.arange(len(submit) + 1)).astype(np.int64),
        site=np.array(site, dtype=np.int64),
        task0=task0,
        duration=seconds[np.lexsort((-guessed, owner))],
        slots=slots,
        error=np.ones(len(submit)) if error is None else np.ascontiguousarray(error, dtype=np.float64),
        notes=notes,
    )
