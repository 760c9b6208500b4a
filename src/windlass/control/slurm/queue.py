"""The queue of a live Slurm as replays see it: which jobs may start, on how many processors, and what ended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from windlass.control.predicted_starts import replay_policy
from windlass.control.site_status import MOST_PAST, PastJob, QueueStatus
from windlass.engines.slurm.log import EndedJob
from windlass.engines.slurm.models import JobRow, Phase
from windlass.engines.slurm.observer import SlurmPoll
from windlass.engines.slurm.sizes import processors_up
from windlass.experiment.start_times.live import requested
from windlass.experiment.worlds.policy import PolicySpec


def queue_processors(poll: SlurmPoll) -> int:
    """Return the processors that are up, or those that jobs hold if nodes with jobs were drained."""
    return max(processors_up(poll.nodes), _held(poll))


def may_start(row: JobRow, processors: int) -> bool:
    """Return whether a job waits, and starts when processors become idle."""
    free = not row.held or (row.opted_in and not row.barred)
    return row.phase is Phase.WAITS and free and not row.dependency and row.procs <= processors


@dataclass(frozen=True, slots=True)
class ReplayedQueue:
    """What a state has of the queue, so that it can be replayed.

    Parameters
    ----------
    order
        The policy that orders the queue; one from a file is replaced.
    ended
        Returns the last jobs that ended, the latest last.

    Examples
    --------
    >>> queue = ReplayedQueue(PolicySpec(name="fcfs"), lambda: [])
    >>> queue.of(SlurmPoll(5.0, [], [], {}))
    QueueStatus(policy='fcfs', parameters={}, free=0, past=())
    """

    order: PolicySpec
    ended: Callable[[], Sequence[EndedJob]]

    def of(self, poll: SlurmPoll) -> QueueStatus:
        """Return the queue at a poll."""
        policy = replay_policy(self.order)
        past = [job for job in self.ended() if job.end <= poll.now][-MOST_PAST:]
        return QueueStatus(
            policy.name,
            dict(policy.parameters),
            queue_processors(poll) - _held(poll),
            tuple(map(_past, past)),
        )


def _past(job: EndedJob) -> PastJob:
    return PastJob(job.submit, job.start, job.end, job.procs, requested(job.request))


def _held(poll: SlurmPoll) -> int:
    return sum(row.procs for row in poll.jobs if row.phase is Phase.RUNS)
