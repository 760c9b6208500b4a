"""What is known of a batch system's site: who waits, who holds processors until when, and who has ended."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.engines.batch import rows as of
from windlass.engines.batch.result import BatchRun
from windlass.engines.batch.rows import NOBODY, OVER, RELEASED, RESTS, RUNS, WAITS
from windlass.engines.batch.system import (
    Cancelled,
    Capacity,
    Delayed,
    Ended,
    Event,
    Holds,
    NoMore,
    Started,
    Submitted,
)
from windlass.order.site.view import SiteView

_Ints = NDArray[np.int64]


class BatchBook(of.Table):
    """State of a site's jobs; a row each.

    It starts nothing. The engine tells it what happened and what was decided, and asks it what a policy may see.

    Parameters
    ----------
    processors
        How many the site has, until :class:`Capacity` says otherwise.
    """

    def __init__(self, processors: int) -> None:
        super().__init__()
        self.processors = self.most = processors
        self.closed = False
        #: Leading jobs of the queue that the last decision left waiting, with nothing freed and nobody gone since.
        self.refused = 0
        self._codes: dict[str, int] = {}
        self._latest = -np.inf
        #: What was idle and what was owed when last looked at.
        self._seen = processors, 0

    @property
    def held(self) -> int:
        """Processors of jobs that run, or were let go; those of guests are their hosts'."""
        return int(of.own_processors(self._jobs)[of.holders_of(self._jobs)].sum())

    @property
    def free(self) -> int:
        """Idle processors; none where running jobs hold more than the site still has."""
        return max(0, self.processors - self.held)

    @property
    def owed(self) -> int:
        """Processors that running jobs hold beyond what the site still has."""
        return max(0, self.held - self.processors)

    @property
    def resting(self) -> bool:
        """Whether the engine is to try again to start a job."""
        return bool((self._jobs["state"] == RESTS).any())

    @property
    def waiting(self) -> int:
        """Jobs that are not started, those among them that rest."""
        return int((self._jobs["state"] <= RESTS).sum())

    @property
    def drained(self) -> bool:
        """Whether somebody waits for processors that the site had before, and nobody for more than it ever had."""
        jobs = self._jobs
        widest = jobs["procs"][jobs["state"] <= RESTS].max(initial=0)
        return bool(self.processors < widest <= self.most)

    def over(self) -> bool:
        """Whether nobody submits any more, and all of the engine's jobs have ended."""
        jobs = self._jobs
        return self.closed and not (jobs["ours"] & (jobs["state"] != OVER)).any()

    def wakes(self) -> float:
        """When the next job has rested, s; infinity where none rests."""
        jobs = self._jobs
        return float(jobs["wakes"][jobs["state"] == RESTS].min(initial=np.inf))

    def wake(self, now: float) -> bool:
        """Have those wait again that have rested; whether there are any."""
        jobs = self._jobs
        rested = (jobs["state"] == RESTS) & (jobs["wakes"] <= now)
        jobs["state"][rested] = WAITS
        # They come back to their places in the queue, and some of these are ahead of who was refused.
        self.refused = 0 if rested.any() else self.refused
        return bool(rested.any())

    def look(self) -> bool:
        """Whether more or less is idle than when last looked at, or owed: a decision is due.

        To be asked when all that happened at one instant is written down, as the simulator settles an instant: what
        goes and comes back within it is no change.
        """
        before, owed = self._seen
        self._seen = self.free, self.owed
        due = self.free != before or self.owed != owed
        self.refused = 0 if due else self.refused
        return due

    def queue(self) -> _Ints:
        """Rows of those who wait, in order of submission; those among them that are wider than the site is now."""
        jobs = self._jobs
        rows = np.flatnonzero(jobs["state"] == WAITS)
        found: _Ints = rows[np.argsort(jobs["submit"][rows], kind="stable")]
        return found

    def widest(self) -> tuple[int, int]:
        """Of those who wait, of whom there must be some, the widest job and its processors."""
        jobs = self._jobs[self._jobs["state"] <= RESTS]
        row = int(np.argmax(jobs["procs"]))
        return int(jobs["job"][row]), int(jobs["procs"][row])

    def view(self, now: float) -> SiteView:
        """What a policy may see. Who was let go holds processors, and is expected to end as if it ran since then.

        As in the simulator, all who wait are shown, however wide, and the site is as large as it is known to be when
        whole: one policy must not make two schedules of a site that has shrunk.
        """
        jobs = self._jobs
        holders = of.holders_of(self._jobs)
        by_end = np.lexsort((of.own_processors(self._jobs)[holders], jobs["expected_end"][holders]))
        return SiteView.of_rows(
            now,
            self.most,
            self.free,
            self.refused,
            self.owed,
            queue=self.queue(),
            running=holders[by_end],
            job=jobs["job"],
            submit=jobs["submit"],
            procs=of.own_processors(self._jobs),
            request=jobs["request"],
            expected_end=jobs["expected_end"],
            note=jobs["note"],
        )

    def keep(self, queue: _Ints, notes: NDArray[np.float64] | None) -> None:
        """Keep the notes that a policy left with the jobs of the queue."""
        if notes is not None:
            self._jobs["note"][queue] = notes

    def release(self, rows: _Ints, why: Sequence[str], now: float) -> None:
        """These jobs are told to start: they hold their processors from now on."""
        jobs = self._jobs
        jobs["state"][rows], jobs["released"][rows] = RELEASED, now
        jobs["expected_end"][rows] = now + jobs["request"][rows]
        jobs["why"][rows] = [self._codes.setdefault(reason, len(self._codes)) for reason in why]
        self.refused, self._seen = len(self.queue()), (self.free, self.owed)

    def take_in(self, host: int, guest: int, promise: float, why: str, now: float) -> None:
        """A job that waits is told to start on processors of a running one; they are expected back then, s."""
        at, row = self._row_of[host], self._row_of[guest]
        self.release(np.array([row]), [why], now)
        entry = self._rows[row]
        entry["expected_end"], entry["host"], self._rows[at]["guest"] = promise, at, row
        self.refused, self._seen = 0, (self.free, self.owed)

    def join(self, host: int, guest: int) -> None:
        """Two jobs that run are a pair already."""
        at, row = self._row_of[host], self._row_of[guest]
        self._rows[row]["host"], self._rows[at]["guest"] = at, row
        self._seen = self.free, self.owed

    def apart(self, guest: int, end: float) -> None:
        """A guest turns out to have processors of its own, expected back then, s."""
        row = self._row_of[guest]
        self._part(row)
        self._rows[row]["expected_end"] = end
        self._seen = self.free, self.owed

    def put_back(self, job: int, now: float, rest: float) -> int:
        """A job was not started after all; how often in a row. It rests so many seconds, each time twice as long."""
        row = self._row_of[job]
        entry = self._jobs[row]
        self._part(row)
        entry["state"], entry["wakes"] = RESTS, now + rest * 2.0 ** int(entry["refusals"])
        entry["refusals"] += 1
        entry["released"] = entry["expected_end"] = np.nan
        entry["why"] = -1
        self.refused = 0
        return int(entry["refusals"])

    def take(self, event: Event) -> bool:
        """Write down what happened; whether that makes a decision due. What is told of unknown jobs is ignored.

        Whether a change of capacity does is seen by :meth:`look`.
        """
        match event:
            case Submitted(job, at, procs, request):
                return self._submit(job, at, procs, request)
            case Holds(job, at, procs, request):
                entry = self._enter(job, at, procs, request)
                entry["ours"] = False
                return self._begin(entry, at)
            case Started(job, at):
                return job in self._row_of and self._begin(self._rows[self._row_of[job]], at)
            case Ended(job, at):
                return job in self._row_of and self._leave(self._rows[self._row_of[job]], at, False)
            case Cancelled(job, at):
                return job in self._row_of and self._leave(self._rows[self._row_of[job]], at, True)
            case Delayed(job, _, seconds):
                if self.holds(job):
                    self._rows[self._row_of[job]]["expected_end"] += seconds
                    self._rows[self._row_of[job]]["paused"] += seconds
                return False
            case Capacity(processors):
                self.processors, self.most = processors, max(self.most, processors)
                return False
            case NoMore():
                self.closed = True
                return False

    def _enter(self, job: int, at: float, procs: int, request: float) -> np.void:
        """The job's row, a new one where it is not known, with all forgotten that was before."""
        known = job in self._row_of
        row = self._row_of.setdefault(job, len(self._row_of))
        if known:
            self._part(row)
        if row == len(self._rows):
            self._rows = np.concatenate((self._rows, np.zeros(len(self._rows), of.ROW)))
        entry: np.void = self._rows[row]
        entry["job"], entry["submit"], entry["procs"], entry["request"] = job, at, procs, request
        entry["why"], entry["refusals"], entry["ours"], entry["paused"] = -1, 0, True, 0.0
        entry["host"] = entry["guest"] = NOBODY
        for name in of.UNKNOWN:
            entry[name] = np.nan
        return entry

    def _submit(self, job: int, at: float, procs: int, request: float) -> bool:
        # Behind all others a job leaves them as they were; anything else changes who is at the front, or what is idle.
        if job in self._row_of or at < self._latest:
            self.refused = 0
        self._latest = max(self._latest, at)
        entry = self._enter(job, at, procs, request)
        entry["state"], entry["cancelled"] = WAITS, False
        return True

    def _begin(self, entry: np.void, at: float) -> bool:
        if entry["state"] <= RESTS:
            # The system started it by itself: it is not at the front of the queue any more.
            self.refused = 0
        entry["state"], entry["start"], entry["end"] = RUNS, at, np.nan
        if entry["host"] == NOBODY:
            entry["expected_end"] = at + entry["request"]
        return False

    def _leave(self, entry: np.void, at: float, cancelled: bool) -> bool:
        if entry["state"] == OVER:
            return False
        self._part(self._row_of[int(entry["job"])])
        entry["state"], entry["end"], entry["cancelled"] = OVER, at, cancelled
        self.refused = 0
        return True

    def _part(self, row: int) -> None:
        """A job shares with nobody any more: its guest has its own processors, or its host has all of its own."""
        entry = self._rows[row]
        for mine, other in (("host", "guest"), ("guest", "host")):
            if entry[mine] != NOBODY:
                self._rows[entry[mine]][other] = entry[mine] = NOBODY

    def result(self, decisions: int) -> BatchRun:
        """What happened to the engine's jobs."""
        jobs = self._jobs[self._jobs["ours"]]
        jobs = jobs[np.argsort(jobs["submit"], kind="stable")]
        shown = ("job", "submit", "request", "procs", "released", "start", "end", "cancelled", "why")
        return BatchRun(
            processors=self.processors,
            reasons=tuple(self._codes),
            decisions=decisions,
            **{name: jobs[name].copy() for name in shown},
        )
