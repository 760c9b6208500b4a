"""The last day of a site as its journal has it, and a replay of it under the running policy."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median

import numpy as np

from windlass.control.journal import JournalReader, RowFilter
from windlass.control.site_status import MOST_PAST, JobState, PastJob, SiteStatus, status_from_text
from windlass.experiment.start_times.fidelity import ReplayedPast, replayed_past
from windlass.experiment.start_times.history import SiteHistory
from windlass.experiment.worlds.policy import PolicySpec
from windlass.io.traces import Workload
from windlass.model import InputError, JobTable

#: The latest events of a job among which its submission is looked up.
_EVENTS = 20
#: Length of the past, s; the most views that are read for it, and the most from which they are chosen.
DAY, _MOST_VIEWS, _MOST_TIMES = 86_400.0, 200, 3_000


@dataclass(frozen=True, slots=True)
class LastDay:
    """The replay of a site's last day.

    Parameters
    ----------
    engine, site
        Their names.
    policy
        The policy of the replay.
    replay
        The comparison; None if no job was submitted.
    cores
        The processors of the replay: the median of those that jobs of the queue held or could take.
    fewest, most
        The least and the largest number of these processors.
    complete
        False if the journal lacks jobs that ended between two of its views.
    """

    engine: str
    site: str
    policy: PolicySpec
    replay: ReplayedPast | None
    cores: int
    fewest: int
    most: int
    complete: bool


def queues(reader: JournalReader) -> list[tuple[str, str]]:
    """Return the engine and the site of each queue that the journal has.

    Parameters
    ----------
    reader
        The journal.

    Raises
    ------
    InputError
        The journal cannot be read.
    """
    return [
        (view.engine, view.site)
        for view in reader.views()
        if status_from_text(view.content).queue is not None
    ]


def last_day(reader: JournalReader, engine: str, site: str) -> LastDay:
    """Return the replayed last day of a site.

    Parameters
    ----------
    reader
        The journal.
    engine, site
        One of :func:`queues`.

    Raises
    ------
    InputError
        The journal cannot be read, or has no queue of this site.
    """
    for view in reader.views():
        if (view.engine, view.site) == (engine, site):
            status = status_from_text(view.content)
            if status.queue is not None:
                return _last_day(reader, engine, site, view.time, status)
    raise InputError(f"{reader.path}: no queue of {engine} {site}")


def _last_day(reader: JournalReader, engine: str, site: str, now: float, status: SiteStatus) -> LastDay:
    queue = status.queue
    assert queue is not None
    policy = PolicySpec(name=queue.policy, parameters=queue.parameters)
    past, sizes, since, complete = _past(reader, engine, site, now, status)
    cores = max(1, round(median(sizes)))
    running = [(_submitted(reader, engine, site, job), job) for job in status.running if job.request > 0]
    history = _history(status, running, past, now, cores)
    replay = replayed_past(history, since, now, policy) if len(history) else None
    return LastDay(engine, site, policy, replay, cores, min(sizes), max(sizes), complete)


def _past(
    reader: JournalReader, engine: str, site: str, now: float, status: SiteStatus
) -> tuple[list[PastJob], list[int], float, bool]:
    """Return the ended jobs of the last day, the processors of the views, the begin, and whether no job is missing."""
    since, complete, begin, seen = now - DAY, True, now, status
    times = [(number, at) for number, at in reader.view_times(engine, site, _MOST_TIMES) if at < now]
    # Two jobs may have the same times and sizes; each view lists all of them.
    jobs, sizes = Counter[PastJob](), list[int]()
    for _ in range(_MOST_VIEWS):
        past = () if seen.queue is None else seen.queue.past
        jobs |= Counter(past)
        sizes.append(_cores(seen))
        first = min((job.end for job in past), default=begin)
        older = [each for each in times if each[1] < begin]
        if first <= since or not older:
            return list(jobs.elements()), sizes, max(since, min(begin, first)), complete
        # The earliest view that overlaps; otherwise the one before, and then jobs in between may be missing.
        overlapping = [each for each in older if each[1] >= first]
        number, begin = overlapping[-1] if overlapping else older[0]
        complete = complete and (bool(overlapping) or len(past) < MOST_PAST)
        seen = status_from_text(reader.view_numbered(number).content)
    return list(jobs.elements()), sizes, begin, False


def _cores(status: SiteStatus) -> int:
    free = 0 if status.queue is None else status.queue.free
    return free + sum(job.cores for job in status.running if job.request > 0)


def _submitted(reader: JournalReader, engine: str, site: str, job: JobState) -> float:
    """Return when a running job was submitted, or when it started if the journal has no such event."""
    rows = reader.events(RowFilter(engine, site, job=job.id), limit=_EVENTS).rows
    found = [row.time for row in rows if row.kind in ("submitted", "requeued") and row.time <= job.since]
    return max(found, default=job.since)


def _history(
    status: SiteStatus, running: list[tuple[float, JobState]], past: list[PastJob], now: float, cores: int
) -> SiteHistory:
    rows = [(job.submit, job.start, job.end, job.cores, job.request) for job in past if job.end <= now]
    rows += [
        (min(submit, now), min(job.since, now), np.inf, job.cores, job.request) for submit, job in running
    ]
    rows += [
        (min(job.since, now), np.inf, np.inf, job.cores, job.request)
        for job in status.waiting
        if job.request > 0
    ]
    rows.sort(key=lambda row: row[0])
    columns = zip(*rows, strict=True) if rows else ((),) * 5
    submit, start, end, procs, request = (np.array(each, float) for each in columns)
    # While fewer cores are there than a job needs, it waits for all of them.
    table = JobTable.of(submit, run=request, procs=np.minimum(procs, cores).astype(np.int64), request=request)
    return SiteHistory(Workload(table, cores), np.maximum(start, submit), np.maximum(end, start))
