"""Commands on many jobs: batches that fit a command line, and each job's part of an error message."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

#: Jobs of one command. At 10 digits each they take 11 kB, where Linux allows an argument 128 KiB; Slurm's controller
#: handles them one after the other, and 1,000 stay within the time limit of a command.
BATCH = 1000
#: The longest error message of a job, characters: a message about a batch may name each of its jobs.
_LONGEST = 300
#: A message about one job, as in "Access/permission denied for job 7"; array tasks have names such as 7_1.
_OF_JOB = re.compile(r"(?P<why>[^\n]*?) for job (?P<job>\d+)\b")


def batches(jobs: Sequence[int], size: int = BATCH) -> Iterator[Sequence[int]]:
    """Yield the jobs in order, at most ``size`` at a time.

    >>> list(batches([5, 3, 8], 2))
    [[5, 3], [8]]
    """
    for first in range(0, len(jobs), size):
        yield jobs[first : first + size]


def refusals(jobs: Sequence[int], error: str) -> dict[int, str]:
    """Return an error message for each job of a command that failed.

    Slurm names the refused jobs in most messages, and continues with the others. Which of the others it changed is
    unknown from the message, so each of them has the whole message, shortened.

    Parameters
    ----------
    jobs
        The jobs of the command.
    error
        Its error message.

    Examples
    --------
    >>> refusals([5, 7], "Access/permission denied for job 7")
    {5: 'Access/permission denied for job 7', 7: 'Access/permission denied for job 7'}
    """
    own = {int(found["job"]): found[0].strip()[:_LONGEST] for found in _OF_JOB.finditer(error)}
    whole = error if len(error) <= _LONGEST else f"{error[:_LONGEST]} …"
    return {job: own.get(job, whole) for job in jobs}


def listed(jobs: Sequence[int], most: int = 20) -> str:
    """Return job numbers for a message; a long list is shortened.

    >>> listed([5, 7]), listed([1, 2, 3, 4], most=2)
    ('5, 7', '1, 2 and 2 more')
    """
    shown = ", ".join(str(job) for job in jobs[:most])
    return shown if len(jobs) <= most else f"{shown} and {len(jobs) - most:,} more"


def job_list(jobs: Sequence[int]) -> str:
    """Return jobs as an argument of ``scontrol``."""
    return ",".join(str(job) for job in jobs)
