"""The result of giving a queue back to the batch system's own scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from windlass.engines.batch.batches import listed

_Job = TypeVar("_Job")


@dataclass(frozen=True, slots=True)
class QueueReturn(Generic[_Job]):
    """The jobs that were given back, and those that may still be held.

    Parameters
    ----------
    released
        Released jobs, in order of their numbers.
    held
        Jobs that could not be released, with the reason of each.
    """

    released: tuple[_Job, ...] = ()
    held: Mapping[_Job, str] = field(default_factory=dict)

    def problem(self) -> str:
        """Return a message that names the jobs that stay held; empty if there are none.

        >>> QueueReturn((), {7: "denied", 9: "denied", 8: "no answer"}).problem()
        'jobs 7, 9 stay held: denied; job 8 stays held: no answer'
        """
        jobs_of: dict[str, list[_Job]] = {}
        for job, why in self.held.items():
            # The message of Slurm or PBS about a job ends with its number, which is at the beginning of the line.
            own = why.removesuffix(f" for job {job}").removesuffix(f" {job}")
            jobs_of.setdefault(own, []).append(job)
        return "; ".join(
            f"{'jobs' if len(jobs) > 1 else 'job'} {listed(jobs)} {'stay' if len(jobs) > 1 else 'stays'} held: {why}"
            for why, jobs in jobs_of.items()
        )
