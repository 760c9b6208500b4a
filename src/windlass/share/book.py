"""Who runs, who shares with whom, and what was measured of them: the same book for every engine.

An engine tells it when jobs start and end, and what it reads of them at each checkpoint. The book says what a
co-scheduler may see, what it is to be told, and which guests are in the way of their hosts' memory.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from windlass.share.allocation import Candidate, Guest
from windlass.share.answer import Sharing
from windlass.share.pairing import carried_out
from windlass.share.running import RunningJob, fresh, same, shown, used_memory
from windlass.share.usage import ClassUse, Interval, Reading
from windlass.share.view import ACTIONS, Checkpoint, Head, ShareView


@dataclass(slots=True)
class ShareBook:
    """See the module.

    Parameters
    ----------
    actions
        The quotas there are, percent.
    uses
        What is known of classes of jobs; another book's may be handed over.

    Examples
    --------
    >>> from windlass.share.answer import Share
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
    _told: list[Checkpoint] = field(default_factory=list)

    def __contains__(self, job: int) -> bool:
        return job in self._jobs

    def jobs(self) -> list[int]:
        """All that run, in the order in which they started."""
        return list(self._jobs)

    def started(
        self, job: Candidate, at: float, memory: float, spent: float = 0.0, reading: Reading | None = None
    ) -> None:
        """A job runs on cores of its own since then, s, and was given so many bytes with them.

        Of one that ran before, ``spent`` is what it has used of its walltime, s, ``reading`` of all else.
        """
        self._jobs[job.job] = fresh(job, at, memory, spent, reading)

    def guest_of(self, job: int) -> int | None:
        """Who runs on this job's cores, or None."""
        guest = self._jobs[job].guest
        return None if guest is None else guest.job.job

    def host_of(self, job: int) -> int | None:
        """On whose cores this job runs, or None."""
        return self._jobs[job].host

    def pairs(self) -> list[tuple[int, int, int]]:
        """Hosts, their guests, and the guests' quotas in percent."""
        return [
            (number, entry.guest.job.job, entry.guest.quota)
            for number, entry in self._jobs.items()
            if entry.guest is not None
        ]

    def elapsed(self, job: int, now: float) -> float:
        """How much of its walltime a job has used, s: in a second as much as its pace says."""
        return self._jobs[job].elapsed(now)

    def last(self, job: int) -> Reading:
        """What was read of a job last."""
        return self._jobs[job].last

    def left(self, job: int, now: float) -> float:
        """What a job has left of its walltime, s."""
        entry = self._jobs[job]
        return max(0.0, entry.job.request - entry.elapsed(now))

    def paused(self, job: int, seconds: float) -> None:
        """Somebody had a job stand still for so many seconds: they are not of its walltime, and say nothing of it."""
        entry = self._jobs[job]
        entry.spent -= seconds * entry.pace
        entry.disturbed = True

    def promise(self, job: int, until: float) -> None:
        """A job's cores are promised to others from then on, s."""
        self._jobs[job].until = until

    def apart(self, guest: int, now: float) -> None:
        """A guest turns out to run on cores of its own: nothing is learned of what was taken for a pair."""
        entry = self._jobs[guest]
        if entry.host is not None:
            host = self._jobs[entry.host]
            host.guest = host.before = None
            host.mixed = entry.mixed = True
        entry.host, entry.until = None, math.inf
        entry.set_pace(1.0, now)

    def adopt(self, host: int, guest: Candidate, quota: int, now: float) -> None:
        """A pair that was there before this book was: nothing is known of it but its quota."""
        entry, known = self._jobs[host], Guest(guest, quota)
        shown = self._jobs.setdefault(guest.job, fresh(guest, now, guest.memory))
        shown.host, entry.guest = host, known
        shown.set_pace(quota / 100.0, now)

    def until(self, job: int) -> float:
        """By when a job's cores are promised to others, s: infinity for one that did not begin as a guest."""
        return self._jobs[job].until

    def set_pace(self, job: int, pace: float, now: float) -> None:
        """So many seconds of a job's walltime pass in a second: 1 of one alone, of a guest its quota until told."""
        self._jobs[job].set_pace(pace, now)

    def read(self, readings: Mapping[int, Reading]) -> None:
        """Checkpoint: what was read of running jobs, all at one instant. What they did since the last is worked out."""
        disturbed = {number for number in readings if self._disturbed(self._jobs[number])}
        for number, reading in readings.items():
            self._read(self._jobs[number], reading)
        for number in readings:
            entry = self._jobs[number]
            if entry.guest is not None and number not in disturbed:
                self._tell(number, entry, entry.last.at)

    def crowded(self) -> list[int]:
        """Guests in the way: with what they asked for, their hosts' allocations have no room for what hosts use."""
        found = []
        for entry in self._jobs.values():
            # By the arithmetic by which it fitted, or rounding would put it back at each checkpoint. Of one that uses
            # more than it asked for, no guest is to blame.
            room = entry.memory * (100.0 - used_memory(entry)) / 100.0
            if entry.guest is not None and entry.guest.job.memory > room:
                found.append(entry.guest.job.job)
        return found

    def ended(
        self, job: int, readings: Mapping[int, Reading], at: float | None = None, *, killed: bool = False
    ) -> None:
        """A job has ended, by itself or at its walltime; whoever shared with it goes on by itself.

        Parameters
        ----------
        job
            Which.
        readings
            The last of it, and one of that instant of whoever shared with it.
        at
            When, s; None for when it was read.
        killed
            Whether that was at its walltime.
        """
        entry, reading = self._jobs[job], readings[job]
        disturbed = {number for number in readings if self._disturbed(self._jobs[number])}
        for number, each in readings.items():
            self._read(self._jobs[number], each)
        over = reading.at if at is None else at
        if entry.guest is not None and job not in disturbed:
            self._tell(job, entry, over, ended=True, killed=killed)
        elif entry.host is not None and entry.host not in disturbed:
            self._tell(entry.host, self._jobs[entry.host], over)
        self._part(job, over)

    def lost(self, job: int, at: float) -> None:
        """A job runs no more and has not ended, s: nothing is learned of it."""
        entry = self._jobs[job]
        partner = entry.host if entry.guest is None else entry.guest.job.job
        if partner is not None:
            self._jobs[partner].mixed = True
        self._part(job, at)

    def checkpoints(self) -> list[Checkpoint]:
        """What a policy is to be told before it is asked again; each once."""
        told, self._told = self._told, []
        return told

    def view(
        self,
        now: float,
        waiting: Sequence[Candidate],
        head: Head | None = None,
        ends: Mapping[int, float] | None = None,
    ) -> ShareView:
        """What a policy may see.

        Of a job that was never read alone nobody knows what it uses, and one that asked for no time at all has no
        walltime to be measured by: neither is shown.

        Parameters
        ----------
        now
            The engine's clock, s.
        waiting
            Who waits, in the order in which they are served.
        head
            What the first of them was promised.
        ends
            By when cores of running jobs are expected back, s, as that promise was told from; others' at walltimes.
        """
        known_ends = ends or {}
        running = tuple(
            replace(shown(entry, now, self._shown(entry, now)), ends=known_ends.get(entry.job.job, math.nan))
            for entry in self._jobs.values()
            if entry.host is None and not math.isnan(entry.cpu) and entry.job.request > 0.0
        )
        known = tuple(replace(job, cpu=self.uses.cpu(job.job_class)) for job in waiting)
        return ShareView(now, running, known, self.actions, head)

    def carry_out(self, view: ShareView, answer: Sharing) -> None:
        """The answer holds from now on.

        Raises
        ------
        PolicyError
            It cannot be carried out; nothing is.
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
                # Nothing was measured at this quota yet.
                entry.now = guest.now = None

    def _read(self, entry: RunningJob, reading: Reading) -> None:
        done = Interval.between(entry.last, reading, entry.job.cores)
        stopped = entry.guest is None or entry.guest.quota == 0
        if done.seconds > 0.0 and entry.disturbed:
            entry.now, entry.disturbed, entry.mixed = None, False, False
        elif done.seconds > 0.0:
            entry.now = done
            if entry.host is None and stopped and not entry.mixed:
                # Of a job that has ended, an engine may know its tasks and no more what it used.
                entry.cpu = entry.cpu if math.isnan(done.cpu) else done.cpu
                self.uses.take(entry.job.job_class, done.seconds, done.cpu)
                if not math.isnan(done.rate):
                    entry.alone, entry.alone_stage = done.rate, reading.stage
            entry.mixed = False
        entry.last = reading

    def _disturbed(self, entry: RunningJob) -> bool:
        """Whether a job, or its guest, stood still since it was read last."""
        return entry.disturbed or (entry.guest is not None and self._jobs[entry.guest.job.job].disturbed)

    def _tell(
        self, host: int, entry: RunningJob, at: float, *, ended: bool = False, killed: bool = False
    ) -> None:
        """What was measured of a pair since its quota was decided, until then, s."""
        assert entry.guest is not None  # callers look
        if entry.before is None:
            return
        guest = replace(entry.guest, progress=self._progress(entry.guest))
        entry.guest = guest
        after = shown(entry, at, self._shown(entry, at))
        self._told.append(Checkpoint(entry.before, after, guest, ended, killed))

    def _progress(self, guest: Guest) -> float:
        """How fast a guest was beside jobs of its class that were alone, by what it used of its cores, percent."""
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
