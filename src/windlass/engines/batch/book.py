"""The state of a batch system's site: waiting jobs, jobs that hold processors and until when, and finished jobs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.engines.backoff import Backoff
from windlass.engines.batch import rows as of
from windlass.engines.batch.owners import LiveOwners
from windlass.engines.batch.result import BatchRun
from windlass.engines.batch.rows import NO_JOB, OVER, RELEASED, RESTS, RUNS, WAITS
from windlass.engines.batch.system import (
    Cancelled,
    Capacity,
    Delayed,
    Ended,
    Event,
    Holds,
    JobOwner,
    NoMore,
    Resized,
    Started,
    Submitted,
)
from windlass.order.site.view import SiteView

_Ints = NDArray[np.int64]


class BatchBook(of.Table):
    """State of a site's jobs, one row each.

    It starts no jobs. The engine passes it events and decisions, and reads from it the view of a policy.

    Parameters
    ----------
    processors
        The site's processors, until a :class:`Capacity` event changes them.
    forgets
        True to forget ended jobs, for a service: the result then lacks most of them.
    owners
        The owners of jobs, and what they have consumed.
    """

    def __init__(self, processors: int, forgets: bool = False, owners: LiveOwners | None = None) -> None:
        super().__init__(forgets)
        self._owners = LiveOwners() if owners is None else owners
        self.processors = self.most = processors
        self.closed = False
        #: Jobs at the front of the queue that the last decision left waiting, with no processor freed since.
        self.refused = 0
        self._codes: dict[str, int] = {}
        self._latest = -np.inf
        #: Idle and owed processors at the last call of processors_changed().
        self._seen = processors, 0

    @property
    def held(self) -> int:
        """Processors of running and released jobs; those of a guest count as its host's."""
        return int(of.own_processors(self._jobs)[of.holders_of(self._jobs)].sum())

    @property
    def free(self) -> int:
        """Idle processors; 0 if running jobs hold more than the site still has."""
        return max(0, self.processors - self.held)

    @property
    def owed(self) -> int:
        """Processors that running jobs hold in excess of what the site still has."""
        return max(0, self.held - self.processors)

    @property
    def resting(self) -> bool:
        """True if a job that the system refused is to be tried again."""
        return bool((self._jobs["state"] == RESTS).any())

    @property
    def waiting(self) -> int:
        """Number of jobs that are not started, including resting ones."""
        return int((self._jobs["state"] <= RESTS).sum())

    @property
    def drained(self) -> bool:
        """True if a job waits for processors that the site had before, and none for more than it ever had."""
        jobs = self._jobs
        widest = jobs["procs"][jobs["state"] <= RESTS].max(initial=0)
        return bool(self.processors < widest <= self.most)

    def over(self) -> bool:
        """Return whether no more jobs will be submitted and all jobs of the engine have ended."""
        jobs = self._jobs
        return self.closed and not (jobs["ours"] & (jobs["state"] != OVER)).any()

    def wakes(self) -> float:
        """Return when the next resting job is to be tried again, s; infinity without any."""
        jobs = self._jobs
        return float(jobs["wakes"][jobs["state"] == RESTS].min(initial=np.inf))

    def wake(self, now: float) -> bool:
        """End the rest of jobs that have rested long enough; return whether there were any."""
        jobs = self._jobs
        rested = (jobs["state"] == RESTS) & (jobs["wakes"] <= now)
        jobs["state"][rested] = WAITS
        # They return to their places in the queue, some of which are ahead of refused jobs.
        self.refused = 0 if rested.any() else self.refused
        return bool(rested.any())

    def processors_changed(self) -> bool:
        """Return whether the idle or owed processors differ from those at the last call, so that a decision is due.

        Call it once all events of an instant are recorded, as the simulator settles an instant: processors that are
        freed and taken within it are no change.
        """
        before, owed = self._seen
        self._seen = self.free, self.owed
        due = self.free != before or self.owed != owed
        self.refused = 0 if due else self.refused
        return due

    def queue(self) -> _Ints:
        """Return the rows of waiting jobs in order of submission, including jobs wider than the site is now."""
        jobs = self._jobs
        rows = np.flatnonzero(jobs["state"] == WAITS)
        found: _Ints = rows[np.argsort(jobs["submit"][rows], kind="stable")]
        return found

    def widest(self) -> tuple[int, int]:
        """Return the widest waiting job and its processors; at least one job must wait."""
        jobs = self._jobs[self._jobs["state"] <= RESTS]
        row = int(np.argmax(jobs["procs"]))
        return int(jobs["job"][row]), int(jobs["procs"][row])

    def view(self, now: float) -> SiteView:
        """Return the view of a policy. A released job holds processors and counts as running since its release.

        As in the simulator, all waiting jobs are shown, however wide, and the site has its largest known size:
        otherwise one policy would make two schedules of a site that has shrunk.
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
            owners=self._owners.owners(jobs["owner"], jobs["named_queue"]),
            used=self._owners.used(),
        )

    def count_use(self, now: float) -> None:
        """Count what users have consumed up to an instant (s); call it before the events of this instant."""
        if self._owners.counts:
            rows = of.holders_of(self._jobs)
            self._owners.count(now, self._jobs["owner"][rows], of.own_processors(self._jobs)[rows])

    def keep(self, queue: _Ints, notes: NDArray[np.float64] | None) -> None:
        """Save the notes that a policy returned for the jobs of the queue."""
        if notes is not None:
            self._jobs["note"][queue] = notes

    def release(self, rows: _Ints, why: Sequence[str], now: float) -> None:
        """Mark these jobs as released: they hold their processors from now on."""
        jobs = self._jobs
        jobs["state"][rows], jobs["released"][rows] = RELEASED, now
        jobs["expected_end"][rows] = now + jobs["request"][rows]
        jobs["why"][rows] = [self._codes.setdefault(reason, len(self._codes)) for reason in why]
        self.refused, self._seen = len(self.queue()), (self.free, self.owed)

    def take_in(self, host: int, guest: int, promise: float, why: str, now: float) -> None:
        """Mark a waiting job as released on processors of a running one, which it leaves by ``promise``, s."""
        at, row = self._row_of[host], self._row_of[guest]
        self.release(np.array([row]), [why], now)
        entry = self._rows[row]
        entry["expected_end"], entry["host"], self._rows[at]["guest"] = promise, at, row
        self.refused, self._seen = 0, (self.free, self.owed)

    def join(self, host: int, guest: int) -> None:
        """Pair two running jobs."""
        at, row = self._row_of[host], self._row_of[guest]
        self._rows[row]["host"], self._rows[at]["guest"] = at, row
        self._seen = self.free, self.owed

    def apart(self, guest: int, end: float) -> None:
        """Give a guest processors of its own, which it leaves by ``end``, s."""
        row = self._row_of[guest]
        self._part(row)
        self._rows[row]["expected_end"] = end
        self._seen = self.free, self.owed

    def rest(self, job: int, now: float, backoff: Backoff) -> int:
        """Mark a job that the system refused as resting; return how often it was refused in a row."""
        row = self._row_of[job]
        entry = self._jobs[row]
        self._part(row)
        entry["refusals"] += 1
        entry["state"], entry["wakes"] = RESTS, now + backoff.delay(int(entry["refusals"]))
        entry["released"] = entry["expected_end"] = np.nan
        entry["why"] = -1
        self.refused = 0
        return int(entry["refusals"])

    def take(self, event: Event) -> bool:
        """Record an event; return whether it makes a decision due. Events of unknown jobs are ignored.

        A change of capacity is detected by :meth:`processors_changed` instead.
        """
        match event:
            case Submitted(job, at, procs, request, owner):
                return self._submit(job, at, procs, request, owner)
            case Holds(job, at, procs, request, owner):
                known = self.holds(job)
                entry = self._enter(job, at, procs, request, owner)
                entry["ours"] = False
                if not known:
                    self._owners.count_before(int(entry["owner"]), procs, at)
                return self._begin(entry, at)
            case Started(job, at):
                return job in self._row_of and self._begin(self._rows[self._row_of[job]], at)
            case Ended(job, at):
                return job in self._row_of and self._leave(self._rows[self._row_of[job]], at, False)
            case Cancelled(job, at):
                return job in self._row_of and self._leave(self._rows[self._row_of[job]], at, True)
            case Resized(job, _, procs):
                if self.holds(job):
                    self._resize(self._rows[self._row_of[job]], procs)
                return False
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

    def _enter(self, job: int, at: float, procs: int, request: float, owner: JobOwner) -> np.void:
        """Return the job's row, reset to its initial values; a new row for an unknown job."""
        if job in self._row_of:
            self._part(self._row_of[job])
        else:
            self._make_room()
        row = self._row_of.setdefault(job, len(self._row_of))
        entry: np.void = self._rows[row]
        entry["job"], entry["submit"], entry["procs"], entry["request"] = job, at, procs, request
        entry["why"], entry["refusals"], entry["ours"], entry["paused"] = -1, 0, True, 0.0
        entry["host"] = entry["guest"] = NO_JOB
        entry["owner"], entry["named_queue"] = self._owners.enter(owner), self._owners.queue(owner)
        for name in of.UNKNOWN:
            entry[name] = np.nan
        return entry

    def _submit(self, job: int, at: float, procs: int, request: float, owner: JobOwner) -> bool:
        # A new job at the end of the queue does not affect the jobs before it.
        if job in self._row_of or at < self._latest:
            self.refused = 0
        self._latest = max(self._latest, at)
        entry = self._enter(job, at, procs, request, owner)
        entry["state"], entry["cancelled"] = WAITS, False
        return True

    def _begin(self, entry: np.void, at: float) -> bool:
        if entry["state"] <= RESTS:
            # The system started it without a decision, so it may have left the front of the queue.
            self.refused = 0
        entry["state"], entry["start"], entry["end"] = RUNS, at, np.nan
        if entry["host"] == NO_JOB:
            entry["expected_end"] = at + entry["request"]
        return False

    @staticmethod
    def _resize(entry: np.void, procs: int) -> None:
        # Jobs that share processors keep those by which they were paired.
        if entry["host"] == entry["guest"] == NO_JOB:
            entry["procs"] = procs

    def _leave(self, entry: np.void, at: float, cancelled: bool) -> bool:
        if entry["state"] == OVER:
            return False
        self._part(self._row_of[int(entry["job"])])
        entry["state"], entry["end"], entry["cancelled"] = OVER, at, cancelled
        self.refused = 0
        return True

    def _drop_ended(self) -> None:
        """Drop ended jobs, and the reasons that only they had."""
        super()._drop_ended()
        why, reasons = self._jobs["why"], list(self._codes)
        codes, at = np.unique(why[why >= 0], return_inverse=True)
        self._jobs["why"][why >= 0] = at
        self._codes = {reasons[code]: number for number, code in enumerate(codes)}

    def _part(self, row: int) -> None:
        """End a job's sharing: its guest keeps its own processors, or its host gets all of its processors back."""
        entry = self._rows[row]
        for mine, other in (("host", "guest"), ("guest", "host")):
            if entry[mine] != NO_JOB:
                self._rows[entry[mine]][other] = entry[mine] = NO_JOB

    def result(self, decisions: int) -> BatchRun:
        """Return the outcome of the engine's jobs."""
        jobs = self._jobs[self._jobs["ours"]]
        jobs = jobs[np.argsort(jobs["submit"], kind="stable")]
        shown = ("job", "submit", "request", "procs", "released", "start", "end", "cancelled", "why")
        return BatchRun(
            processors=self.processors,
            reasons=tuple(self._codes),
            decisions=decisions,
            **{name: jobs[name].copy() for name in shown},
        )
