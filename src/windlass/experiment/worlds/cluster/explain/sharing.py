"""What a policy of sharing decided for one batch job: hosts, guests, quotas and evictions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from windlass.experiment.worlds.cluster.explain.attempts import JobAttempt
from windlass.experiment.worlds.cluster.explain.recorder import JobOfRun
from windlass.experiment.worlds.cluster.policies import Decision
from windlass.model import JobTable
from windlass.results.history import HistoryStep
from windlass.sim.shares.result import Shared
from windlass.sim.site.rated import RatedSite

_SHARE: Decision = "share"


class SharingNotes:
    """Notes on the answers of a policy of sharing that name one job.

    Parameters
    ----------
    job
        The job.
    row
        Its row in ``jobs``.
    jobs
        The jobs of its load and site.
    """

    def __init__(self, job: JobOfRun, row: int, jobs: JobTable) -> None:
        self._job, self._row = job, row
        self._row_of = {number: place for place, number in enumerate(jobs.job.tolist())}
        #: By time: speeds of the job, seconds of its run time that pass per second.
        self._speeds: dict[float, float] = {}
        #: By time: the policy's reason to requeue the job, which was a guest.
        self._backs: dict[float, str] = {}
        #: Times and rows of jobs that started as guests.
        self._guests: set[tuple[float, int]] = set()

    def note(self, now: float, answer: Any, site: RatedSite) -> None:
        """Take note of an answer that was carried out."""
        number = self._job.number
        for share in answer.shares:
            if number in (share.host, share.guest):
                self._speeds[now] = site.speed(self._row)
            guest = self._row_of[share.guest]
            if site.began(guest) == now:
                self._guests.add((now, guest))
        for back in answer.back:
            if number == back.guest:
                self._backs[now] = back.why

    def started(self, start: float, row: int) -> bool:
        """Return whether the job with this row started as a guest at this time, s."""
        return (start, row) in self._guests

    def evicted(self, end: float) -> str:
        """Return why the job was requeued for other jobs at this time (s); empty if it was not."""
        return self._backs.get(end, "")

    def steps(self, attempt: JobAttempt, shared: Shared, jobs: JobTable) -> Iterator[HistoryStep]:
        """Return a step for each quota of the job with another one during an attempt."""
        mine = (shared.host == self._row) | (shared.guest == self._row)
        within = (shared.start >= attempt.start) & (shared.start < attempt.end)
        for line in np.flatnonzero(mine & within).tolist():
            yield from self._line(line, attempt, shared, jobs)

    def _line(self, line: int, attempt: JobAttempt, shared: Shared, jobs: JobTable) -> Iterator[HistoryStep]:
        host, guest = int(shared.host[line]), int(shared.guest[line])
        quota, start, end = int(shared.quota[line]), float(shared.start[line]), float(shared.end[line])
        is_guest = guest == self._row
        partner = int(jobs.job[host if is_guest else guest])
        other = f"job {partner}"
        if is_guest:
            what = f"shares the cores of {other} as its guest, with {quota} % of their time"
        else:
            what = f"shares its cores with {other}, which gets {quota} % of their time"
        speed = self._speeds.get(start)
        why = shared.why[line]
        if speed is not None:
            why += f"; it runs at {100 * speed:.3g} % of its full speed"
        policy = self._job.policy(_SHARE, self._job.site)
        figures: dict[str, Any] = {
            "with": int(jobs.job[host if is_guest else guest]),
            "guest": is_guest,
            "quota": quota,
        }
        if speed is not None:
            figures["speed"] = speed
        yield HistoryStep(start, what, why, _SHARE, policy, figures)
        again = (shared.host == host) & (shared.guest == guest) & (shared.start == end)
        if end < attempt.end and not again.any():
            yield HistoryStep(
                end,
                f"{other} no longer shares cores with it",
                "it runs at full speed",
                figures={"with": figures["with"]},
            )
