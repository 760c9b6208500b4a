"""The contents of a workload, for display before a run."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Content:
    """A number of jobs, tasks or queries in a workload.

    Parameters
    ----------
    noun
        Its name, such as "job", "task" or "query".
    count
        Their number.
    first, last
        Arrival of the first and the last, s; approximate if arrivals are drawn during the run.
    """

    noun: str
    count: int
    first: float = math.nan
    last: float = math.nan


@dataclass(frozen=True, slots=True)
class Contents:
    """All contents of a workload, and a line about each omission or change."""

    contents: tuple[Content, ...]
    notes: tuple[str, ...] = ()


def content_of(noun: str, times: NDArray[np.float64]) -> Content:
    """Return the content for items that arrive at these times, s.

    >>> content_of("job", np.array([3.0, 9.0]))
    Content(noun='job', count=2, first=3.0, last=9.0)
    """
    if not len(times):
        return Content(noun, 0)
    return Content(noun, len(times), float(times.min()), float(times.max()))
