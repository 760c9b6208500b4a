"""Past actions on jobs, as recorded in the journal, compared with the jobs that Slurm lists now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from windlass.engines.batch.system import Cancelled, Ended, Event, Started, Submitted
from windlass.engines.slurm.entries import Began, Entry, Over, Restored, Taking, Withheld
from windlass.engines.slurm.journal import Record
from windlass.engines.slurm.models import JobRow, Phase
from windlass.engines.slurm.reasons import launch_failed


class Past:
    """The actions of drivers on each job, and a record of their outcome.

    A number alone does not identify a job, as Slurm reuses numbers after it has lost its state. Submit time and restart
    count are therefore compared as well.

    Parameters
    ----------
    journal
        The journal.
    """

    def __init__(self, journal: Record) -> None:
        self._journal = journal

    def was_released(self, row: JobRow) -> bool:
        """Return whether the job was released and not requeued since."""
        left = self._journal.under_way.get(row.job)
        return left is not None and (left.submit, left.restarts) == (row.submit, row.restarts)

    def was_requeued(self, row: JobRow) -> bool:
        """Return whether the job was requeued since its release."""
        left = self._journal.under_way.get(row.job)
        return left is not None and row.restarts > left.restarts

    def returning(self, row: JobRow) -> bool:
        """Return whether a driver requeued the job, and no give-back released it since."""
        standing = self._journal.standing
        left, released = standing.returning.get(row.job), standing.released.get(row.job)
        is_given_back = released is not None and released.restarts == row.restarts
        return left is not None and row.restarts == left.restarts + 1 and not is_given_back

    def withheld(self, row: JobRow) -> bool:
        """Return whether a user holds the job."""
        left = self._journal.standing.withheld.get(row.job)
        return left is not None and left.submit == row.submit

    def is_users(self, row: JobRow) -> bool:
        """Return whether a hold of the job is not Windlass's, but that of its user, or Slurm's after a failed launch.

        A job that was released, and is held without an entry of the journal, was held by another.
        """
        standing = self._journal.standing
        last = standing.released.get(row.job) or standing.under_way.get(row.job)
        if not row.held or self.returning(row):
            return False
        if self.withheld(row) or launch_failed(row):
            return True
        if last is None:
            return False
        same = (row.submit, row.restarts) == (last.submit, last.restarts)
        return row.restarts > last.restarts or (same and row.job in standing.released)

    def taken(self, row: JobRow) -> Taking | None:
        """Return the entry by which the job became a guest, if it still has a guest's time limit and nodes."""
        left = self._journal.standing.taken.get(row.job)
        same = left is not None and (row.submit == left.submit or row.restarts > left.restarts)
        return left if same else None

    def keep(self, events: Sequence[Event], withheld: Sequence[JobRow], now: float) -> None:
        """Record the outcome of released jobs, and the jobs that a user holds."""
        under_way = self._journal.under_way
        entries: list[Entry] = []
        for event in events:
            match event:
                case Started(job, at) if job in under_way:
                    entries.append(Began(at, job))
                case Ended(job, at) if job in under_way:
                    entries.append(Over(at, job, "ended"))
                case Cancelled(job, at) if job in under_way:
                    entries.append(Over(at, job, "cancelled or set aside"))
                case Submitted(job) if job in under_way:
                    entries.append(Over(now, job, "waits again"))
                case _:
                    pass
        entries += [Withheld(now, row.job, row.submit) for row in withheld]
        self._journal.append(*entries)

    def forget(self, rows: Mapping[int, JobRow], now: float) -> None:
        """Record the released jobs that have ended without an event, as while no driver ran, and drop other ended jobs.

        What the journal knows is thus about jobs that Slurm lists.
        """
        standing = self._journal.standing
        gone: list[Entry] = [
            Over(now, job, "ended without an event")
            for job, left in standing.under_way.items()
            if _is_gone(rows.get(job)) or _is_another(rows[job], left.submit, left.restarts)
        ]
        # A job that is being requeued may be listed as cancelled for a moment.
        for job in {*standing.returning, *standing.withheld, *standing.released} - rows.keys():
            standing.forget(job)
        self._journal.append(*gone)

    def restored(self, rows: Mapping[int, JobRow], now: float) -> None:
        """Record the guests that ended, or that another job of their number has replaced; nothing is undone."""
        gone = [
            Restored(now, job)
            for job, taken in self._journal.standing.taken.items()
            if _is_gone(rows.get(job)) or _is_another(rows[job], taken.submit, taken.restarts)
        ]
        self._journal.append(*gone)


def _is_gone(row: JobRow | None) -> bool:
    return row is None or row.phase is Phase.OVER


def _is_another(row: JobRow, submit: float, restarts: int) -> bool:
    return row.submit != submit and row.restarts <= restarts
