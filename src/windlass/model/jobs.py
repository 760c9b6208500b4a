"""Rigid parallel jobs as columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.errors import InputError


@dataclass(frozen=True, slots=True)
class JobTable:
    """Rigid parallel jobs, one row each, in order of submission.

    Parameters
    ----------
    job
        (n,) int64, the identity a log gives each job; distinct.
    submit
        (n,) float64, when it is submitted, s; not decreasing.
    run
        (n,) float64, how long it would run if nobody stopped it, s; not negative.
    procs
        (n,) int64, processors it holds from start to end; at least 1.
    request
        (n,) float64, the run time its user asked for (walltime), s; not negative.

    Raises
    ------
    InputError
        A column is of the wrong length, or a value is not allowed; names column, row and value.

    Examples
    --------
    >>> jobs = JobTable.of(submit=[0, 5], run=[10, 20], procs=[4, 2])
    >>> len(jobs), jobs.request.tolist()
    (2, [10.0, 20.0])
    """

    job: NDArray[np.int64]
    submit: NDArray[np.float64]
    run: NDArray[np.float64]
    procs: NDArray[np.int64]
    request: NDArray[np.float64]

    @classmethod
    def of(
        cls, submit: object, run: object, procs: object, request: object = None, job: object = None
    ) -> JobTable:
        """Build a table from anything array-like; no request means request = run, no job means 1, 2, …"""
        submits = np.ascontiguousarray(submit, dtype=np.float64)
        runs = np.ascontiguousarray(run, dtype=np.float64)
        return cls(
            job=np.arange(1, len(submits) + 1) if job is None else np.ascontiguousarray(job, dtype=np.int64),
            submit=submits,
            run=runs,
            procs=np.ascontiguousarray(procs, dtype=np.int64),
            request=runs.copy() if request is None else np.ascontiguousarray(request, dtype=np.float64),
        )

    def __post_init__(self) -> None:
        for name in ("submit", "run", "procs", "request"):
            if getattr(self, name).shape != self.job.shape:
                found = getattr(self, name).shape
                raise InputError(f"jobs: column {name} has shape {found}, expected {self.job.shape}")
        for name, allowed, wanted in (
            ("submit", np.isfinite(self.submit), "a finite time"),
            ("run", np.isfinite(self.run) & (self.run >= 0), "a time of 0 s or more"),
            ("procs", self.procs >= 1, "at least 1"),
            ("request", np.isfinite(self.request) & (self.request >= 0), "a time of 0 s or more"),
        ):
            if not allowed.all():
                row = int(np.argmin(allowed))
                value = getattr(self, name)[row]
                raise InputError(f"jobs: job {self.job[row]}, {name} is {value}, expected {wanted}")
        back = np.flatnonzero(np.diff(self.submit) < 0)
        if len(back):
            row = int(back[0]) + 1
            raise InputError(
                f"jobs: job {self.job[row]} is submitted at {self.submit[row]:g} s, before the job ahead of it"
                f" ({self.submit[row - 1]:g} s): sort by submit first"
            )
        if len(np.unique(self.job)) != len(self.job):
            values, counts = np.unique(self.job, return_counts=True)
            raise InputError(f"jobs: job number {values[counts > 1][0]} appears more than once")

    def __len__(self) -> int:
        return len(self.job)

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> JobTable:
        """The chosen rows, a mask or row numbers in order."""
        return JobTable(
            self.job[rows], self.submit[rows], self.run[rows], self.procs[rows], self.request[rows]
        )
