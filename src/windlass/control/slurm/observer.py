"""What a Slurm driver sees and does, as rows of the control plane's journal."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from windlass.control.journal import (
    DecisionRecord,
    EngineStatus,
    EventRecord,
    JobKey,
    JournalReader,
    JournalWriter,
    RowFilter,
    ViewRecord,
)
from windlass.control.site_status import MOST, SiteStatus, status_text
from windlass.control.slurm.acts import BookActs
from windlass.control.slurm.events import QueueEvents
from windlass.control.slurm.queue import ReplayedQueue
from windlass.control.slurm.status import StartReasons, site_status
from windlass.engines.batch.log_entry import LogEntry
from windlass.engines.slurm.entries import Entry
from windlass.engines.slurm.models import JobRow, Phase
from windlass.engines.slurm.observer import SlurmPoll
from windlass.engines.slurm.sharing import changed
from windlass.order.site import POLICIES as ORDER
from windlass.order.site.view import SiteView, Start
from windlass.share import ShareView, Sharing

#: The least time between two states without an event in between, and the most time between two that are equal, s.
_EVERY, _AT_LEAST = 1.0, 10.0
#: The most events of a job that are read to find those that the journal has already.
_MOST_EVENTS = 200
#: Kinds of lines of a driver's log as kinds of events; lines of other kinds are recorded otherwise.
_KINDS = {
    "cannot_start": "stuck",
    "withheld": "withheld",
    "held": "held",
    "given_back": "returned",
    "still_held": "error",
    "unreachable": "error",
    "reachable": "reachable",
    "notice": "notice",
}


class SlurmObserver:
    """Writes the journal, see :class:`~windlass.engines.slurm.observer.DriverObserver`.

    Parameters
    ----------
    engine, about
        Name of the engine, and a line on it.
    site
        Name of the cluster.
    policies
        By decision, the name of its policy.
    journal, reader
        The journal, and a reader of it: events that it has already are not written again.
    queue
        What a state has of the queue, so that it can be replayed.
    acts
        True if answers are carried out.
    clock
        Returns the Unix time, s.
    """

    def __init__(
        self,
        engine: str,
        about: str,
        site: str,
        policies: Mapping[str, str],
        journal: JournalWriter,
        reader: JournalReader,
        queue: ReplayedQueue,
        *,
        acts: bool,
        clock: Callable[[], float],
    ) -> None:
        self._engine, self._about, self._site, self._policies = engine, about, site, policies
        self._journal, self._reader, self._acting, self._clock = journal, reader, acts, clock
        self._queue = queue
        left = [act for act in reader.open_acts() if (act.job.engine, act.job.site) == (engine, site)]
        self._acts = BookActs(self._key, journal, left)
        self._events = QueueEvents(self._key, self._known_events)
        #: By job, the reasons of starts, and of those that the latest dry run would make.
        self._started: dict[int, str] = {}
        self._proposed: dict[int, str] = {}
        self._latest: SiteStatus | None = None
        self._written, self._first = -math.inf, True

    def appended(self, entries: Sequence[Entry]) -> None:
        """Write the acts of entries, and their outcomes."""
        self._acts.take(entries)

    def decided(self, decision: str, view: Any, answer: Any) -> None:
        """Write the decisions of an answer, one for each job."""
        rows = list(self._starts(view, answer) if decision == ORDER.key else self._shares(view, answer))
        if rows:
            self._journal.append(*rows)
            # The state has the reasons of the answer, so the next poll writes it.
            self._written = -math.inf

    def polled(self, poll: SlurmPoll) -> None:
        """Write what happened since the poll before, and the state."""
        rows, now = {row.job: row for row in poll.jobs}, poll.now
        if self._first:
            self._restore(poll.jobs)
        self._acts.polled(rows, now)
        events = self._events.of(poll.jobs, poll.nodes, now)
        self._first = False
        for reasons in (self._started, self._proposed):
            for job in reasons.keys() - rows.keys():
                del reasons[job]
        if not events and now - self._written < _EVERY:
            return
        state = site_status(poll, StartReasons(self._started, self._proposed), self._queue.of(poll))
        if not events and state == self._latest and now - self._written < _AT_LEAST:
            return
        self._written, self._latest = now, state
        self._journal.append(
            *events,
            ViewRecord(now, self._engine, self._site, status_text(state)),
            EngineStatus(self._engine, "running", now, self._about),
        )

    def noted(self, line: str) -> None:
        """Write a line of the driver's log as an event of each job that it names, or of the site."""
        now, entry = self._clock(), line if isinstance(line, LogEntry) else LogEntry.of(line, "notice")
        kind = _KINDS.get(entry.event)
        if kind is None:
            return
        jobs = entry.fields.get("jobs") or [None]
        self._journal.append(*(EventRecord(now, self._key(job), kind, str(entry)) for job in jobs))
        if entry.event == "unreachable":
            self._journal.append(EngineStatus(self._engine, "unreachable", now, self._about, str(entry)))
        elif entry.event == "reachable":
            # The next poll writes the state, and that the engine runs.
            self._written = -math.inf

    def _starts(self, view: SiteView, answer: Start) -> Iterator[DecisionRecord]:
        pairs = dict(zip((int(job) for job in answer.jobs), map(str, answer.reasons()), strict=True))
        if self._acting:
            self._started |= pairs
            new = pairs
        else:
            new = {job: why for job, why in pairs.items() if job not in self._proposed}
            self._proposed = pairs
        text = "start" if self._acting else "would start"
        for job, why in new.items():
            yield self._decision(view.now, ORDER.key, job, text, why)

    def _shares(self, view: ShareView, answer: Sharing) -> Iterator[DecisionRecord]:
        for share in changed(view, answer):
            text = f"share the cores of {share.host}, quota {share.quota} %"
            yield self._decision(view.now, "share", share.guest, text, share.why)
        for back in answer.back:
            yield self._decision(view.now, "share", back.guest, "requeue", back.why)

    def _decision(self, now: float, decision: str, job: int, answer: str, why: str) -> DecisionRecord:
        return DecisionRecord(now, self._key(job), decision, self._policies[decision], answer, why)

    def _key(self, job: int | None) -> JobKey:
        return JobKey(self._engine, self._site, "" if job is None else str(job))

    def _known_events(self, key: JobKey) -> set[tuple[str, float]]:
        if not self._first:
            return set()
        found = self._reader.events(RowFilter(key.engine, key.site, job=key.id), limit=_MOST_EVENTS)
        return {(row.kind, row.time) for row in found.rows}

    def _restore(self, rows: Sequence[JobRow]) -> None:
        """Read the reasons of jobs that were started before this process."""
        mine = [row for row in rows if row.opted_in and row.phase is not Phase.OVER and not row.held]
        for row in mine[:MOST] if self._acting else ():
            where = RowFilter(self._engine, self._site, ORDER.key, str(row.job))
            for each in self._reader.decisions(where, limit=1).rows:
                self._started[row.job] = each.reason
