"""What a driver reports about jobs: each of it once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from windlass.engines.batch.batches import listed
from windlass.engines.batch.log_entry import LogEntry
from windlass.engines.batch.queue_return import QueueReturn
from windlass.engines.slurm.known_job import QueueChanges
from windlass.engines.slurm.models import OPT_IN, JobRow, Phase


class Notices:
    """Lines about jobs that cannot start, are held, or are left alone.

    A line about a waiting job is repeated only if it differs from the last one about the job.

    Parameters
    ----------
    notify
        Called with each line.
    """

    def __init__(self, notify: Callable[[str], None]) -> None:
        self._notify = notify
        #: The last reason reported about each waiting job.
        self._reported: dict[int, str] = {}
        self._skipped: set[int] = set()

    def changed(self, changes: QueueChanges, rows: Mapping[int, JobRow]) -> None:
        """Report jobs that users hold, and jobs that cannot start, and forget jobs that no longer wait.

        Parameters
        ----------
        changes
            The changes of a poll.
        rows
            All jobs that Slurm lists.
        """
        waiting = {job for job in self._reported if job in rows and rows[job].phase is Phase.WAITS}
        self._reported = {job: self._reported[job] for job in waiting}
        self._skipped &= rows.keys()
        for job in changes.withheld:
            if job not in changes.stuck:
                line = f"job {job}: a user held it after its release; left alone until the user releases it"
                self._notify(LogEntry.of(line, "withheld", jobs=[job]))
        for job, why in changes.stuck.items():
            if self._is_new(job, why):
                row = rows[job]
                line = f"job {job} ({row.name}, user {row.user}) cannot start: {why}"
                self._notify(LogEntry.of(line, "cannot_start", jobs=[job], reason=why))

    def held(self, jobs: Mapping[int, str], failed: Mapping[int, str]) -> None:
        """Report jobs that were held again, with the reason of each; an empty one is not reported.

        Parameters
        ----------
        jobs
            The jobs, and why they had to be held.
        failed
            Those that Slurm did not hold, with its message.
        """
        for why in dict.fromkeys(jobs.values()):
            same = [job for job, each in jobs.items() if each == why and job not in failed]
            held = [job for job in same if why and self._is_new(job, why)]
            if held:
                one = len(held) == 1
                line = f"{'job' if one else 'jobs'} {listed(held)} {'is' if one else 'are'} held: {why}"
                self._notify(LogEntry.of(line, "held", jobs=held, reason=why))
        for job, error in failed.items():
            self._notify(f"job {job} cannot be held: {error}")

    def refused(self, jobs: Mapping[int, str]) -> None:
        """Report jobs that Slurm did not release, with its message about each."""
        new = {job: why for job, why in jobs.items() if self._is_new(job, why)}
        if new:
            self._notify(LogEntry.of(QueueReturn((), new).problem(), "refused", jobs=list(new)))

    def skipped(self, rows: Sequence[JobRow]) -> None:
        """Report held arrays and heterogeneous jobs with the comment."""
        for row in rows:
            if row.many and row.held and row.comment.split()[:1] == [OPT_IN] and row.job not in self._skipped:
                self._skipped.add(row.job)
                self._notify(
                    f"job {row.job} is a job array or heterogeneous job; left alone: release it with scontrol"
                )

    def _is_new(self, job: int, why: str) -> bool:
        before = self._reported.get(job)
        self._reported[job] = why
        return before != why
