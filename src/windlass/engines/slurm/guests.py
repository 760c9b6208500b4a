"""Jobs that run on the nodes of others: what is changed of them for it, and undone when they wait again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from windlass.engines.slurm.client import AwayError, Client
from windlass.engines.slurm.entries import Restored, Returning, Taking
from windlass.engines.slurm.history import Past
from windlass.engines.slurm.journal import Record
from windlass.engines.slurm.models import JobRow
from windlass.model import BatchError


class Guests:
    """A guest has the nodes of its host and a longer time limit.

    Both are in the journal before they are changed. So whenever a driver ends, the next one knows what a job's user
    had asked for, and who shares with whom; and so does ``windlass slurm give-back``.

    Parameters
    ----------
    client
        Slurm.
    journal
        Where it is written.
    past
        The same journal, asked about jobs.
    tell
        Told in a line of what could not be undone.
    clock
        Says the Unix time, s.
    """

    def __init__(
        self,
        client: Client,
        journal: Record,
        past: Past,
        tell: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        self._client, self._journal, self._past = client, journal, past
        self._tell, self._clock = tell, clock

    def take_in(
        self, row: JobRow, host: int, nodes: Sequence[str], quota: int, longest: float, until: float
    ) -> str:
        """Give a held job the nodes of a running one and a longer time limit; why it cannot have them, or nothing.

        Parameters
        ----------
        row
            The job.
        host, nodes
            Whose nodes, and which.
        quota
            Percent, for a driver that comes after.
        longest
            Its time limit is at least so many seconds.
        until
            When it is promised to be gone, s.
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

    def put_back(self, row: JobRow, why: str) -> str:
        """Put a running job back in the queue, held; why it cannot be, or nothing. It is in the journal first."""
        self._journal.append(Returning(self._clock(), row.job, row.restarts, why))
        return self._client.requeue(row.job)

    def asked(self, row: JobRow) -> float:
        """The time limit that a job's user asked for, s."""
        taken = self._past.taken(row)
        return row.limit if taken is None else taken.limit

    def known(self) -> Mapping[int, Taking]:
        """Those that were taken in, and have not ended or been put back since, by whatever driver."""
        return dict(self._journal.standing.taken)

    def restore(self, rows: Iterable[JobRow]) -> None:
        """Have those of these jobs that wait again, held, be as their users submitted them."""
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
                self._tell(f"job {row.job} keeps a guest's time limit or nodes: {error}")
            self._journal.append(Restored(self._clock(), row.job))
