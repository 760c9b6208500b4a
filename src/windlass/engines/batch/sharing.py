"""Who shares an allocation on a batch system: a co-scheduler is asked at checkpoints, and quotas follow its answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from windlass.engines.batch.book import Book
from windlass.model.values import number
from windlass.order.site.head import reservation
from windlass.share import SharePolicy, ShareView, Sharing, observe
from windlass.share.allocation import Candidate
from windlass.share.answer import Share
from windlass.share.book import ShareBook
from windlass.share.meter import ClassUse, Reading
from windlass.share.view import Head

_SHARE = "share"


@dataclass(frozen=True, slots=True)
class Pair:
    """Two jobs on one allocation: their numbers, cores, and the guest's quota in percent."""

    host: int
    guest: int
    quota: int


class SharingSystem(Protocol):
    """What is needed of a batch system besides, where jobs share allocations. It knows no policy."""

    def candidate(self, job: int) -> Candidate | None:
        """A job that may share, waiting or running, as its user submitted it; None for one that may not."""
        ...

    def memory(self, job: int) -> float:
        """Bytes that a running job was given; as many as it asked for where the system does not say more."""
        ...

    def readings(self, jobs: Sequence[int], now: float) -> Mapping[int, Reading]:
        """What these running jobs have used; one that cannot be read just now is left out."""
        ...

    def take_in(self, host: int, guest: int, longest: float) -> str:
        """Start a held job where another one runs; why it cannot be, or nothing.

        It must not be stopped before it has run for ``longest`` seconds; its quota is set as soon as it runs.
        """
        ...

    def put_back(self, job: int) -> str:
        """Stop a running job and put it back in the queue, held; why it cannot be, or nothing."""
        ...

    def set_quotas(self, pairs: Sequence[Pair]) -> None:
        """These jobs share so from now on; all others have their cores for themselves. Asked often, with no change."""
        ...

    def close(self) -> None:
        """No job shares by quota any more; none is stopped."""
        ...


