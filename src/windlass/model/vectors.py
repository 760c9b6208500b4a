"""Tables of jobs that request several resources at once, stored as columns."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from windlass.model.errors import InputError
from windlass.model.instances import RESOURCES

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: Largest time, s: longer than any log, and small enough that sums of times stay exact to the second.
_LONGEST = 1e15
#: Largest request: more than any machine has, and small enough for a 64-bit count of thousandths.
_LARGEST = 1e15


@dataclass(frozen=True, slots=True, eq=False)
class VectorJobs:
    """Jobs, one row each, in order of submission.

    Parameters
    ----------
    job
        (n,) job number in the log; distinct.
    submit
        (n,) time of submission, s; not decreasing.
    run
        (n,) run time, s.
    resources
        (n, 3) requests, in the order of :data:`~windlass.model.instances.RESOURCES`; at least one is above 0.
    walltime
        (n,) maximum run time that the job declares, s; infinity for none.

    Raises
    ------
    InputError
        A column is of the wrong length, or a value is not allowed; names column, job and value.

    Examples
    --------
    >>> jobs = VectorJobs.of(submit=[0, 5], run=[10, 20], gpus=[0, 2], cores=[4, 8])
    >>> len(jobs), jobs.resources.tolist()
    (2, [[0.0, 4.0, 0.0], [2.0, 8.0, 0.0]])
    """

    job: _Ints
    submit: _Floats
    run: _Floats
    resources: _Floats
    walltime: _Floats

    @classmethod
    def of(
        cls,
        submit: object,
        run: object,
        gpus: object = 0.0,
        cores: object = 0.0,
        memory: object = 0.0,
        walltime: object = np.inf,
        job: object = None,
    ) -> VectorJobs:
        """Build a table from anything array-like; one number applies to all jobs, and ``job`` defaults to 1, 2, …"""
        submits = np.array(submit, dtype=np.float64)
        count = len(submits)
        requests = [np.broadcast_to(np.asarray(each, np.float64), (count,)) for each in (gpus, cores, memory)]
        return cls(
            np.arange(1, count + 1) if job is None else np.array(job, dtype=np.int64),
            submits,
            np.array(run, dtype=np.float64),
            np.stack(requests, axis=1) if count else np.empty((0, len(RESOURCES))),
            np.broadcast_to(np.asarray(walltime, np.float64), (count,)).copy(),
        )

    def __post_init__(self) -> None:
        count = len(self.job)
        for field in fields(self):
            shape = (count, len(RESOURCES)) if field.name == "resources" else (count,)
            found = getattr(self, field.name)
            if found.shape != shape:
                raise InputError(f"jobs: {field.name} has shape {found.shape}, expected {shape}")
        checks = [
            ("submit", self.submit, np.abs(self.submit) <= _LONGEST, "a time of at most 1e15 s"),
            ("run", self.run, (self.run >= 0) & (self.run <= _LONGEST), "a time of 0 to 1e15 s"),
            ("walltime", self.walltime, self.walltime >= 0, "a time of 0 or more"),
        ]
        for name, values in zip(RESOURCES, self.resources.T, strict=True):
            checks.append((name, values, (values >= 0) & (values <= _LARGEST), "0 to 1e15"))
        for name, values, allowed, wanted in checks:
            if not allowed.all():
                row = int(np.argmin(allowed))
                raise InputError(f"jobs: job {self.job[row]}, {name} is {values[row]}, expected {wanted}")
        nothing = ~self.resources.any(axis=1)
        if nothing.any():
            raise InputError(
                f"jobs: job {self.job[int(np.argmax(nothing))]} requests nothing, "
                f"expected at least one of {', '.join(RESOURCES)}"
            )
        back = np.flatnonzero(np.diff(self.submit) < 0)
        if len(back):
            row = int(back[0]) + 1
            raise InputError(
                f"jobs: job {self.job[row]} is submitted at {self.submit[row]:g} s, before the job ahead of it: "
                "sort by submit first"
            )
        if len(np.unique(self.job)) != count:
            values, counts = np.unique(self.job, return_counts=True)
            raise InputError(f"jobs: job number {values[counts > 1][0]} appears more than once")

    def __len__(self) -> int:
        return len(self.job)

    def take(self, rows: NDArray[np.bool_] | _Ints) -> VectorJobs:
        """Return a table of the selected rows, given as a mask or as row numbers in order."""
        return VectorJobs(*(getattr(self, field.name)[rows] for field in fields(self)))
