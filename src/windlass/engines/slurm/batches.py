"""Commands of Slurm on many jobs: their argument, and each job's part of an error message."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: The longest error message of a job, characters: a message about a batch may name each of its jobs.
_LONGEST = 300
#: A message about one job, as in "Access/permission denied for job 7"; array tasks have names such as 7_1.
_OF_JOB = re.compile(r"(?P<why>[^\n]*?) for job (?P<job>\d+)\b")


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


def job_list(jobs: Sequence[int]) -> str:
    """Return jobs as an argument of ``scontrol``."""
    return ",".join(str(job) for job in jobs)
