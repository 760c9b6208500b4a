"""What an ordering policy of one site sees, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Waiting:
    """Jobs that are submitted and not started, in order of submission (columns of length q).

    ``note`` is one number per job that the policy itself left with it at an earlier decision (NaN until
    then): the engine keeps it, so that a policy has no memory of its own and survives a restart.
    """

    job: NDArray[np.int64]
    submit: NDArray[np.float64]
    procs: NDArray[np.int64]
    request: NDArray[np.float64]
    note: NDArray[np.float64]

    @classmethod
    def of(cls, job: object, submit: object, procs: object, request: object, note: object = None) -> Waiting:
        """Build from anything array-like; no note means NaN everywhere."""
        jobs = np.ascontiguousarray(job, dtype=np.int64)
        return cls(
            jobs,
            np.ascontiguousarray(submit, dtype=np.float64),
            np.ascontiguousarray(procs, dtype=np.int64),
            np.ascontiguousarray(request, dtype=np.float64),
            np.full(len(jobs), np.nan) if note is None else np.ascontiguousarray(note, dtype=np.float64),
        )


@dataclass(frozen=True, slots=True)
class Running:
    """Jobs that hold processors, by expected end, then processors (columns of length r).

    ``expected_end`` is start + request, s. It lies in the past for a job that outlived its request.
    """

    job: NDArray[np.int64]
    procs: NDArray[np.int64]
    expected_end: NDArray[np.float64]

    @classmethod
    def of(cls, job: object = (), procs: object = (), expected_end: object = ()) -> Running:
        """Build from anything array-like, in any order."""
        ends = np.ascontiguousarray(expected_end, dtype=np.float64)
        widths = np.ascontiguousarray(procs, dtype=np.int64)
        order = np.lexsort((widths, ends))
        return cls(np.ascontiguousarray(job, dtype=np.int64)[order], widths[order], ends[order])


@dataclass(frozen=True, slots=True)
class SiteView:
    """All that an ordering policy may know about its site at one instant.

    Parameters
    ----------
    now
        The engine's clock, s.
    processors
        How many the site has.
    free
        How many of them are idle.
    waiting, running
        The jobs.
    refused
        So many jobs at the front of the queue were left waiting by the last decision, and no processor
        has been freed since: a policy may skip them. 0 is always allowed.

    Examples
    --------
    >>> view = SiteView(now=7.0, processors=8, free=3,
    ...     waiting=Waiting.of(job=[4, 5], submit=[6, 7], procs=[4, 2], request=[60, 60]),
    ...     running=Running.of(job=[3], procs=[5], expected_end=[100]))
    >>> view.waiting.procs <= view.free
    array([False,  True])
    """

    now: float
    processors: int
    free: int
    waiting: Waiting
    running: Running
    refused: int = 0


@dataclass(frozen=True, slots=True)
class Start:
    """Start these waiting jobs now, in this order.

    Parameters
    ----------
    jobs
        Job numbers, each one waiting; together they fit the free processors.
    why
        The reason of each, for ``--explain`` and for dry runs; one string stands for all.
    notes
        (q,) what to keep with each waiting job until the next decision, or None for no change.
    """

    jobs: tuple[int, ...] = ()
    why: tuple[str, ...] | str = ""
    notes: NDArray[np.float64] | None = field(default=None, compare=False)

    def reasons(self) -> tuple[str, ...]:
        """One reason per started job."""
        return (self.why,) * len(self.jobs) if isinstance(self.why, str) else self.why
