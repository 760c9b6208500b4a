"""Changes of jobs between two polls, as events. This module sends nothing to the batch system."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping

from windlass.engines.backoff import NO_FAILURES
from windlass.engines.batch.holds.history import HoldPast
from windlass.engines.batch.holds.known import HoldChanges, KnownHeldJob
from windlass.engines.batch.holds.site import HeldJob, HoldPhase, HoldWords
from windlass.engines.batch.polled_jobs import ASIDE, PolledJobs, Reported
from windlass.engines.batch.system import Cancelled, Delayed, Ended, Event, Holds, Started, Submitted


class HoldWatch(PolledJobs[KnownHeldJob]):
    """Compares each poll with the one before.

    Parameters
    ----------
    words
        Names for messages.
    queue
        The queue whose held jobs are Windlass's.
    past
        Actions of this driver and of earlier ones.
    ended
        Returns a job that is no longer listed, or None if it is unknown whether and how it ran.
    """

    def __init__(
        self, words: HoldWords, queue: str, past: HoldPast, ended: Callable[[str], HeldJob | None]
    ) -> None:
        super().__init__()
        self._words = words
        self._queue, self._past, self._ended, self._most = queue, past, ended, 0
        self._nodes: Mapping[str, int] = {}

    def title(self, number: int) -> str:
        """Return the system's identifier of a job, for messages; the engine's number if it is unknown."""
        return self._by_number.get(number, str(number))

    def update(
        self, jobs: Mapping[str, HeldJob], nodes: Mapping[str, int], most: int, began: float, now: float
    ) -> HoldChanges:
        """Compare a poll with the last one.

        Parameters
        ----------
        jobs
            All jobs that the system lists, of all queues.
        nodes
            CPUs of the nodes that jobs of the queue may use.
        most
            The most CPUs that these nodes had together.
        began, now
            When the poll began and ended, s.
        """
        self._nodes, self._most = nodes, most
        found = HoldChanges()
        here = {job: row for job, row in jobs.items() if row.phase is not HoldPhase.OVER and not row.array}
        for job, each in list(self._known.items()):
            if job not in here or here[job].created != each.job.created:
                found.events.extend(self._gone(self._known.pop(job), now))
        for row in sorted(here.values(), key=self._order):
            each = self._known.get(row.job) or self._meet(row, now)
            before, each.job = each.job, row
            each.obstacle = ""
            events = self._runs if row.phase is HoldPhase.RUNS else self._waits
            found.events.extend(events(each, before, now, found))
            if each.obstacle:
                found.stuck[row.job] = each.obstacle
        self._polled = began
        return found

    def hold_ended(self, job: str, refused: bool, now: float) -> None:
        """Note whether the system refused to hold a job; the next attempt follows a delay that grows."""
        each = self._known[job]
        each.holds = each.holds.failed(now, ASIDE) if refused else NO_FAILURES

    def _order(self, row: HeldJob) -> tuple[int, float, tuple[int, int], str]:
        """Return the order of jobs: that of their release, then of their arrival, then of their numbers."""
        each = self._known.get(row.job)
        return 0 if each is None else each.turn, row.queued, row.rank, row.job

    def _meet(self, row: HeldJob, now: float) -> KnownHeldJob:
        self._last += 1
        found = KnownHeldJob(row, self._last, self._arrival(row.queued, now))
        self._known[row.job], self._by_number[self._last] = found, row.job
        return self._known[row.job]

    def _is_ours(self, each: KnownHeldJob) -> bool:
        return each.job.queue == self._queue and not each.job.part

    def _is_held(self, each: KnownHeldJob) -> bool:
        return each.job.held

    def _note_release(self, each: KnownHeldJob) -> None:
        each.runs = each.job.runs

    def _runs(self, each: KnownHeldJob, before: HeldJob, now: float, found: HoldChanges) -> Iterator[Event]:
        row = each.job
        each.withheld, each.times, each.aside = False, 0, math.nan
        if each.reported is Reported.NOTHING:
            procs = row.procs_on(self._nodes)
            if procs:
                each.reported, each.began, each.runs = Reported.HOLDS, True, row.runs
                at = now if math.isnan(row.start) else self._earliest(row.start, now)
                yield Holds(each.number, at, procs, row.request, row.owner)
            return
        if not each.began or row.start > before.start:
            each.reported, each.began, each.runs = Reported.HOLDS, True, row.runs
            yield Started(each.number, self._start(each, row.start, now))
        elif row.suspended and before.suspended and now > self._polled:
            yield Delayed(each.number, now, now - self._polled)

    def _waits(self, each: KnownHeldJob, before: HeldJob, now: float, found: HoldChanges) -> Iterator[Event]:
        if each.reported is Reported.HOLDS:
            if self._is_on_its_way(each, now, found):
                return
            each.at = now if each.began else each.at
            each.reported, each.began, each.released = Reported.NOTHING, False, math.nan
            yield Cancelled(each.number, now)
            if each.job.job in found.hold or each.withheld:
                return
        if self._may_start(each, now, found):
            yield from self._queues(each, now)
        elif each.reported is Reported.WAITS:
            each.reported = Reported.NOTHING
            yield Cancelled(each.number, now)
        elif self._is_ours(each) and not each.job.held and self._past.was_released(each.job):
            yield from self._released_before(each, now, found)

    def _is_on_its_way(self, each: KnownHeldJob, now: float, found: HoldChanges) -> bool:
        """Return whether a released job may still start; otherwise note that it must be held, or that it is held."""
        row = each.job
        if each.began or not self._is_ours(each) or row.runs > each.runs:
            return False
        if row.held:
            self._withhold(each, found)
            return False
        why = row.bars(now) or row.obstacle(now)
        if why:
            self._set_aside(each, why, now, found)
        return not why

    def _released_before(self, each: KnownHeldJob, now: float, found: HoldChanges) -> Iterator[Event]:
        """Report a job that an earlier driver released, and that may start at any moment."""
        row = each.job
        if why := row.bars(now) or row.obstacle(now):
            self._set_aside(each, why, now, found)
            return
        each.reported, each.runs = Reported.HOLDS, row.runs
        yield Holds(each.number, now, row.procs, row.request, row.owner)

    def _may_start(self, each: KnownHeldJob, now: float, found: HoldChanges) -> bool:
        """Return whether a waiting job waits for a driver alone; note what must be done or reported if it does not."""
        row = each.job
        if not self._is_ours(each):
            return False
        if not row.held:
            why = self._past.hold_reason(row) if row.holdable else ""
            if why and now >= each.holds.due:
                found.hold[row.job] = why
            elif row.holdable and not why and each.reported is Reported.WAITS:
                found.freed.append(row.job)
            return False
        if self._past.is_others(row):
            self._withhold(each, found)
            return False
        each.withheld = False
        if row.procs > self._most:
            each.obstacle = f"it requests {row.procs:,} CPUs, {self._words.nodes} have {self._most:,}"
        return not each.obstacle and not row.bars(now)

    def _queues(self, each: KnownHeldJob, now: float) -> Iterator[Event]:
        """Report a job that waits and may start, unless the engine has it with the same request."""
        row = each.job
        if each.reported is Reported.NOTHING and now < each.aside:
            return
        event = Submitted(each.number, each.at, row.procs, row.request, row.owner)
        if each.reported is Reported.NOTHING or each.queued != event:
            each.reported, each.aside, each.queued = Reported.WAITS, math.nan, event
            yield event

    def _withhold(self, each: KnownHeldJob, found: HoldChanges) -> None:
        if not each.withheld:
            found.withheld.append(each.job.job)
        each.withheld = True

    def _set_aside(self, each: KnownHeldJob, why: str, now: float, found: HoldChanges) -> None:
        """Hold a released job that does not start, so that it does not keep processors idle."""
        if not each.job.holdable:
            return
        each.times += 1
        each.aside = now + ASIDE.delay(each.times)
        found.hold[each.job.job] = f"{self._words.system} cannot start it yet: {why}"

    def _gone(self, each: KnownHeldJob, now: float) -> Iterator[Event]:
        del self._by_number[each.number]
        if each.reported is Reported.WAITS:
            yield Cancelled(each.number, now)
        elif each.reported is Reported.HOLDS:
            last = self._ended(each.job.job) if self._is_ours(each) else None
            # It may have run between two polls, or was deleted before it could start.
            never = last is not None and math.isnan(last.start)
            if not each.began and not never:
                yield Started(each.number, self._start(each, (last or each.job).start, now))
            cancelled = never or (last is not None and last.deleted)
            yield Cancelled(each.number, now) if cancelled else Ended(each.number, now)
