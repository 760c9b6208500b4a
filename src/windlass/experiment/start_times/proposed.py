"""A job that might be submitted, as the last of a history."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.start_times.history import SiteHistory
from windlass.io.traces import Workload
from windlass.io.traces.groups import Belongings, Members
from windlass.model import InputError, JobTable


@dataclass(frozen=True, slots=True)
class ProposedJob:
    """A job that might be submitted.

    Parameters
    ----------
    procs
        Processors, at least 1.
    request
        Requested run time, s, above 0.
    user
        Its user, by the name in the log; None for one that the log does not have.

    Raises
    ------
    InputError
        A value is not allowed.
    """

    procs: int
    request: float
    user: str | None = None

    def __post_init__(self) -> None:
        if not (self.procs >= 1 and self.procs % 1 == 0):
            raise InputError(f"procs is {self.procs}, expected a whole number of at least 1")
        if not 0 < self.request <= 1e9:
            raise InputError(f"request is {self.request} s, expected a time above 0 and at most 1e9 s")


def with_job(history: SiteHistory, job: ProposedJob, now: float) -> SiteHistory:
    """Return the jobs submitted by an instant, and the proposed one after them.

    Parameters
    ----------
    history
        The site's jobs.
    job
        The proposed job.
    now
        The instant, s.

    Raises
    ------
    InputError
        The log does not have the job's user.
    """
    workload, jobs = history.workload, history.workload.jobs
    known = np.arange(int(np.searchsorted(jobs.submit, now, side="right")))
    before = jobs.take(known)
    table = JobTable.of(
        submit=np.append(before.submit, now),
        run=np.append(before.run, job.request),
        procs=np.append(before.procs, job.procs),
        request=np.append(before.request, job.request),
    )
    user = workload.of.user
    return SiteHistory(
        Workload(table, workload.processors, of=_of_user(workload.of, known, user, job.user)),
        np.append(history.start[known], np.inf),
        np.append(history.end[known], np.inf),
    )


def _of_user(of: Belongings, known: NDArray[np.int64], user: Members | None, name: str | None) -> Belongings:
    """Return the owners of the jobs and of one more: it has the group and queues of its user's last job."""
    if user is None or name is None:
        return Belongings() if user is None else _appended(of, known, -1)
    if name not in user.names:
        raise InputError(f"user {name!r} is not in the log, expected one of its {len(user.names):,} users")
    own = known[user.number[known] == user.names.index(name)]
    return _appended(of, known, int(own[-1]) if len(own) else -1)


def _appended(of: Belongings, known: NDArray[np.int64], like: int) -> Belongings:
    """Return the owners of the known jobs and of one more: those of the row ``like``; unknown for -1."""
    taken: list[Members | None] = []
    for _, members in of.kinds():
        if members is None:
            taken.append(None)
            continue
        last = -1 if like < 0 else int(members.number[like])
        taken.append(Members(np.append(members.number[known], last), members.names))
    return Belongings(*taken)
