"""Tables of rigid parallel jobs, stored as columns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.model.errors import InputError

#: Largest time, s: longer than any log, and small enough that sums of times stay exact to the second.
_LONGEST = 1e15


@dataclass(frozen=True, slots=True)
class JobTable:
    """Rigid parallel jobs, one row each, in order of submission.

    Parameters
    ----------
    job
        (n,) int64, job number in the log; distinct.
    submit
        (n,) float64, time of submission, s; not decreasing.
    run
        (n,) float64, run time without a limit, s; not negative.
    procs
        (n,) int64, processors that the job holds from start to end; at least 1.
    request
        (n,) float64, requested run time (walltime), s; not negative.

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
        """Build a table from anything array-like; ``request`` defaults to ``run``, ``job`` to 1, 2, …"""
        submits = _column("submit", submit, np.float64)
        runs = _column("run", run, np.float64)
        return cls(
            job=np.arange(1, len(submits) + 1) if job is None else _column("job", job, np.int64),
            submit=submits,
            run=runs,
            procs=_column("procs", procs, np.int64),
            request=runs.copy() if request is None else _column("request", request, np.float64),
        )

    def __post_init__(self) -> None:
        for field in fields(self):
            kind = np.int64 if field.name in ("job", "procs") else np.float64
            object.__setattr__(self, field.name, _column(field.name, getattr(self, field.name), kind))
        lengths = [f"{field.name} {len(getattr(self, field.name))}" for field in fields(self)]
        if len({len(getattr(self, field.name)) for field in fields(self)}) > 1:
            raise InputError(f"jobs: columns of different lengths: {', '.join(lengths)}")
        for name, allowed, wanted in (
            ("submit", np.abs(self.submit) <= _LONGEST, "a time of at most 1e15 s"),
            ("run", (self.run >= 0) & (self.run <= _LONGEST), "a time of 0 to 1e15 s"),
            ("procs", self.procs >= 1, "at least 1"),
            ("request", (self.request >= 0) & (self.request <= _LONGEST), "a time of 0 to 1e15 s"),
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
        # Most logs are numbered in order, and a search for repeated numbers takes longer than all other checks.
        if (np.diff(self.job) <= 0).any() and len(np.unique(self.job)) != len(self.job):
            values, counts = np.unique(self.job, return_counts=True)
            raise InputError(f"jobs: job number {values[counts > 1][0]} appears more than once")

    def __len__(self) -> int:
        return len(self.job)

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> JobTable:
        """Return a table of the selected rows, given as a mask or as row numbers in order."""
        return JobTable(
            self.job[rows], self.submit[rows], self.run[rows], self.procs[rows], self.request[rows]
        )


def _column(name: str, values: object, kind: type[np.int64] | type[np.float64]) -> NDArray[Any]:
    """Return a contiguous, writable column; raise an error if an integer column holds fractions."""
    try:
        found = np.asarray(values, dtype=np.float64) if kind is np.float64 else np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"jobs: column {name} is not numbers: {error}") from error
    if found.ndim != 1:
        raise InputError(f"jobs: column {name} has shape {found.shape}, expected one dimension")
    if kind is np.int64 and found.dtype.kind not in "iu" and len(found):
        if found.dtype.kind not in "fb":
            raise InputError(f"jobs: column {name} holds {found.dtype}, expected whole numbers")
        whole = np.isfinite(found) & (found == np.floor(found)) & (np.abs(found) < 2**53)
        if not whole.all():
            row = int(np.argmin(whole))
            raise InputError(f"jobs: row {row}, {name} is {found[row]}, expected a whole number")
    return np.require(found.astype(kind, copy=False), requirements=["C", "W"])
