"""Giving the queue back: the jobs that are held for Windlass are released to PBS's own scheduler."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from windlass.engines.batch.batches import batches
from windlass.engines.batch.queue_return import QueueReturn
from windlass.engines.pbs.client import GONE, PbsAwayError, PbsClient
from windlass.engines.pbs.entries import Lifted, NoLongerListed, QueueReturned
from windlass.engines.pbs.history import PbsPast
from windlass.engines.pbs.journal import PbsRecord
from windlass.engines.pbs.models import PbsJob
from windlass.engines.pbs.reader import read_job
from windlass.model import BatchError, InputError


def return_queue(
    client: PbsClient,
    journal: PbsRecord,
    queue: str,
    notify: Callable[[str], None],
    clock: Callable[[], float] = time.time,
) -> QueueReturn[str]:
    """Lift the hold ``o`` of all jobs of a queue, so that PBS's scheduler starts them.

    Jobs that an operator held after their release stay held, and other holds are kept. Job arrays are released, too.

    Parameters
    ----------
    client
        PBS.
    journal
        The journal: jobs that operators hold, and a record of what is given back.
    queue
        The queue.
    notify
        Called with a line for each job that cannot be read.
    clock
        Returns the Unix time, s.

    Raises
    ------
    PbsAwayError
        PBS does not list its jobs.
    InputError
        The journal cannot be written.
    """
    past = PbsPast(journal)
    ours = {row.job: row for row in _held(client, queue, notify) if not past.is_operators(row)}
    if not ours:
        return QueueReturn()
    journal.append(QueueReturned(clock(), tuple(ours)))
    still = _still_held(client, queue, _release(client, tuple(ours)))
    released = tuple(job for job in ours if job not in still)
    now, under_way = clock(), journal.standing.under_way
    journal.append(
        *(Lifted(now, job, ours[job].created, ours[job].runs) for job in released),
        *(NoLongerListed(now, job, "given back") for job in released if job in under_way),
    )
    return QueueReturn(released, still)


def _held(client: PbsClient, queue: str, notify: Callable[[str], None]) -> Iterable[PbsJob]:
    for job, tree in client.jobs().rows.items():
        try:
            row = read_job(job, tree)
        except InputError as error:
            notify(f"{error}; left alone")
            continue
        # The hold of an array is that of all its subjobs.
        if row.held and row.queue == queue and (row.array or not row.part):
            yield row


def _release(client: PbsClient, jobs: Sequence[str]) -> dict[str, str]:
    """Release jobs; return those whose release failed, or may have failed, with a reason each."""
    failed: dict[str, str] = {}
    for batch in batches(jobs):
        try:
            failed |= client.release(batch)
        except PbsAwayError as error:
            # The client has retried for its patience already, which each further batch would add to.
            return failed | dict.fromkeys(jobs[jobs.index(batch[0]) :], str(error))
    return failed


def _still_held(client: PbsClient, queue: str, failed: Mapping[str, str]) -> dict[str, str]:
    """Return the jobs of these that PBS lists as held; all of them if PBS does not answer."""
    left = {job: why for job, why in failed.items() if not why.startswith(GONE)}
    if not left:
        return {}
    try:
        held = {row.job for row in _held(client, queue, lambda line: None)}
    except BatchError:
        return left
    return {job: why for job, why in left.items() if job in held}
