"""What drivers did before, as the journal has it, compared with what Slurm says of the same jobs now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from windlass.engines.batch.system import Cancelled, Ended, Event, Started, Submitted
from windlass.engines.slurm.entries import Began, Entry, Over, Restored, Taking, Withheld
from windlass.engines.slurm.journal import Record
from windlass.engines.slurm.models import JobRow, Phase


class Past:
    """Answers what was done to a job, and writes down what became of it.

    A number alone does not make a job: Slurm may have lost what it knew, and counted anew. So each is compared by when
    it was submitted and how often it was put back.

    Parameters
    ----------
    journal
        What was written.
    """

    def __init__(self, journal: Record) -> None:
        self._journal = journal

    def let_go(self, row: JobRow) -> bool:
        """Whether it was let go, and was not put back since."""
        left = self._journal.under_way.get(row.job)
        return left is not None and (left.submit, left.restarts) == (row.submit, row.restarts)

    def put_back(self, row: JobRow) -> bool:
        """Whether it was put back into the queue since it was let go."""
        left = self._journal.under_way.get(row.job)
        return left is not None and row.restarts > left.restarts

    def returning(self, row: JobRow) -> bool:
        """Whether it was a driver that put it back."""
        left = self._journal.standing.returning.get(row.job)
        return left is not None and row.restarts == left.restarts + 1

    def withheld(self, row: JobRow) -> bool:
        """Whether somebody holds it for themselves."""
        left = self._journal.standing.withheld.get(row.job)
        return left is not None and left.submit == row.submit

    def taken(self, row: JobRow) -> Taking | None:
        """How it was taken in as a guest, where its time limit and nodes are still those of a guest."""
        left = self._journal.standing.taken.get(row.job)
        same = left is not None and (row.submit == left.submit or row.restarts > left.restarts)
        return left if same else None

    def keep(self, events: Sequence[Event], withheld: Sequence[JobRow], now: float) -> None:
        """Write down what became of jobs that were let go, and who is held for somebody's sake."""
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
        """Write down what became of jobs while nobody looked."""
        standing = self._journal.standing
        gone: list[Entry] = [
            Over(now, job, "over when a driver came")
            for job, left in standing.under_way.items()
            if _is_gone(rows.get(job)) or _is_another(rows[job], left.submit, left.restarts)
        ]
        for job in [job for job in (*standing.returning, *standing.withheld) if _is_gone(rows.get(job))]:
            standing.forget(job)
        self._journal.append(*gone)

    def restored(self, rows: Mapping[int, JobRow], now: float) -> None:
        """Write down which guests are over, or other jobs by now: of them nothing is to be undone."""
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
