"""Changes of Jobs between two polls, as events. This module sends nothing to the server."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

from windlass.engines.batch.polled_jobs import PolledJob, PolledJobs, Reported
from windlass.engines.batch.system import Cancelled, Ended, Event, Holds, Started, Submitted
from windlass.engines.kubernetes.jobs.models import JobPhase, QueuedJob


@dataclass(slots=True)
class ListedJob(PolledJob[QueuedJob]):
    """A Job as last listed, and as last reported to the engine.

    Parameters
    ----------
    before
        Its version before its release.
    """

    before: str = ""


@dataclass(frozen=True, slots=True)
class JobChanges:
    """The result of a poll.

    Parameters
    ----------
    events
        Events for the engine, in order.
    withheld
        Jobs that their users suspended after a release.
    stuck
        Jobs that cannot start unless something is changed, with the reason.
    """

    events: list[Event] = field(default_factory=list)
    withheld: list[QueuedJob] = field(default_factory=list)
    stuck: dict[str, str] = field(default_factory=dict)


class QueueWatch(PolledJobs[ListedJob]):
    """Compares each poll with the one before."""

    def title(self, number: int) -> str:
        """Return namespace and name of a Job, for messages; its number if it is unknown."""
        found = self.find(number)
        return str(number) if found is None else found.job.title

    @property
    def holders(self) -> AbstractSet[str]:
        """The identifiers of the Jobs that hold cores by the engine's count."""
        return {uid for uid, each in self._known.items() if each.reported is Reported.HOLDS}

    def _is_held(self, each: ListedJob) -> bool:
        return each.job.waits_for_us

    def _note_release(self, each: ListedJob) -> None:
        each.before = each.job.version

    def update(self, jobs: Sequence[QueuedJob], most: int, began: float, now: float) -> JobChanges:
        """Compare a poll with the last one.

        Parameters
        ----------
        jobs
            All Jobs with the label.
        most
            The cores of the cluster, including nodes that are away.
        began, now
            When the poll began and ended, s.
        """
        found = JobChanges()
        there = {job.uid for job in jobs}
        for uid in [uid for uid in self._known if uid not in there]:
            found.events.extend(self._gone(uid, now))
        for job in sorted(jobs, key=self._order):
            each = self._known.get(job.uid) or self._meet(job, now)
            each.job = job
            found.events.extend(self._compare(each, most, now, found))
            if each.obstacle:
                found.stuck[job.title] = each.obstacle
        self._polled = began
        return found

    def _order(self, job: QueuedJob) -> tuple[int, float, str, str]:
        """Return the order of Jobs: that of their release, then of their submission.

        Jobs of one second are ordered by name, so that each driver has the same queue.
        """
        each = self._known.get(job.uid)
        return 0 if each is None else each.turn, job.created, job.namespace, job.name

    def _meet(self, job: QueuedJob, now: float) -> ListedJob:
        self._last += 1
        found = ListedJob(job, self._last, self._arrival(job.created, now))
        self._known[job.uid], self._by_number[self._last] = found, job.uid
        return self._known[job.uid]

    def _compare(self, each: ListedJob, most: int, now: float, found: JobChanges) -> Iterator[Event]:
        each.obstacle = ""
        match each.job.phase:
            case JobPhase.OVER:
                yield from self._over(each, now)
            case JobPhase.RUNS:
                yield from self._runs(each, now)
            case JobPhase.WAITS:
                yield from self._waits(each, most, now, found)

    def _runs(self, each: ListedJob, now: float) -> Iterator[Event]:
        job = each.job
        each.withheld = False
        if each.reported is Reported.NOTHING:
            at = now if math.isnan(job.start) else self._earliest(job.start, now)
            each.reported, each.began = Reported.HOLDS, True
            yield Holds(each.number, at, job.procs, job.request, job.owner)
            return
        # A Job that its user resumed holds cores at once; one that was released here holds them already.
        if not each.began and (each.reported is Reported.WAITS or not math.isnan(job.start)):
            each.reported, each.began = Reported.HOLDS, True
            yield Started(each.number, self._start(each, each.job.start, now))

    def _waits(self, each: ListedJob, most: int, now: float, found: JobChanges) -> Iterator[Event]:
        job = each.job
        if each.reported is Reported.HOLDS:
            if job.version == each.before and not job.released:
                # A list from before the release.
                return
            each.reported, each.began, each.released = Reported.NOTHING, False, math.nan
            each.at = now
            yield Cancelled(each.number, now)
        if not job.waits_for_us:
            if each.reported is Reported.WAITS:
                each.reported = Reported.NOTHING
                yield Cancelled(each.number, now)
            if job.released and not job.leaving and not each.withheld:
                found.withheld.append(job)
                each.withheld = True
            each.obstacle = "it belongs to a queue of Kueue" if job.kueue else ""
            return
        each.withheld = False
        if job.procs > most:
            each.obstacle = f"it requests {job.procs:,} cores, the cluster has {most:,}"
            if each.reported is Reported.WAITS:
                each.reported = Reported.NOTHING
                yield Cancelled(each.number, now)
            return
        yield from self._queues(each, now)

    def _queues(self, each: ListedJob, now: float) -> Iterator[Event]:
        """Report a Job that waits and can start, unless the engine has it with the same request."""
        job = each.job
        if each.reported is Reported.NOTHING and now < each.aside:
            return
        event = Submitted(each.number, each.at, job.procs, job.request, job.owner)
        if each.reported is Reported.NOTHING or each.queued != event:
            each.reported, each.aside = Reported.WAITS, math.nan
            each.queued = event
            yield event

    def _over(self, each: ListedJob, now: float) -> Iterator[Event]:
        ran = not math.isnan(each.job.start)
        if each.reported is not Reported.NOTHING:
            began = self._start(each, each.job.start, now)
            if ran and not each.began:
                yield Started(each.number, began)
            if ran or each.began:
                yield Ended(each.number, max(began, self._latest(each.job.end, now)))
            else:
                yield Cancelled(each.number, now)
        each.reported = Reported.NOTHING

    def _gone(self, uid: str, now: float) -> Iterator[Event]:
        each = self._known.pop(uid)
        del self._by_number[each.number]
        if each.reported is Reported.NOTHING:
            return
        # A Job that is deleted on its own after its end may never be listed as ended.
        yield Ended(each.number, now) if each.began and not each.job.kept else Cancelled(each.number, now)
