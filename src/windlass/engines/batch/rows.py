"""What a book of a batch system's jobs keeps of each."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: States of a job: it waits; it rests, as the system did not start it when told to; it was let go and is not yet seen
#: to run; it runs; it has ended or was cancelled.
WAITS, RESTS, RELEASED, RUNS, OVER = range(5)

ROW = np.dtype(
    [
        *((name, np.int64) for name in ("job", "procs", "state", "why", "refusals", "host", "guest")),
        *((name, np.float64) for name in ("submit", "request", "note", "expected_end", "wakes")),
        *((name, np.float64) for name in ("released", "start", "end")),
        *((name, np.bool_) for name in ("ours", "cancelled")),
    ]
)
#: What a job forgets when it waits anew.
UNKNOWN = ("note", "expected_end", "wakes", "released", "start", "end")
#: No job's row.
NOBODY = -1


def holders_of(jobs: NDArray[np.void]) -> NDArray[np.int64]:
    """Rows of jobs that run, or were let go."""
    return np.flatnonzero((jobs["state"] == RELEASED) | (jobs["state"] == RUNS))


def own_processors(jobs: NDArray[np.void]) -> NDArray[np.int64]:
    """(n,) processors of each job, without those that its guest has of them."""
    guest, procs = jobs["guest"], jobs["procs"]
    found: NDArray[np.int64] = np.where(guest == NOBODY, procs, procs - procs[guest])
    return found
