"""Jobs in batches that fit a command line, and lists of jobs for messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

_Job = TypeVar("_Job")

#: Jobs of one command. At 10 digits each they take 11 kB, where Linux allows an argument 128 KiB; a batch system's
#: server handles them one after the other, and 1,000 stay within the time limit of a command.
BATCH = 1000


def batches(jobs: Sequence[_Job], size: int = BATCH) -> Iterator[Sequence[_Job]]:
    """Yield the jobs in order, at most ``size`` at a time.

    >>> list(batches([5, 3, 8], 2))
    [[5, 3], [8]]
    """
    for first in range(0, len(jobs), size):
        yield jobs[first : first + size]


def listed(jobs: Sequence[object], most: int = 20) -> str:
    """Return job numbers for a message; a long list is shortened.

    >>> listed([5, 7]), listed([1, 2, 3, 4], most=2)
    ('5, 7', '1, 2 and 2 more')
    """
    shown = ", ".join(str(job) for job in jobs[:most])
    return shown if len(jobs) <= most else f"{shown} and {len(jobs) - most:,} more"
