"""Changes of Jobs between two polls, as events. This module sends nothing to the server."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum

from windlass.engines.backoff import Backoff
from windlass.engines.batch.system import Cancelled, Ended, Event, Holds, Started, Submitted
from windlass.engines.kubernetes.jobs.models import JobPhase, QueuedJob

#: Delays before a Job that the server did not release several times is tried again, s.
_ASIDE = Backoff(5.0, 300.0)
#: Refusals in a row after which a Job is set aside.
_MOST_REFUSALS = 4


class Shown(Enum):
    """What the engine knows about a Job: nothing, that it waits, or that it holds cores."""

    NOTHING = "nothing"
    WAITS = "waits"
    HOLDS = "holds"


@dataclass(slots=True)
class ListedJob:
    """A Job as last listed, and as last reported to the engine.

    Parameters
    ----------
    job
        As last listed.
    number
        The engine's number of it.
    at
        Its submit time as reported, s.
    shown
        What the engine knows.
    released
        When this driver released it, s; NaN if it did not.
    before
        Its version before that release.
    turn
        The running number of that release; 0 for none.
    began
        Whether its start was reported.
    refusals
        Refusals in a row.
    aside
        When it is tried again, s; NaN if it is not set aside after refusals.
    obstacle
        Why it cannot start unless it or the cluster is changed; empty if it can.
    withheld
        Whether its user suspended it after a release.
    queued
        The last event of its submission.
    """

    job: QueuedJob
    number: int
    at: float
    shown: Shown = Shown.NOTHING
    released: float = math.nan
    before: str = ""
    turn: int = 0
    began: bool = False
    refusals: int = 0
    aside: float = math.nan
    obstacle: str = ""
    withheld: bool = False
    queued: Submitted | None = None


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


class QueueWatch:
    """Compares each poll with the one before.

    Kubernetes' times are whole seconds. Events are therefore placed between the two polls around them: a start at the
    earliest possible instant, an end or a submission at the latest.
    """

    def __init__(self) -> None:
        self._known: dict[str, ListedJob] = {}
        self._by_number: dict[int, str] = {}
        self._polled, self._last, self._turns = -math.inf, 0, 0

    def find(self, number: int) -> ListedJob | None:
        """Return a Job by the engine's number; None if there is none."""
        uid = self._by_number.get(number)
        return None if uid is None else self._known.get(uid)

    def title(self, number: int) -> str:
        """Return namespace and name of a Job, for messages; its number if it is unknown."""
        found = self.find(number)
        return str(number) if found is None else found.job.title

    @property
    def holders(self) -> AbstractSet[str]:
        """The identifiers of the Jobs that hold cores by the engine's count."""
        return {uid for uid, each in self._known.items() if each.shown is Shown.HOLDS}

    def count(self, shown: Shown) -> int:
        """Return the number of Jobs of which the engine knows this."""
        return sum(each.shown is shown for each in self._known.values())

    def waiting(self) -> int:
        """Return the number of Jobs that wait for a release, including those that are set aside for a while."""
        return sum(
            each.shown is Shown.WAITS or (not math.isnan(each.aside) and each.job.waits_for_us)
            for each in self._known.values()
        )

    def released(self, number: int, at: float) -> None:
        """Note that a Job was released at ``at`` (s): it holds cores from then on."""
        each = self._known[self._by_number[number]]
        self._turns += 1
        each.released, each.before, each.turn, each.refusals = at, each.job.version, self._turns, 0
        each.shown, each.began = Shown.HOLDS, False

    def refused(self, number: int, now: float) -> list[Event]:
        """Note that a release was refused; return the event that sets the Job aside after several refusals."""
        each = self._known[self._by_number[number]]
        each.refusals += 1
        if each.refusals < _MOST_REFUSALS:
            return []
        each.aside = now + _ASIDE.delay(each.refusals - _MOST_REFUSALS + 1)
        each.shown = Shown.NOTHING
        return [Cancelled(number, now)]

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
        at = self._latest(job.created, now) if math.isfinite(self._polled) else min(job.created, now)
        self._known[job.uid], self._by_number[self._last] = ListedJob(job, self._last, at), job.uid
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
        if each.shown is Shown.NOTHING:
            at = now if math.isnan(job.start) else self._earliest(job.start, now)
            each.shown, each.began = Shown.HOLDS, True
            yield Holds(each.number, at, job.procs, job.request, job.owner)
            return
        # A Job that its user resumed holds cores at once; one that was released here holds them already.
        if not each.began and (each.shown is Shown.WAITS or not math.isnan(job.start)):
            each.shown, each.began = Shown.HOLDS, True
            yield Started(each.number, self._start(each, now))

    def _waits(self, each: ListedJob, most: int, now: float, found: JobChanges) -> Iterator[Event]:
        job = each.job
        if each.shown is Shown.HOLDS:
            if job.version == each.before and not job.released:
                # A list from before the release.
                return
            each.shown, each.began, each.released = Shown.NOTHING, False, math.nan
            each.at = now
            yield Cancelled(each.number, now)
        if not job.waits_for_us:
            if each.shown is Shown.WAITS:
                each.shown = Shown.NOTHING
                yield Cancelled(each.number, now)
            if job.released and not job.leaving and not each.withheld:
                found.withheld.append(job)
                each.withheld = True
            each.obstacle = "it belongs to a queue of Kueue" if job.kueue else ""
            return
        each.withheld = False
        if job.procs > most:
            each.obstacle = f"it requests {job.procs:,} cores, the cluster has {most:,}"
            if each.shown is Shown.WAITS:
                each.shown = Shown.NOTHING
                yield Cancelled(each.number, now)
            return
        yield from self._queues(each, now)

    def _queues(self, each: ListedJob, now: float) -> Iterator[Event]:
        """Report a Job that waits and can start, unless the engine has it with the same request."""
        job = each.job
        if each.shown is Shown.NOTHING and now < each.aside:
            return
        event = Submitted(each.number, each.at, job.procs, job.request, job.owner)
        if each.shown is Shown.NOTHING or each.queued != event:
            each.shown, each.aside = Shown.WAITS, math.nan
            each.queued = event
            yield event

    def _over(self, each: ListedJob, now: float) -> Iterator[Event]:
        ran = not math.isnan(each.job.start)
        if each.shown is not Shown.NOTHING:
            began = self._start(each, now)
            if ran and not each.began:
                yield Started(each.number, began)
            if ran or each.began:
                yield Ended(each.number, max(began, self._latest(each.job.end, now)))
            else:
                yield Cancelled(each.number, now)
        each.shown = Shown.NOTHING

    def _gone(self, uid: str, now: float) -> Iterator[Event]:
        each = self._known.pop(uid)
        del self._by_number[each.number]
        if each.shown is Shown.NOTHING:
            return
        # A Job that is deleted on its own after its end may never be listed as ended.
        yield Ended(each.number, now) if each.began and not each.job.kept else Cancelled(each.number, now)

    def _start(self, each: ListedJob, now: float) -> float:
        start = each.job.start
        at = now if math.isnan(start) else max(self._earliest(start, now), min(each.at, now))
        return at if math.isnan(each.released) else min(max(at, each.released), now)

    def _earliest(self, second: float, now: float) -> float:
        return min(max(second, self._polled), now)

    def _latest(self, second: float, now: float) -> float:
        return min(max(second + 1.0, self._polled), now)
