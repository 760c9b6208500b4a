"""Guests: jobs that run on another job's nodes, the changes made to them, and how these are undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import msgspec

from windlass.engines.backoff import NO_FAILURES, RetryState
from windlass.engines.batch.polled_jobs import ASIDE
from windlass.engines.slurm.client import AwayError, Client
from windlass.engines.slurm.entries import Restored, Returning, Taking
from windlass.engines.slurm.history import Past
from windlass.engines.slurm.journal import Record
from windlass.engines.slurm.models import JobRow, Phase
from windlass.engines.slurm.reasons import ASIDE_FOR_GOOD
from windlass.model import BatchError


class Guests:
    """Changes to guests, which get the nodes of their host and a longer time limit.

    Both changes are journaled before they are made. The next driver, or ``windlass slurm give-back``, can therefore
    restore a job's original limit and nodes and knows the pairs.

    Parameters
    ----------
    client
        Slurm.
    journal
        The journal to write to.
    past
        The same journal's history of jobs.
    notify
        Called with a line for each change that could not be undone.
    clock
        Returns the Unix time, s.
    """

    def __init__(
        self,
        client: Client,
        journal: Record,
        past: Past,
        notify: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        self._client, self._journal, self._past = client, journal, past
        self._notify, self._clock = notify, clock
        #: Jobs whose settings Slurm refused to revert.
        self._refused: dict[int, RetryState] = {}
        #: Jobs that this driver took in, and those of them that Slurm did not start as guests.
        self._tried: set[int] = set()
        self._unstarted: dict[int, RetryState] = {}

    def take_in(
        self, row: JobRow, host: int, nodes: Sequence[str], quota: int, longest: float, until: float
    ) -> str:
        """Give a held job the nodes of a running one and a longer time limit.

        Returns an error message, or an empty string.

        Parameters
        ----------
        row
            The job.
        host, nodes
            The running job, and its nodes.
        quota
            Its quota in percent, recorded for the next driver.
        longest
            The least time limit that it gets, s.
        until
            Its promised end, s.
        """
        if self.rests(row.job):
            return "Slurm did not start it as a guest, for example because its time limit was then too long"
        taking = Taking(self._clock(), row.job, host, quota, row.limit, until, row.submit, row.restarts)
        self._journal.append(taking)
        try:
            self._client.set_time_limit(row.job, max(row.limit, longest))
            self._client.update(row.job, ReqNodeList=",".join(nodes))
        except AwayError:
            raise
        except BatchError as error:
            return str(error)
        self._tried.add(row.job)
        return ""

    def rests(self, job: int) -> bool:
        """Return whether a job is no guest for a while, because Slurm did not start it as one."""
        return self._clock() < self._unstarted.get(job, NO_FAILURES).due

    def not_tried(self, job: int) -> None:
        """Note that a job was not released as a guest, so that its waiting says nothing about its limit."""
        self._tried.discard(job)

    def requeue(self, row: JobRow, why: str) -> str:
        """Requeue a running job, held, after journaling it; return an error message, or an empty string."""
        self._journal.append(Returning(self._clock(), row.job, row.restarts, why))
        return self._client.requeue(row.job)

    def requested_limit(self, row: JobRow) -> float:
        """Return the time limit that a job's user requested, s."""
        taken = self._past.taken(row)
        return row.limit if taken is None else taken.limit

    def known(self) -> Mapping[int, Taking]:
        """Return the guests, of any driver, that have neither ended nor been requeued."""
        return dict(self._journal.standing.taken)

    def as_requested(self, row: JobRow) -> JobRow:
        """Return a guest that waits again with the time limit of its user, which is about to be restored."""
        if not row.held or row.job not in self._journal.standing.taken:
            return row
        taken = self._past.taken(row)
        return row if taken is None else msgspec.structs.replace(row, limit=taken.limit)

    def restore(self, rows: Iterable[JobRow]) -> None:
        """Restore the user's time limit and nodes of each of these jobs that waits again, held.

        What Slurm refuses is reported once, and tried again after delays that grow.
        """
        for row in rows:
            if not row.held or row.job not in self._journal.standing.taken:
                continue
            taken, now = self._past.taken(row), self._clock()
            refused = self._refused.get(row.job, NO_FAILURES)
            if now < refused.due:
                continue
            errors = [] if taken is None else self._reverted(row.job, taken.limit)
            if not errors:
                self._journal.append(Restored(now, row.job))
                self._refused.pop(row.job, None)
                if taken is not None and row.job in self._tried and row.restarts == taken.restarts:
                    unstarted = self._unstarted.get(row.job, NO_FAILURES)
                    self._unstarted[row.job] = unstarted.failed(now, ASIDE_FOR_GOOD)
                self._tried.discard(row.job)
                continue
            if not refused.failures:
                self._notify(f"job {row.job} keeps a guest's time limit or nodes: {'; '.join(errors)}")
            self._refused[row.job] = refused.failed(now, ASIDE)

    def forget(self, rows: Mapping[int, JobRow]) -> None:
        """Forget the attempts on jobs that Slurm no longer lists, and on those that run."""
        waiting = {job for job, row in rows.items() if row.phase is Phase.WAITS}
        for attempts in (self._refused, self._unstarted):
            for job in attempts.keys() - waiting:
                del attempts[job]
        self._tried &= rows.keys()

    def _reverted(self, job: int, limit: float) -> list[str]:
        """Revert both changes of a guest, each on its own; return the errors of Slurm."""
        errors = []
        for change in (
            partial(self._client.set_time_limit, job, limit),
            partial(self._client.update, job, ReqNodeList=""),
        ):
            try:
                change()
            except AwayError:
                raise
            except BatchError as error:
                errors.append(str(error))
        return errors
