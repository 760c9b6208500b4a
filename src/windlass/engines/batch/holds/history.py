"""Past actions on jobs, as recorded in the journal, compared with the jobs that the system lists now."""

from __future__ import annotations

from collections.abc import Mapping

from windlass.engines.batch.holds.entries import HeldAgain, Lifted, Lifting, NoLongerListed
from windlass.engines.batch.holds.journal import HoldRecord
from windlass.engines.batch.holds.site import HeldJob, HoldPhase


class HoldPast:
    """The actions of drivers on each job.

    A system numbers jobs from the start again after it has lost its data, or after its largest number. The time of
    submission is therefore compared as well; the number of runs shows whether a job was requeued.

    Parameters
    ----------
    journal
        The journal.
    """

    def __init__(self, journal: HoldRecord) -> None:
        self._journal = journal

    def was_released(self, job: HeldJob) -> bool:
        """Return whether a job without a driver's hold was released by a driver, and not requeued since."""
        left = self._journal.standing.under_way.get(job.job)
        return left is not None and (left.created, left.runs) == (job.created, job.runs)

    def hold_reason(self, job: HeldJob) -> str:
        """Return why a waiting job without a driver's hold must be held again; empty if it need not be.

        It was requeued after a driver had released it, or an earlier driver was about to hold it. A job that others
        have released after it was held again stays as it is.
        """
        standing = self._journal.standing
        intent = standing.holding.get(job.job)
        if intent is not None and intent.created == job.created:
            return intent.why or "it was to be held"
        last = self._last(job)
        requeued = last is not None and last.created == job.created and job.runs > last.runs
        return "it was requeued" if requeued else ""

    def is_others(self, job: HeldJob) -> bool:
        """Return whether others set the driver's kind of hold of a job after its release."""
        standing = self._journal.standing
        withheld = standing.withheld.get(job.job)
        if withheld is not None:
            return withheld.created == job.created
        last = standing.released.get(job.job) or standing.under_way.get(job.job)
        if last is None or last.created != job.created:
            return False
        return job.job in standing.released or job.runs > last.runs

    def settle(self, jobs: Mapping[str, HeldJob], now: float) -> None:
        """Record the released jobs that have ended, and drop what is known about other jobs that are gone.

        Parameters
        ----------
        jobs
            All jobs that the system lists.
        now
            Unix time, s.
        """
        standing = self._journal.standing
        gone: list[NoLongerListed] = []
        for job, left in standing.under_way.items():
            row = jobs.get(job)
            if row is None or row.phase is HoldPhase.OVER:
                gone.append(NoLongerListed(now, job, "it ended, or was deleted"))
            elif row.created != left.created:
                gone.append(NoLongerListed(now, job, "another job has its number"))
        held = [
            HeldAgain(now, job, left.created, left.runs)
            for job, left in standing.holding.items()
            if job in jobs and jobs[job].held and jobs[job].created == left.created
        ]
        self._journal.append(*gone, *held)
        for job in standing.jobs() - standing.under_way.keys() - jobs.keys():
            standing.forget(job)

    def _last(self, job: HeldJob) -> Lifting | Lifted | HeldAgain | None:
        standing = self._journal.standing
        return standing.under_way.get(job.job) or standing.released.get(job.job) or standing.held.get(job.job)
