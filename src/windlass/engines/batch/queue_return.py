"""The result of giving a queue back to the batch system's own scheduler, and its lines of the log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from windlass.engines.batch.batches import listed
from windlass.engines.batch.log_entry import LogEntry
from windlass.engines.batch.status import DriverStatus
from windlass.engines.batch.undisturbed import undisturbed
from windlass.model import BatchError, InputError

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


def report_return(
    give_back: Callable[[], QueueReturn[_Job]],
    system: str,
    by_hand: str,
    notify: Callable[[str], None],
    status: DriverStatus,
) -> None:
    """Give a queue back at the end of a driver, and log what was released and what may still be held.

    Parameters
    ----------
    give_back
        Releases the jobs; no signal disturbs it.
    system
        The system's name.
    by_hand
        What an operator does about jobs that stay held.
    notify
        Called with each line.
    status
        Receives the number of jobs that may still be held.
    """
    with undisturbed():
        try:
            found = give_back()
        except (BatchError, InputError) as error:
            status.left_held = max(1, status.waiting + status.stuck)
            notify(LogEntry.of(f"jobs may still be held; {by_hand}: {error}", "still_held"))
            return
    status.left_held = len(found.held)
    if found.released:
        line = f"given back to {system}: {listed(found.released)}"
        notify(LogEntry.of(line, "given_back", jobs=list(found.released)))
    if found.held:
        notify(LogEntry.of(f"{found.problem()}; {by_hand}", "still_held", jobs=list(found.held)))
