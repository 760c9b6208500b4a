"""A batch system in virtual time that reports starts and ends with the delays observed on a real one.

A simulator knows at once that a job runs. A real engine learns of it later, and predicts the job's end from then on. So
the predicted ends of two jobs can be in the opposite order of their releases. Running the same engine and policy with
these delays, and nothing else of the real system, shows whether the delays cause two schedules to differ.
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


class DelayedSystem:
    """Runs jobs in virtual time; each starts and ends as long after its release as it did in a real run.

    Parameters
    ----------
    jobs
        Jobs, all submitted at time 0.
    seen
        Observations of the same jobs in a real run.
    processors
        Processors of the site.
    """

    def __init__(self, jobs: JobTable, seen: Observed, processors: int) -> None:
        self.processors, self._time = processors, 0.0
        self._row = {job: row for row, job in enumerate(jobs.job.tolist())}
        self._seen = seen
        columns = zip(jobs.job.tolist(), jobs.procs.tolist(), jobs.request.tolist(), strict=True)
        self._events: list[Event] = [Submitted(job, 0.0, procs, request) for job, procs, request in columns]
        self._events.append(NoMore())
        self._coming: list[tuple[float, int, int, Event]] = []

    def now(self) -> float:
        """Virtual time, s."""
        return self._time

    def poll(self, timeout: float) -> list[Event]:
        """Return the events since the last call; events of one instant are returned together."""
        if not self._events and timeout > 0 and self._coming:
            self._time = self._coming[0][0]
            while self._coming and self._coming[0][0] == self._time:
                self._events.append(heapq.heappop(self._coming)[3])
        elif not self._events and timeout > 0:
            self._time += timeout
        events, self._events = self._events, []
        return events

    def start(self, jobs: Sequence[int]) -> Mapping[int, str]:
        """Schedule the starts and ends of jobs with the observed delays; no job is refused."""
        for job in jobs:
            row = self._row[job]
            reported, occupied, started = (
                float(column[row])
                for column in (self._seen.reported, self._seen.occupied, self._seen.started)
            )
            # If the start and the end were reported together, the start comes first.
            heapq.heappush(
                self._coming,
                (self._time + min(reported, occupied), 0, job, Started(job, self._time + started)),
            )
            heapq.heappush(self._coming, (self._time + occupied, 1, job, Ended(job, self._time + occupied)))
        return {}

    def describe(self, jobs: Sequence[int]) -> str:
        """Return which jobs would be released, as text."""
        return f"release {', '.join(str(job) for job in jobs)}"

    def close(self) -> None:
        """Do nothing: no process or connection is open."""


def delayed_releases(
    jobs: JobTable, seen: Observed, processors: int, policy: SitePolicy
) -> NDArray[np.float64]:
    """Return when the engine releases each job in virtual time, s after the first decision."""
    run = drive(LiveSite(DelayedSystem(jobs, seen, processors)), {"order": policy})
    released: NDArray[np.float64] = run.released[np.argsort(run.job)]
    return released
