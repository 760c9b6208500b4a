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
        *((name, np.float64) for name in ("released", "start", "end", "paused")),
        *((name, np.bool_) for name in ("ours", "cancelled")),
    ]
)
#: What a job forgets when it waits anew.
UNKNOWN = ("note", "expected_end", "wakes", "released", "start", "end")
#: Rows of jobs, or a column of theirs.
Ints = NDArray[np.int64]
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


class Table:
    """Rows of jobs, and what is asked of a job by its number."""

    def __init__(self) -> None:
        self._rows = np.zeros(64, ROW)
        self._row_of: dict[int, int] = {}

    @property
    def _jobs(self) -> NDArray[np.void]:
        return self._rows[: len(self._row_of)]

    def columns(self, rows: Ints) -> tuple[Ints, Ints]:
        """Numbers and processors of these rows."""
        return self._jobs["job"][rows], self._jobs["procs"][rows]

    def running(self) -> list[int]:
        """Jobs that run, in the order in which they came to be known."""
        found: list[int] = self._jobs["job"][self._jobs["state"] == RUNS].tolist()
        return found

    def waits(self, job: int) -> bool:
        """Whether a job waits, so that it may be told to start."""
        return job in self._row_of and bool(self._rows[self._row_of[job]]["state"] == WAITS)

    def holds(self, job: int) -> bool:
        """Whether a job runs, or was let go."""
        return job in self._row_of and self._rows[self._row_of[job]]["state"] in (RELEASED, RUNS)

    def released(self, job: int) -> float:
        """When a job was last let go, s; NaN where the engine did not."""
        return float(self._rows[self._row_of[job]]["released"])

    def paused(self, job: int) -> float:
        """For how long a job that holds processors stood still, s."""
        return float(self._rows[self._row_of[job]]["paused"])

    def ran(self, job: int, now: float) -> float:
        """How much of its request a running job has used by the system's own count, s."""
        entry = self._rows[self._row_of[job]]
        return max(0.0, now - float(entry["start"]) - float(entry["paused"]))

    def width(self, job: int) -> int:
        """Processors of a job, without those that its guest has of them."""
        return int(own_processors(self._jobs)[self._row_of[job]])

    def expect(self, job: int, end: float) -> None:
        """A job's processors are expected back then, s."""
        self._rows[self._row_of[job]]["expected_end"] = end
