"""Bookkeeping of running jobs, pairs and measurements, common to all engines.

An engine reports when jobs start and end, and its readings at each checkpoint. The book builds the view of a
co-scheduler and the measurements to pass to it, and finds guests that hold memory which their hosts need.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from windlass.share.allocation import Candidate, Guest
from windlass.share.pairing import carried_out
from windlass.share.running import RunningJob, fresh, same, shown, used_memory
from windlass.share.usage import ClassUse, Interval, Reading
from windlass.share.view import ACTIONS, Checkpoint, Head, ShareView, Sharing


@dataclass(slots=True)
class ShareBook:
    """The running jobs, pairs and measurements of one engine.

    Parameters
    ----------
    actions
        Allowed quotas, percent.
    uses
        Measured CPU use of job classes; may be that of another book.

    Examples
    --------
    >>> from windlass.share.view import Share
    >>> book = ShareBook()
    >>> book.started(Candidate(1, "montage", 4, 2e9, 60.0), at=0.0, memory=8e9)
    >>> book.read({1: Reading(at=10.0, cpu=10.0, memory=2e9)})
    >>> view = book.view(10.0, [Candidate(2, "blast", 4, 4e9, 60.0)])
    >>> view.running[0].cpu, view.running[0].memory_used, view.running[0].elapsed
    (25.0, 25.0, 10.0)
    >>> book.carry_out(view, Sharing((Share(1, 2, 30, "host idles"),)))
    >>> book.guest_of(1), book.host_of(2)
    (2, 1)
    """

    actions: tuple[int, ...] = ACTIONS
    uses: ClassUse = field(default_factory=ClassUse)
    _jobs: dict[int, RunningJob] = field(default_factory=dict)
    _pending: list[Checkpoint] = field(default_factory=list)

    def __contains__(self, job: int) -> bool:
        return job in self._jobs

    def jobs(self) -> list[int]:
        """Return all running jobs, in the order in which they started."""
        return list(self._jobs)

    def started(
        self, job: Candidate, at: float, memory: float, spent: float = 0.0, reading: Reading | None = None
    ) -> None:
        """Record that a job started on its own cores at ``at`` (s) with ``memory`` bytes.

        For a job that ran before, ``spent`` is its used walltime, s, and ``reading`` its last reading.
        """
        self._jobs[job.job] = fresh(job, at, memory, spent, reading)

    def guest_of(self, job: int) -> int | None:
        """Return the guest on this job's cores, or None."""
        guest = self._jobs[job].guest
        return None if guest is None else guest.job.job

    def host_of(self, job: int) -> int | None:
        """Return the job on whose cores this job runs, or None."""
        return self._jobs[job].host

    def pairs(self) -> list[tuple[int, int, int]]:
        """Return (host, guest, quota in percent) of all pairs."""
        return [
            (number, entry.guest.job.job, entry.guest.quota)
            for number, entry in self._jobs.items()
            if entry.guest is not None
        ]

    def elapsed(self, job: int, now: float) -> float:
        """Return the walltime that a job has used, s; it passes at the job's pace."""
        return self._jobs[job].elapsed(now)

    def last(self, job: int) -> Reading:
        """Return the last reading of a job."""
        return self._jobs[job].last

    def left(self, job: int, now: float) -> float:
        """Return the remaining walltime of a job, s."""
        entry = self._jobs[job]
        return max(0.0, entry.job.request - entry.elapsed(now))

    def paused(self, job: int, seconds: float) -> None:
        """Record that a job was suspended for ``seconds``, which are not walltime; its measurement is discarded."""
        entry = self._jobs[job]
        entry.spent -= seconds * entry.pace
        entry.disturbed = True

    def promise(self, job: int, until: float) -> None:
        """Record that a job's cores are promised to other jobs from ``until`` on, s."""
        self._jobs[job].until = until

    def apart(self, guest: int, now: float) -> None:
        """Record that a supposed guest runs on its own cores; measurements of the supposed pair are discarded."""
        entry = self._jobs[guest]
        if entry.host is not None:
            host = self._jobs[entry.host]
            host.guest = host.before = None
            host.mixed = entry.mixed = True
        entry.host, entry.until = None, math.inf
        entry.set_pace(1.0, now)

    def adopt(self, host: int, guest: Candidate, quota: int, now: float) -> None:
        """Add a pair that was formed before this book was created; only its quota is known."""
        entry, known = self._jobs[host], Guest(guest, quota)
        shown = self._jobs.setdefault(guest.job, fresh(guest, now, guest.memory))
        shown.host, entry.guest = host, known
        shown.set_pace(quota / 100.0, now)

    def until(self, job: int) -> float:
        """Return when a job's cores are promised to others, s; infinity if it did not start as a guest."""
        return self._jobs[job].until

    def set_pace(self, job: int, pace: float, now: float) -> None:
        """Set the walltime that passes in a second of the clock: 1 for a job alone, the quota for a guest."""
        self._jobs[job].set_pace(pace, now)

    def read(self, readings: Mapping[int, Reading]) -> None:
        """Record a checkpoint: readings of running jobs, all at one instant."""
        disturbed = {number for number in readings if self._disturbed(self._jobs[number])}
        for number, reading in readings.items():
            self._read(self._jobs[number], reading)
        for number in readings:
            entry = self._jobs[number]
            if entry.guest is not None and number not in disturbed:
                self._notify(number, entry, entry.last.at)

    def crowded(self) -> list[int]:
        """Return guests whose requested memory leaves too little for the memory that their hosts use."""
        found = []
        for entry in self._jobs.values():
            # The same arithmetic as in fits(), because rounding would otherwise requeue the guest at each
            # checkpoint. A guest above its own request is not considered: only its request counts.
            room = entry.memory * (100.0 - used_memory(entry)) / 100.0
            if entry.guest is not None and entry.guest.job.memory > room:
                found.append(entry.guest.job.job)
        return found

    def ended(
        self, job: int, readings: Mapping[int, Reading], at: float | None = None, *, killed: bool = False
    ) -> None:
        """Record that a job finished or was killed at its walltime; its partner continues alone.

        Parameters
        ----------
        job
            Number of the job.
        readings
            Its last reading, and one of its partner at the same instant.
        at
            End time, s; None for the time of the reading.
        killed
            True if the system killed it at its walltime.
        """
        entry, reading = self._jobs[job], readings[job]
        disturbed = {number for number in readings if self._disturbed(self._jobs[number])}
        for number, each in readings.items():
            self._read(self._jobs[number], each)
        over = reading.at if at is None else at
        if entry.guest is not None and job not in disturbed:
            self._notify(job, entry, over, ended=True, killed=killed)
        elif entry.host is not None and entry.host not in disturbed:
            self._notify(entry.host, self._jobs[entry.host], over)
        self._part(job, over)

    def lost(self, job: int, at: float) -> None:
        """Record that a job disappeared at ``at`` (s) without finishing; its measurements are discarded."""
        entry = self._jobs[job]
        partner = entry.host if entry.guest is None else entry.guest.job.job
        if partner is not None:
            self._jobs[partner].mixed = True
        self._part(job, at)

    def checkpoints(self) -> list[Checkpoint]:
        """Return the measurements that a policy has not received yet; each is returned once."""
        pending, self._pending = self._pending, []
        return pending

    def view(
        self,
        now: float,
        waiting: Sequence[Candidate],
        head: Head | None = None,
        ends: Mapping[int, float] | None = None,
    ) -> ShareView:
        """Return the view of a co-scheduler.

        A job is left out if it was never measured alone, because its use is unknown, or if it requested no
        time, because it has no walltime to compare with.

        Parameters
        ----------
        now
            Current time on the engine's clock, s.
        waiting
            Waiting jobs, in queue order.
        head
            The promise to the first waiting job.
        ends
            Time by which cores of running jobs are expected to be free, s, as the promise assumed; for other
            jobs, the walltime.
        """
        known_ends = ends or {}
        running = tuple(
            shown(entry, now, self._shown(entry, now), known_ends.get(entry.job.job, math.nan))
            for entry in self._jobs.values()
            if entry.host is None and not math.isnan(entry.cpu) and entry.job.request > 0.0
        )
        known = tuple(replace(job, cpu=self.uses.cpu(job.job_class)) for job in waiting)
        return ShareView(now, running, known, self.actions, head)

    def carry_out(self, view: ShareView, answer: Sharing) -> None:
        """Apply an answer.

        Raises
        ------
        PolicyError
            The answer is invalid; nothing is changed.
        """
        for host in carried_out(view, answer):
            entry = self._jobs[host.job]
            if host.guest is None and entry.guest is not None:
                self._part(entry.guest.job.job, view.now)
            before, entry.guest, entry.before = entry.guest, host.guest, host
            if host.guest is not None and not same(before, host.guest):
                guest = self._jobs.setdefault(
                    host.guest.job.job, fresh(host.guest.job, view.now, host.guest.job.memory)
                )
                if guest.host is None:
                    guest.until = view.promised_end(host, host.guest.job, host.guest.quota)
                guest.host = host.job
                guest.set_pace(host.guest.quota / 100.0, view.now)
                # No measurement exists for this quota yet.
                entry.now = guest.now = None

    def _read(self, entry: RunningJob, reading: Reading) -> None:
        done = Interval.between(entry.last, reading, entry.job.cores)
        stopped = entry.guest is None or entry.guest.quota == 0
        if done.seconds > 0.0 and entry.disturbed:
            entry.now, entry.disturbed, entry.mixed = None, False, False
        elif done.seconds > 0.0:
            entry.now = done
            if entry.host is None and stopped and not entry.mixed:
                # For a finished job, an engine may know its tasks but not its CPU time.
                entry.cpu = entry.cpu if math.isnan(done.cpu) else done.cpu
                self.uses.take(entry.job.job_class, done.seconds, done.cpu)
                if not math.isnan(done.rate):
                    entry.alone, entry.alone_stage = done.rate, reading.stage
            entry.mixed = False
        entry.last = reading

    def _disturbed(self, entry: RunningJob) -> bool:
        """Return whether a job or its guest was suspended since the last reading."""
        return entry.disturbed or (entry.guest is not None and self._jobs[entry.guest.job.job].disturbed)

    def _notify(
        self, host: int, entry: RunningJob, at: float, *, ended: bool = False, killed: bool = False
    ) -> None:
        """Record the measurement of a pair from the time its quota was set until ``at``, s."""
        assert entry.guest is not None  # checked by callers
        if entry.before is None:
            return
        guest = replace(entry.guest, progress=self._progress(entry.guest))
        entry.guest = guest
        after = shown(entry, at, self._shown(entry, at))
        self._pending.append(Checkpoint(entry.before, after, guest, ended, killed))

    def _progress(self, guest: Guest) -> float:
        """Return the CPU use of a guest compared with jobs of its class alone, percent."""
        done, alone = self._jobs[guest.job.job].now, self.uses.cpu(guest.job.job_class)
        if done is None or math.isnan(done.cpu) or not alone > 0.0:
            return math.nan
        return 100.0 * done.cpu / alone

    def _part(self, job: int, at: float) -> None:
        entry = self._jobs.pop(job)
        if entry.guest is not None:
            guest = self._jobs[entry.guest.job.job]
            guest.host = None
            guest.set_pace(1.0, at)
        if entry.host is not None:
            host = self._jobs[entry.host]
            host.guest = host.before = None

    def _shown(self, entry: RunningJob, now: float) -> Guest | None:
        guest = entry.guest
        return guest and replace(guest, elapsed=max(0.0, self._jobs[guest.job.job].elapsed(now)))
