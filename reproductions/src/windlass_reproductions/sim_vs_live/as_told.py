"""A batch system in virtual time that tells of starts and ends as late as a real one did.

A simulator knows at once that a job runs. A real engine hears of it later, and expects the job's end from then on. So
two jobs that were let go one after the other may be expected to end the other way round. Whether that is why two
schedules part is seen here: the same engine, the same policy, and nothing else of the real system.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.drive import drive
from windlass.engines.batch.engine import LiveSite
from windlass.engines.batch.system import Ended, Event, NoMore, Started, Submitted
from windlass.model import JobTable
from windlass.order.site import SitePolicy
from windlass_reproductions.sim_vs_live.site_case import Observed


class AsTold:
    """Runs jobs in virtual time; each starts and ends as long after it was let go as it was seen to for real.

    Parameters
    ----------
    jobs
        All submitted at once.
    seen
        What was seen of them.
    processors
        Of the site.
    """

    def __init__(self, jobs: JobTable, seen: Observed, processors: int) -> None:
        self.processors, self._time = processors, 0.0
        self._row = {job: row for row, job in enumerate(jobs.job.tolist())}
        self._seen = seen
        columns = zip(jobs.job.tolist(), jobs.procs.tolist(), jobs.request.tolist(), strict=True)
        self._told: list[Event] = [Submitted(job, 0.0, procs, request) for job, procs, request in columns]
        self._told.append(NoMore())
        self._coming: list[tuple[float, int, int, Event]] = []

    def now(self) -> float:
        """Virtual time, s."""
        return self._time

    def poll(self, timeout: float) -> list[Event]:
        """What has happened; what happens at one instant is told together."""
        if not self._told and timeout > 0 and self._coming:
            self._time = self._coming[0][0]
            while self._coming and self._coming[0][0] == self._time:
                self._told.append(heapq.heappop(self._coming)[3])
        elif not self._told and timeout > 0:
            self._time += timeout
        told, self._told = self._told, []
        return told

    def start(self, jobs: Sequence[int]) -> Mapping[int, str]:
        """Have jobs start, and end, when they are due."""
        for job in jobs:
            row = self._row[job]
            heard, held, began = (
                float(column[row]) for column in (self._seen.heard, self._seen.held, self._seen.began)
            )
            # A start that was heard of together with the end comes first.
            heapq.heappush(
                self._coming, (self._time + min(heard, held), 0, job, Started(job, self._time + began))
            )
            heapq.heappush(self._coming, (self._time + held, 1, job, Ended(job, self._time + held)))
        return {}

    def describe(self, jobs: Sequence[int]) -> str:
        """What would be let go."""
        return f"let go {', '.join(str(job) for job in jobs)}"

    def close(self) -> None:
        """Nothing was started."""


def let_go_as_told(
    jobs: JobTable, seen: Observed, processors: int, policy: SitePolicy
) -> NDArray[np.float64]:
    """When the engine lets each job go in virtual time, s after the first decision."""
    run = drive(LiveSite(AsTold(jobs, seen, processors)), {"order": policy})
    released: NDArray[np.float64] = run.released[np.argsort(run.job)]
    return released
