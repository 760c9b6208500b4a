"""Guests: jobs that run on another job's nodes, the changes made to them, and how these are undone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from windlass.engines.slurm.client import AwayError, Client
from windlass.engines.slurm.entries import Restored, Returning, Taking
from windlass.engines.slurm.history import Past
from windlass.engines.slurm.journal import Record
from windlass.engines.slurm.models import JobRow
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
        taking = Taking(self._clock(), row.job, host, quota, row.limit, until, row.submit, row.restarts)
        self._journal.append(taking)
        try:
            self._client.set_time_limit(row.job, max(row.limit, longest))
            self._client.update(row.job, ReqNodeList=",".join(nodes))
        except AwayError:
            raise
        except BatchError as error:
            return str(error)
        return ""

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

    def restore(self, rows: Iterable[JobRow]) -> None:
        """Restore the user's time limit and nodes of each of these jobs that waits again, held."""
        for row in rows:
            if not row.held or row.job not in self._journal.standing.taken:
                continue
            taken = self._past.taken(row)
            try:
                if taken is not None:
                    self._client.set_time_limit(row.job, taken.limit)
                    self._client.update(row.job, ReqNodeList="")
            except AwayError:
                raise
            except BatchError as error:
                self._notify(f"job {row.job} keeps a guest's time limit or nodes: {error}")
            self._journal.append(Restored(self._clock(), row.job))
