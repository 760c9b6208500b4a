"""Sharing of allocations on a batch system: a co-scheduler decides at checkpoints, and quotas follow its answer."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from windlass.engines.batch.book import BatchBook
from windlass.engines.batch.sharing_backend import JobEnding, Pair, SharingSystem
from windlass.model.values import number
from windlass.order.site.reservation import reservation
from windlass.share import SharePolicy, ShareView, Sharing, observe
from windlass.share.book import ShareBook
from windlass.share.usage import ClassUse
from windlass.share.view import Back, Head, Share

_SHARE = "share"


class Shares:
    """The second decision, about sharing: see :class:`~windlass.engines.batch.side_decision.SideDecision`.

    It behaves as in the simulator, with the same books, except for three things: at a job's end only its tasks can
    still be read; a guest is only requeued if its user allows that, even if the head of the queue must then wait for
    it; and the batch system, not the engine, stops jobs at their time limit.

    Parameters
    ----------
    book
        The engine's book.
    system
        The backend that sets quotas.
    policy
        The co-scheduler; it observes each measurement before it is called.
    every
        Interval between checkpoints, s.
    notify
        Called with each view and answer before the answer is carried out.
    report_back
        Called with each guest that is requeued without a decision of the policy.
    uses
        Known usage of classes of jobs; new measurements are added to it. None starts without any.
    left
        Pairs of an earlier driver: they continue if both jobs still run.
    promises
        Promised ends of guests that the earlier driver started, s.

    Raises
    ------
    InputError
        ``every`` is not above 0.
    """

    def __init__(
        self,
        book: BatchBook,
        system: SharingSystem,
        policy: SharePolicy,
        *,
        every: float = 5.0,
        notify: Callable[[ShareView, Sharing], None] = lambda view, answer: None,
        report_back: Callable[[Back], None] = lambda back: None,
        left: Sequence[Pair] = (),
        promises: Mapping[int, float] | None = None,
        uses: ClassUse | None = None,
    ) -> None:
        self._book, self._system, self._policy = book, system, policy
        self._notify, self._report_back = notify, report_back
        self._every = number("every", every, 0.0, open_below=True)
        self._shares, self._left = ShareBook(uses=uses or ClassUse()), tuple(left)
        self._promises = dict(promises or {})
        self._started: set[int] = set()
        #: Requeued jobs that the system still reports as running, with the time of their release.
        self._leaving: dict[int, float] = {}
        self._paused: dict[int, float] = {}
        self._now = -float("inf")
        self._last = -float("inf")
        self._wanted = False
        self._shown: ShareView | None = None

    def due(self, now: float) -> str | None:
        """Update running jobs and pairs; at a checkpoint, measure them and return the decision."""
        self._now = now
        if now < self._last:
            # The clock was set back. Otherwise no checkpoint would follow until it has caught up.
            self._last = -float("inf")
        self._update(now)
        # Observe pairs that ended just now: with no job left to wait or share, the next checkpoint may be far away.
        self._observe()
        made_way = self._make_way(now)
        self._wanted = bool(self._shares.pairs()) or self._book.waiting > 0
        # If guests made way, the head of the queue starts on processors of its own before a new pair is made.
        if made_way or not self._wanted or now < self._last + self._every:
            return None
        self._last = now
        self._shares.read(self._system.readings(self._shares.jobs(), now))
        self._observe()
        self._clear(now)
        for host, guest, _ in self._shares.pairs():
            self._system.allow(guest, self._shares.left(guest, now) + self._shares.left(host, now))
        self._set_quotas()
        return _SHARE

    def wakes(self) -> float:
        """Return the next checkpoint, or the next promised end, s."""
        promised = [end for job in self._shares.jobs() if (end := self._shares.until(job)) > self._now]
        return min([self._last + self._every, *promised]) if self._wanted else float("inf")

    def view(self, now: float) -> ShareView:
        """Return the running jobs and the waiting jobs that may share."""
        site = self._book.view(now)
        promised = reservation(site)
        waiting = [self._system.candidate(job) for job in site.waiting.job.tolist()]
        ends = zip(site.running.job.tolist(), site.running.expected_end.tolist(), strict=True)
        head = None if promised is None else Head(*promised)
        self._shown = self._shares.view(now, [job for job in waiting if job is not None], head, dict(ends))
        return self._shown

    def act(self, answer: Sharing, now: float) -> None:
        """Start guests, change quotas, requeue guests. What the system refuses stays unchanged."""
        assert self._shown is not None  # view() was called before
        view = self._shown
        answer.check(view)
        self._notify(view, answer)
        there = {host.guest.job.job for host in view.running if host.guest is not None}
        gone = {back.guest for back in answer.back if self._requeue(back, now)}
        shares = [each for each in answer.shares if each.guest in there or self._take_in(each, view, now)]
        back = tuple(each for each in answer.back if each.guest in gone)
        self._shares.carry_out(view, replace(answer, shares=tuple(shares), back=back))
        self._set_quotas()

    def close(self) -> None:
        """Lift all quotas."""
        self._system.close()

    def _take_in(self, share: Share, view: ShareView, now: float) -> bool:
        """Start a guest; return whether the system did."""
        candidate = next(job for job in view.waiting if job.job == share.guest)
        host = next(host for host in view.running if host.job == share.host)
        if not self._book.waits(share.guest) or not self._book.holds(share.host):
            return False
        # In the worst case it is stopped until its host's time limit, and then runs alone.
        longest = max(0.0, host.walltime - host.elapsed) + candidate.request
        promise = view.promised_end(host, candidate, share.quota)
        if self._system.take_in(Pair(share.host, share.guest, share.quota), longest, promise):
            return False
        self._book.take_in(
            share.host, share.guest, promise, f"shares an allocation: {self._policy.name}", now
        )
        return True

    def _observe(self) -> None:
        for checkpoint in self._shares.checkpoints():
            observe(self._policy, checkpoint)

    def _update(self, now: float) -> None:
        """Update jobs that started, ended, were suspended or requeued since the last call."""
        self._leaving = {job: then for job, then in self._leaving.items() if self._is_leaving(job, then)}
        changed = self._adopt(now)
        for job in self._shares.jobs():
            if job in self._shares and not self._book.holds(job):
                self._end(job, now)
                changed = True
        running = self._book.running()
        for job in running:
            if job not in self._shares and job not in self._leaving:
                self._begin(job, now)
        self._record_pauses()
        started = {job for job in running if job in self._shares and self._shares.host_of(job) is not None}
        # A guest's processes exist only now, so its quota is set at once.
        changed |= bool(started - self._started) | self._separate_strangers(started, now)
        self._started = started
        if changed:
            self._set_quotas()

    def _begin(self, job: int, now: float) -> None:
        """Record that a job runs on its own cores. With a new driver it may have run for long."""
        known = self._system.candidate(job)
        if known is None:
            return
        reading = self._system.readings([job], now).get(job)
        ran = self._book.ran(job, now)
        self._shares.started(known, now, self._system.memory(job), spent=ran, reading=reading)
        self._paused[job] = self._book.paused(job)
        if job in self._promises:
            self._shares.promise(job, self._promises.pop(job))

    def _adopt(self, now: float) -> bool:
        """Continue an earlier driver's pairs once both jobs are known to run; return whether there were any."""
        left, self._left = self._left, ()
        adopted = False
        for pair in left:
            guest = self._system.candidate(pair.guest)
            both = self._book.holds(pair.host) and self._book.holds(pair.guest)
            if not both or guest is None or not self._system.together(pair.host, pair.guest):
                continue
            paired = {job for each in self._shares.pairs() for job in each[:2]}
            if paired & {pair.host, pair.guest}:
                continue
            for job in (pair.host, pair.guest):
                self._begin(job, now)
            if pair.host not in self._shares:
                continue
            self._shares.adopt(pair.host, guest, pair.quota, now)
            self._book.join(pair.host, pair.guest)
            if math.isfinite(until := self._shares.until(pair.guest)):
                self._book.expect(pair.guest, until)
            adopted = True
        return adopted

    def _is_leaving(self, job: int, then: float) -> bool:
        """Return whether a requeued job, released at ``then`` (s), is still reported as running."""
        if not self._book.holds(job):
            return False
        now = self._book.released(job)
        return now == then or (math.isnan(now) and math.isnan(then))

    def _record_pauses(self) -> None:
        """Record suspensions: they do not count against time limits, and nothing is learned from them."""
        for job in self._shares.jobs():
            paused = self._book.paused(job)
            if paused > self._paused.get(job, 0.0):
                self._shares.paused(job, paused - self._paused.get(job, 0.0))
            self._paused[job] = paused

    def _separate_strangers(self, started: set[int], now: float) -> bool:
        """Separate guests that do not run on their hosts' cores; return whether there were any."""
        found = False
        for host, guest, _ in self._shares.pairs():
            if guest in started and not self._system.together(host, guest):
                self._shares.apart(guest, now)
                self._book.apart(guest, now + self._shares.left(guest, now))
                found = True
        return found

    def _end(self, job: int, now: float) -> None:
        shares = self._shares
        partner = shares.guest_of(job) if shares.host_of(job) is None else shares.host_of(job)
        readings = {job: self._system.last_reading(job, shares.last(job))}
        if partner is not None and shares.host_of(job) is None:
            end = now + shares.left(partner, now)
            # A guest that may be requeued is gone by its promise, even if it was suspended meanwhile.
            self._book.expect(partner, min(end, shares.until(partner)) if self._may_leave(partner) else end)
        if partner is not None:
            readings |= self._system.readings([partner], now)
        outcome = self._system.outcome(job)
        if self._book.waits(job) or outcome is JobEnding.CUT:
            shares.lost(job, now)
        else:
            shares.ended(job, readings, now, killed=outcome is JobEnding.KILLED)
        self._paused.pop(job, None)

    def _clear(self, now: float) -> None:
        """Requeue guests if their hosts need the promised memory and their users allow it."""
        for guest in self._shares.crowded():
            if self._may_leave(guest):
                self._leave(guest, "its host needs the memory that it was promised", now)

    def _make_way(self, now: float) -> bool:
        """Requeue overdue guests if the head of the queue then has room; return whether there were any."""
        shares, book = self._shares, self._book
        late = [job for job in shares.jobs() if shares.until(job) <= now and self._may_leave(job)]
        # A guest's processors are its host's as long as the host runs.
        late = [job for job in late if shares.host_of(job) is None or shares.host_of(job) in late]
        head = book.queue()[:1]
        need = int(book.columns(head)[1].sum()) - book.free + book.owed
        need -= sum(book.width(job) for job in self._leaving)
        if not late or not 0 < need <= sum(book.width(job) for job in late):
            return False
        for job in late:
            self._leave(job, "its promised end has passed, and the head of the queue can start", now)
        return True

    def _may_leave(self, job: int) -> bool:
        known = self._system.candidate(job)
        return known is not None and known.restarts

    def _leave(self, job: int, why: str, now: float) -> None:
        lost = self._shares.elapsed(job, now)
        self._requeue(Back(job, f"{why}; {lost:.0f} s of its work are lost"), now, notify=True)

    def _requeue(self, back: Back, now: float, notify: bool = False) -> bool:
        """Requeue a job; return whether the system did."""
        if notify:
            self._report_back(back)
        if self._system.requeue(back.guest, back.why):
            return False
        self._leaving[back.guest] = self._book.released(back.guest)
        self._shares.lost(back.guest, now)
        return True

    def _set_quotas(self) -> None:
        self._system.set_quotas([Pair(*pair) for pair in self._shares.pairs()])
