"""The part in which a co-scheduler acts: it starts guests on the processors of running jobs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from windlass.jit import Kernel
from windlass.model import InputError, JobTable
from windlass.model.use import JobUse
from windlass.model.values import number
from windlass.order.site.reservation import reservation
from windlass.share import SharePolicy, ShareView, Sharing, observe
from windlass.share.allocation import Candidate
from windlass.share.book import ShareBook
from windlass.share.interference import Speeds
from windlass.share.usage import Reading
from windlass.share.view import Head
from windlass.sim.handle import Handle
from windlass.sim.ledger import Ledger
from windlass.sim.part import Concerns, Due, Entries, Quiet
from windlass.sim.shares.course import JobStages
from windlass.sim.shares.log import QuotaLog
from windlass.sim.shares.result import Shared
from windlass.sim.shares.steps import KERNELS, RUN_TYPE, ShareClock, ShareCounts, entries_of, make_run
from windlass.sim.site.rated import RatedSite

_SHARE = "share"
#: Run time, s, below which the rest of a stage is a rounding error.
_ROUNDING = 1e-6
#: Function that returns the speeds of a pair, for the rows of host and guest, the share of its cores' time that each
#: wants now (%), and the guest's quota (%).
Physics = Callable[[int, int, float, float, int], Speeds]


class SharesPart(Quiet):
    """Guests on the processors of running jobs: see :class:`windlass.sim.part.Part`.

    While any job waits or shares, there is a checkpoint once a period: the running jobs are measured and the policy is
    called. In one second, a guest uses up its quota of a second of its walltime, or its speed if that is less; a job
    is not stopped for time that it did not get.

    A guest is requeued, to run again from its beginning, in two cases: its host begins to use the memory that the
    guest was promised, or the guest runs beyond its promised end and the head of the queue could start without it.
    Thus the head starts at its reserved time under EASY backfilling.

    Parameters
    ----------
    site
        Site of the jobs; it is coupled before this part.
    jobs
        Jobs of the site.
    use
        Resource use of the jobs.
    policy
        Policy, which gets the measurements of each checkpoint before it decides.
    physics
        Speeds of a pair.
    ledger
        Ledger of the site.
    rng
        Random numbers for the noise of measurements.
    memory_per_core
        Memory of an allocation for each of its cores, bytes, if that exceeds the job's request.
    restarts
        Whether a policy may requeue guests.
    every
        Time between checkpoints, s.
    noise
        Relative standard deviation of the tasks measured between two checkpoints.
    at_site
        Number of the site in the ledger.

    Raises
    ------
    InputError
        A number is out of bounds, or ``use`` does not match ``jobs``.
    """

    #: Compiled functions of the part.
    kernels: tuple[Kernel, ...] = KERNELS

    def __init__(
        self,
        site: RatedSite,
        jobs: JobTable,
        use: JobUse,
        policy: SharePolicy,
        physics: Physics,
        ledger: Ledger,
        rng: np.random.Generator,
        *,
        memory_per_core: float = 0.0,
        restarts: bool = True,
        every: float = 60.0,
        noise: float = 0.02,
        at_site: int = 0,
    ) -> None:
        _check_alike(jobs, use)
        self._site, self._jobs, self._use = site, jobs, use
        self._policy, self._physics, self._rng = policy, physics, rng
        every = number("every", every, 0.0, open_below=True)
        self._noise = number("noise", noise, 0.0)
        self._memory = number("memory_per_core", memory_per_core, 0.0)
        self._book, self._log = ShareBook(), QuotaLog()
        self._restarts = restarts
        self._row_of = {job: row for row, job in enumerate(jobs.job.tolist())}
        self._courses: dict[int, JobStages] = {}
        self._began: dict[int, float] = {}
        self._stage_ends: dict[int, float] = {}
        #: Promised ends, s, of guests and former guests.
        self._promises: dict[int, float] = {}
        run = make_run(site.address, every)
        self._handle = Handle(run, RUN_TYPE)
        self._counts, self._clock = ShareCounts.of(run.counts), ShareClock.of(run.clock)
        self._last_view: ShareView | None = None
        self._evicted = self._decisions = 0
        self._at_site = at_site
        ledger.watch(at_site)

    def concerns(self) -> Concerns:
        """Return the site in the ledger, and the part of its jobs."""
        return Concerns(sites=(self._at_site,), parts=(self._site,))

    def entries(self) -> Entries:
        """Return the compiled steps, which complete an instant at which there is nothing to do."""
        return entries_of(self, self._handle.address)

    def horizon(self) -> float:
        """Return the time of the next checkpoint, end of a stage of a pair, or promised end, s."""
        clock = self._clock
        checkpoint = max(clock.now, clock.last + clock.every) if self._counts.wanted else np.inf
        promises = [end for end in self._promises.values() if end > clock.now]
        return min([checkpoint, *self._stage_ends.values(), *promises])

    def decide(self, now: float) -> Sequence[Due]:
        """Take note of started and ended jobs; at a checkpoint, measure and return the sharing decision."""
        self._clock.now, self._last_view = now, None
        self._observe_jobs(now)
        for host, end in list(self._stage_ends.items()):
            if end <= now:
                self._rate(host)
        made_way = self._make_way()
        wanted = bool(self._stage_ends) or len(self._site.waiting()) > 0
        self._counts.wanted = wanted
        # The site starts the head on its own processors first, so that the head does not become a guest.
        due = wanted and not made_way and now >= self._clock.last + self._clock.every
        if due:
            self._clock.last = now
            self._checkpoint()
        self._note()
        return (Due(self, _SHARE),) if due else ()

    def wants(self, decision: str) -> bool:
        """Return whether the decision has no answer yet."""
        return True

    def view(self, decision: str) -> ShareView:
        """Return the running and waiting jobs, and the reservation of the head of the queue."""
        # The view of the site has the time of its own policy's last decision.
        site = replace(self._site.view("order"), now=self._clock.now)
        promised = reservation(site)
        waiting = [self._candidate(int(row)) for row in self._site.waiting()]
        head = None if promised is None else Head(*promised)
        ends = zip(site.running.job.tolist(), site.running.expected_end.tolist(), strict=True)
        self._last_view = self._book.view(self._clock.now, waiting, head, dict(ends))
        return self._last_view

    def act(self, decision: str, answer: Sharing) -> None:
        """Start guests, and change quotas."""
        assert self._last_view is not None  # a view precedes each answer
        view, now = self._last_view, self._clock.now
        answer.check(view)
        self._decisions += 1
        for back in answer.back:
            self._site.evict(self._row_of[back.guest], now)
            self._evicted += 1
        self._observe_jobs(now)
        self._book.carry_out(view, answer)
        there = {host.guest.job.job for host in view.running if host.guest is not None}
        for share in answer.shares:
            host, guest = self._row_of[share.host], self._row_of[share.guest]
            if share.guest not in there:
                promise = self._promises[guest] = self._book.until(share.guest)
                self._site.take_in(host, guest, promise, now, f"shares an allocation: {self._policy.name}")
                self._courses[guest], self._began[guest] = self._course(guest), now
            self._log.change(host, guest, share.quota, now, share.why)
            self._rate(host)
        self._note()

    def result(self) -> Shared:
        """Return the pairs and quotas so far."""
        return self._log.result(self._clock.now, self._evicted, self._decisions)

    def _note(self) -> None:
        """Note what the compiled steps compare with."""
        site, counts, clock = self._site.counts, self._counts, self._clock
        counts.running, counts.ended, counts.lost = site.running, site.ended, site.lost
        counts.pairs, counts.late = len(self._stage_ends), self._width(self._late())
        clock.stage_end = min(self._stage_ends.values(), default=np.inf)
        clock.promise = min((end for end in self._promises.values() if end > clock.now), default=np.inf)

    def _observe_jobs(self, now: float) -> None:
        """Take note of jobs that have started or ended since the last call."""
        count = len(self._began)
        rows, begins = (
            np.fromiter(self._began, np.int64, count),
            np.fromiter(self._began.values(), float, count),
        )
        # A killed job may have started again at the same instant.
        runs = self._site.runs_since(rows, begins).tolist()
        ended = [row for row, same in zip(self._began, runs, strict=True) if not same]
        readings = {row: self._read(row) for row in ended}
        for row in ended:
            self._record_end(row, readings)
        for row in self._site.running().tolist():
            if row not in self._courses:
                self._courses[row], self._began[row] = self._course(row), now
                job = self._candidate(row)
                self._book.started(job, now, max(job.memory, job.cores * self._memory))

    def _record_end(self, row: int, readings: dict[int, Reading]) -> None:
        job, book = int(self._jobs.job[row]), self._book
        partner = book.guest_of(job) if book.host_of(job) is None else book.host_of(job)
        latest = {job: readings[row]}
        if partner is not None:
            other = self._row_of[partner]
            latest[partner] = readings[other] if other in readings else self._read(other)
            self._log.end(row if book.host_of(job) is None else other, self._clock.now)
        if self._site.has_ended(row):
            killed = self._site.work_left(row, self._clock.now) > _ROUNDING
            book.ended(job, latest, killed=killed)
        else:
            book.lost(job, self._clock.now)
        if partner is not None:
            self._stage_ends.pop(row, None)
            self._stage_ends.pop(other, None)
            if self._site.runs(other):
                self._site.set_rate(other, 1.0, self._clock.now)
        del self._courses[row], self._began[row]
        self._promises.pop(row, None)

    def _checkpoint(self) -> None:
        """Measure the running jobs, report them to the policy, and requeue guests if hosts need their memory."""
        book, now = self._book, self._clock.now
        book.read({job: self._read(self._row_of[job]) for job in book.jobs()})
        for checkpoint in book.checkpoints():
            observe(self._policy, checkpoint)
        for guest in book.crowded():
            self._site.evict(self._row_of[guest], now)
            self._evicted += 1
        self._observe_jobs(now)

    def _make_way(self) -> bool:
        """Requeue guests beyond their promised end if the head of the queue then fits; return whether any were."""
        head, late = self._site.waiting()[:1], self._late()
        need = int(self._jobs.procs[head].sum()) - self._site.free() + self._site.owed()
        if not late or not 0 < need <= self._width(late):
            return False
        for row in late:
            self._site.evict(row, self._clock.now)
            self._evicted += 1
        self._observe_jobs(self._clock.now)
        return True

    def _late(self) -> list[int]:
        """Return the guests and former guests beyond their promised ends that can make way."""
        late = [row for row, end in self._promises.items() if end <= self._clock.now]
        # Requeueing a guest frees no processors while its host keeps them.
        return [row for row in late if self._host_row(row) is None or self._host_row(row) in late]

    def _width(self, rows: Sequence[int]) -> int:
        """Return the processors that some jobs hold."""
        return sum(self._site.width(row) for row in rows)

    def _host_row(self, row: int) -> int | None:
        host = self._book.host_of(int(self._jobs.job[row]))
        return None if host is None else self._row_of[host]

    def _rate(self, host: int) -> None:
        """Set the speeds of a pair, and the time until which they hold."""
        site, now = self._site, self._clock.now
        guest, quota = self._log.pair(host)
        done = [self._done(row) for row in (host, guest)]
        speeds = Speeds(1.0, 0.0)
        if quota > 0:
            own, other = self._courses[host].cpu(done[0]), self._courses[guest].cpu(done[1])
            speeds = self._physics(host, guest, own, other, quota)
        site.set_rate(host, speeds.host, now)
        pace = min(quota / 100.0, speeds.guest)
        site.set_rate(guest, speeds.guest, now, pace=pace)
        self._book.set_pace(int(self._jobs.job[guest]), pace, now)
        self._stage_ends[host] = now + min(
            max(_ROUNDING, self._courses[row].until(at) - at) / speed if speed > 0.0 else np.inf
            for row, at, speed in zip((host, guest), done, (speeds.host, speeds.guest), strict=True)
        )

    def _done(self, row: int) -> float:
        return float(self._jobs.run[row]) - self._site.work_left(row, self._clock.now)

    def _read(self, row: int) -> Reading:
        done = self._done(row)
        return self._courses[row].read(
            done, self._clock.now, max(0.0, self._clock.now - self._site.began(row) - done)
        )

    def _course(self, row: int) -> JobStages:
        return JobStages(self._use, row, int(self._jobs.procs[row]), self._noise, self._rng)

    def _candidate(self, row: int) -> Candidate:
        jobs, use = self._jobs, self._use
        return Candidate(
            int(jobs.job[row]),
            use.job_class[row],
            int(jobs.procs[row]),
            float(use.memory[row]),
            float(jobs.request[row]),
            restarts=self._restarts,
        )


def _check_alike(jobs: JobTable, use: JobUse) -> None:
    if len(use) != len(jobs):
        raise InputError(f"use is of {len(use)} jobs, expected {len(jobs)}")
    off = np.flatnonzero(np.abs(use.run() - jobs.run) > 1e-6 * np.maximum(1.0, jobs.run))
    if len(off):
        row = int(off[0])
        raise InputError(
            f"job {jobs.job[row]}: its stages take {use.run()[row]:g} s, expected its run time of {jobs.run[row]:g} s"
        )
