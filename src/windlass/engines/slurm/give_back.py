"""Giving the queue back: the jobs that are held for Windlass are released to Slurm's own scheduler."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from windlass.engines.batch.batches import batches
from windlass.engines.batch.give_back_record import after_release
from windlass.engines.batch.queue_return import QueueReturn
from windlass.engines.slurm.client import AwayError, Client
from windlass.engines.slurm.entries import GivenBack, Released
from windlass.engines.slurm.guests import Guests
from windlass.engines.slurm.history import Past
from windlass.engines.slurm.journal import Record
from windlass.engines.slurm.models import JobRow
from windlass.model import BatchError


def may_release(row: JobRow) -> bool:
    """Return whether a job may be released: it is held, and not by an administrator."""
    return row.held and not row.barred


def return_queue(
    client: Client,
    journal: Record,
    partition: str | None,
    notify: Callable[[str], None],
    clock: Callable[[], float] = time.time,
) -> QueueReturn[int]:
    """Release all jobs held for Windlass, so that Slurm's scheduler starts them, and restore waiting guests.

    Jobs that their users hold stay held. Slurm's refusal of some jobs does not prevent the release of others.

    Parameters
    ----------
    client
        Slurm.
    journal
        The journal: jobs that users hold, guests, and a record of what is given back.
    partition
        Only the jobs of this partition; None for all.
    notify
        Called with a line for each warning.
    clock
        Returns the Unix time, s.

    Raises
    ------
    AwayError
        Slurm does not list its jobs.
    InputError
        The journal cannot be written; no job was released.
    """
    rows, past = client.jobs(), Past(journal)
    here = [row for row in rows if row.opted_in and may_release(row) and row.is_in(partition)]
    ours = {row.job: row for row in here if not past.is_users(row)}
    held = tuple(ours)
    try:
        Guests(client, journal, past, notify, clock).restore(rows)
    except BatchError as error:
        notify(f"guests may keep the time limit and nodes of their hosts: {error}")
    if not held:
        return QueueReturn()
    journal.append(GivenBack(clock(), held))
    failed = _release(client, held)
    still = _still_held(client, failed)
    released = tuple(job for job in held if job not in still)
    with after_release(notify):
        journal.append(*(Released(clock(), job, ours[job].submit, ours[job].restarts) for job in released))
    return QueueReturn(released, still)


def _release(client: Client, jobs: Sequence[int]) -> dict[int, str]:
    """Release jobs; return those whose release failed, or may have failed, with a reason each."""
    failed: dict[int, str] = {}
    for batch in batches(jobs):
        try:
            failed |= client.release(batch)
        except AwayError as error:
            # The client has retried for its patience already, which each further batch would add to.
            return failed | dict.fromkeys(jobs[jobs.index(batch[0]) :], str(error))
    return failed


def _still_held(client: Client, failed: Mapping[int, str]) -> dict[int, str]:
    """Return the jobs of these that Slurm lists as held; all of them if Slurm does not answer."""
    if not failed:
        return {}
    try:
        held = {row.job for row in client.jobs() if row.held}
    except BatchError:
        return dict(failed)
    return {job: why for job, why in failed.items() if job in held}
