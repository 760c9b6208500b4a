"""The records of a batch system's jobs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: States of a job: waiting; resting, because the system refused to start it; released but not yet seen running;
#: running; ended or cancelled.
WAITS, RESTS, RELEASED, RUNS, OVER = range(5)

ROW = np.dtype(
    [
        *((name, np.int64) for name in ("job", "procs", "state", "why", "refusals", "host", "guest")),
        # The row of its user and account in LiveOwners, and the number of its queue.
        *((name, np.int64) for name in ("owner", "named_queue")),
        *((name, np.float64) for name in ("submit", "request", "note", "expected_end", "wakes")),
        *((name, np.float64) for name in ("released", "start", "end", "paused")),
        *((name, np.bool_) for name in ("ours", "cancelled")),
    ]
)
#: Columns that are reset when a job waits again.
UNKNOWN = ("note", "expected_end", "wakes", "released", "start", "end")
#: Row numbers, or an integer column of the table.
Ints = NDArray[np.int64]
#: The row number that stands for no job.
NO_JOB = -1


def holders_of(jobs: NDArray[np.void]) -> NDArray[np.int64]:
    """Return the rows of running and released jobs."""
    return np.flatnonzero((jobs["state"] == RELEASED) | (jobs["state"] == RUNS))


def own_processors(jobs: NDArray[np.void]) -> NDArray[np.int64]:
    """Return (n,) processors of each job, without those that its guest uses."""
    guest, procs = jobs["guest"], jobs["procs"]
    found: NDArray[np.int64] = np.where(guest == NO_JOB, procs, procs - procs[guest])
    return found


#: The least length of a table.
_SHORTEST = 64


class Table:
    """Rows of jobs, and lookups by job number.

    Parameters
    ----------
    forgets
        True to drop the rows of ended jobs when the table is full, so that it is at most four times as long as the
        most jobs that waited or ran at once.
    """

    def __init__(self, forgets: bool = False) -> None:
        self._forgets = forgets
        self._rows = np.zeros(_SHORTEST, ROW)
        self._row_of: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._row_of)

    def _make_room(self) -> None:
        """Ensure that a row is free. Row numbers are valid until the next call."""
        if len(self._row_of) < len(self._rows):
            return
        if self._forgets:
            self._drop_ended()
        if 2 * len(self._row_of) > len(self._rows):
            self._rows = np.concatenate((self._rows, np.zeros(len(self._rows), ROW)))

    def _drop_ended(self) -> None:
        """Drop the rows of ended jobs; the others keep their order."""
        jobs = self._jobs
        left = np.flatnonzero(jobs["state"] != OVER)
        # The last element is that of NO_JOB. An ended job has neither a host nor a guest.
        row_of = np.full(len(jobs) + 1, NO_JOB)
        row_of[left] = np.arange(len(left))
        rows = np.zeros(max(_SHORTEST, 2 * len(left)), ROW)
        rows[: len(left)] = jobs[left]
        for name in ("host", "guest"):
            rows[name][: len(left)] = row_of[jobs[name][left]]
        self._rows = rows
        self._row_of = {job: row for row, job in enumerate(jobs["job"][left].tolist())}

    @property
    def _jobs(self) -> NDArray[np.void]:
        return self._rows[: len(self._row_of)]

    def columns(self, rows: Ints) -> tuple[Ints, Ints]:
        """Return the job numbers and processors of these rows."""
        return self._jobs["job"][rows], self._jobs["procs"][rows]

    def running(self) -> list[int]:
        """Return the running jobs in order of their first event."""
        found: list[int] = self._jobs["job"][self._jobs["state"] == RUNS].tolist()
        return found

    def waits(self, job: int) -> bool:
        """Return whether a job waits, so that it may be started."""
        return job in self._row_of and bool(self._rows[self._row_of[job]]["state"] == WAITS)

    def holds(self, job: int) -> bool:
        """Return whether a job runs or was released."""
        return job in self._row_of and self._rows[self._row_of[job]]["state"] in (RELEASED, RUNS)

    def released(self, job: int) -> float:
        """Return when a job was last released, s; NaN if the engine did not release it."""
        return float(self._rows[self._row_of[job]]["released"])

    def paused(self, job: int) -> float:
        """Return how long a job that holds processors was suspended, s."""
        return float(self._rows[self._row_of[job]]["paused"])

    def ran(self, job: int, now: float) -> float:
        """Return how much of its request a running job has used, by the system's own count, s."""
        entry = self._rows[self._row_of[job]]
        return max(0.0, now - float(entry["start"]) - float(entry["paused"]))

    def width(self, job: int) -> int:
        """Return a job's processors, without those that its guest uses."""
        return int(own_processors(self._jobs)[self._row_of[job]])

    def expect(self, job: int, end: float) -> None:
        """Set the expected end of a job, s; no effect on a job without processors."""
        if self.holds(job):
            self._rows[self._row_of[job]]["expected_end"] = end
