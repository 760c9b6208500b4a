"""Giving the queue back: the jobs that are held for Windlass are released to the system's own scheduler."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from windlass.engines.batch.batches import batches
from windlass.engines.batch.give_back_record import after_release
from windlass.engines.batch.holds.entries import Lifted, NoLongerListed, QueueReturned
from windlass.engines.batch.holds.history import HoldPast
from windlass.engines.batch.holds.journal import HoldRecord
from windlass.engines.batch.holds.site import HeldJob, HoldSite, SystemAwayError
from windlass.engines.batch.queue_return import QueueReturn
from windlass.model import BatchError


def return_queue(
    site: HoldSite,
    journal: HoldRecord,
    notify: Callable[[str], None],
    clock: Callable[[], float] = time.time,
) -> QueueReturn[str]:
    """Lift the driver's hold of all jobs of a queue, so that the system's scheduler starts them.

    Jobs that others held after their release stay held, and other holds are kept. Arrays of jobs are left alone: no
    driver holds them.

    Parameters
    ----------
    site
        The queue.
    journal
        The journal: jobs that others hold, and a record of what is given back.
    notify
        Called with a line for each job that cannot be read, and for each held array.
    clock
        Returns the Unix time, s.

    Raises
    ------
    SystemAwayError
        The system does not list its jobs.
    InputError
        The journal cannot be written; no job was released.
    """
    past = HoldPast(journal)
    ours = {row.job: row for row in _held(site, notify) if not past.is_others(row)}
    if not ours:
        return QueueReturn()
    journal.append(QueueReturned(clock(), tuple(ours)))
    still = _still_held(site, _release(site, tuple(ours)))
    released = tuple(job for job in ours if job not in still)
    now, under_way = clock(), journal.standing.under_way
    with after_release(notify):
        journal.append(
            *(Lifted(now, job, ours[job].created, ours[job].runs) for job in released),
            *(NoLongerListed(now, job, "given back") for job in released if job in under_way),
        )
    return QueueReturn(released, still)


def _held(site: HoldSite, notify: Callable[[str], None]) -> Iterable[HeldJob]:
    for row in site.jobs(lambda error: notify(f"{error}; left alone")).values():
        if not row.held or row.queue != site.queue:
            continue
        if row.array:
            notify(f"job {row.job} is a job array; left alone: {site.words.array}")
        elif not row.part:
            yield row


def _release(site: HoldSite, jobs: Sequence[str]) -> dict[str, str]:
    """Release jobs; return those whose release failed, or may have failed, with a reason each."""
    failed: dict[str, str] = {}
    for batch in batches(jobs):
        try:
            failed |= site.release(batch)
        except SystemAwayError as error:
            # The client has retried for its patience already, which each further batch would add to.
            return failed | dict.fromkeys(jobs[jobs.index(batch[0]) :], str(error))
    return failed


def _still_held(site: HoldSite, failed: Mapping[str, str]) -> dict[str, str]:
    """Return the jobs of these that are listed as held; all of them if the system does not answer."""
    left = {job: why for job, why in failed.items() if not site.is_gone(why)}
    if not left:
        return {}
    try:
        held = {row.job for row in _held(site, lambda line: None)}
    except BatchError:
        return left
    return {job: why for job, why in left.items() if job in held}