class Shares:
    """The decision beside the order: see :class:`~windlass.engines.batch.beside.Beside`.

    What happens is what happens in the simulator, by the same books. Three things are not: what a job used in its last
    moments nobody reads; a guest is not put back for the sake of the head of the queue, as it is a user's job, and only
    where its user allowed it; and who is stopped at a walltime is the system's affair.

    Parameters
    ----------
    book
        The engine's.
    system
        Where quotas are set.
    policy
        Told what was measured before it is asked.
    every
        Seconds between checkpoints.
    tell
        Told of each view and answer before it is carried out.
    uses
        What classes of jobs are known to use; more is added to it.
    left
        Pairs that a driver before this one left: they go on, as far as both jobs still run.

    Raises
    ------
    InputError
        ``every`` is not above 0.
    """

    def __init__(
        self,
        book: Book,
        system: SharingSystem,
        policy: SharePolicy,
        *,
        every: float = 5.0,
        tell: Callable[[ShareView, Sharing], None] = lambda view, answer: None,
        left: Sequence[Pair] = (),
        uses: ClassUse | None = None,
    ) -> None:
        self._book, self._system, self._policy, self._tell = book, system, policy, tell
        self._every = number("every", every, 0.0, open_below=True)
        self._shares, self._left = ShareBook(uses=uses or ClassUse()), tuple(left)
        self._begun: set[int] = set()
        self._last = -float("inf")
        self._wanted = False
        self._shown: ShareView | None = None

    def due(self, now: float) -> str | None:
        """See who came and went; at a checkpoint, measure and ask."""
        self._look(now)
        pairs = self._shares.pairs()
        self._wanted = bool(pairs) or self._book.waiting > 0
        if not self._wanted or now < self._last + self._every:
            return None
        self._last = now
        self._shares.read(self._system.readings(self._shares.jobs(), now))
        for checkpoint in self._shares.checkpoints():
            observe(self._policy, checkpoint)
        self._clear(now)
        self._set_quotas()
        return _SHARE

    def wakes(self) -> float:
        """The next checkpoint."""
        return self._last + self._every if self._wanted else float("inf")

    def view(self, now: float) -> ShareView:
        """Who runs and may share, and who waits and may."""
        site = self._book.view(now)
        promised = reservation(site)
        waiting = [self._system.candidate(job) for job in site.waiting.job.tolist()]
        ends = zip(site.running.job.tolist(), site.running.expected_end.tolist(), strict=True)
        head = None if promised is None else Head(*promised)
        self._shown = self._shares.view(now, [job for job in waiting if job is not None], head, dict(ends))
        return self._shown

    def act(self, answer: Sharing, now: float) -> None:
        """Start guests, change quotas, put guests back. What the system refuses is left as it was."""
        assert self._shown is not None  # asked for before any answer
        view = self._shown
        answer.check(view)
        self._tell(view, answer)
        there = {host.guest.job.job for host in view.running if host.guest is not None}
        gone = {back.guest for back in answer.back if not self._system.put_back(back.guest)}
        for job in gone:
            self._shares.lost(job, now)
        shares = [each for each in answer.shares if each.guest in there or self._take_in(each, view, now)]
        back = tuple(each for each in answer.back if each.guest in gone)
        self._shares.carry_out(view, replace(answer, shares=tuple(shares), back=back))
        self._set_quotas()

    def close(self) -> None:
        """All jobs have their cores for themselves again."""
        self._system.close()

    def _take_in(self, share: Share, view: ShareView, now: float) -> bool:
        """Start a guest; whether the system did."""
        candidate = next(job for job in view.waiting if job.job == share.guest)
        host = next(host for host in view.running if host.job == share.host)
        if not self._book.waits(share.guest) or not self._book.holds(share.host):
            return False
        # At worst it is stopped for as long as its host may run, and runs by itself then.
        longest = max(0.0, host.walltime - host.elapsed) + candidate.request
        if self._system.take_in(share.host, share.guest, longest):
            return False
        promise = view.promised_end(host, candidate, share.quota)
        self._book.take_in(
            share.host, share.guest, promise, f"shares an allocation: {self._policy.name}", now
        )
        return True

    def _look(self, now: float) -> None:
        """Jobs that started, ended, or were put back since."""
        changed = self._adopt(now)
        for job in self._shares.jobs():
            if job in self._shares and not self._book.holds(job):
                self._end(job, now)
                changed = True
        running = self._book.running()
        begun = {job for job in running if job in self._shares and self._shares.host_of(job) is not None}
        # A guest has processes only now: they get its quota at once.
        changed |= bool(begun - self._begun)
        self._begun = begun
        for job in running:
            if job not in self._shares and (known := self._system.candidate(job)) is not None:
                self._shares.started(known, now, self._system.memory(job))
        if changed:
            self._set_quotas()

    def _adopt(self, now: float) -> bool:
        """Go on with pairs that were there before, once both jobs are known to run; whether there are any."""
        left, self._left = self._left, ()
        adopted = False
        for pair in left:
            host, guest = self._system.candidate(pair.host), self._system.candidate(pair.guest)
            both = self._book.holds(pair.host) and self._book.holds(pair.guest)
            if both and host is not None and guest is not None:
                self._shares.started(host, now, self._system.memory(pair.host))
                self._shares.adopt(pair.host, guest, pair.quota, now)
                self._book.join(pair.host, pair.guest)
                adopted = True
        return adopted

    def _end(self, job: int, now: float) -> None:
        shares = self._shares
        partner = shares.guest_of(job) if shares.host_of(job) is None else shares.host_of(job)
        told = {job: shares.last(job)}
        if partner is not None and shares.host_of(job) is None:
            self._book.expect(partner, now + shares.left(partner, now))
        if partner is not None:
            told |= self._system.readings([partner], now)
        if self._book.waits(job):
            shares.lost(job, now)
        else:
            shares.ended(job, told, now)

    def _clear(self, now: float) -> None:
        """Guests whose hosts need the memory leave, where their users allow it."""
        for guest in self._shares.crowded():
            known = self._system.candidate(guest)
            if known is not None and known.restarts and not self._system.put_back(guest):
                self._shares.lost(guest, now)

    def _set_quotas(self) -> None:
        self._system.set_quotas([Pair(*pair) for pair in self._shares.pairs()])
