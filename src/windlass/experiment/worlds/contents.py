"""What a workload holds, for who wants to know before it runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Content:
    """So many jobs, tasks or queries of a workload.

    Parameters
    ----------
    noun
        What they are, in the singular.
    count
        How many.
    first, last
        When the first and the last of them comes, s; of what is drawn as it runs, about when.
    """

    noun: str
    count: int
    first: float = math.nan
    last: float = math.nan


@dataclass(frozen=True, slots=True)
class Contents:
    """All that a workload holds, and what was left out of it or changed, a line each."""

    contents: tuple[Content, ...]
    notes: tuple[str, ...] = ()


def content_of(noun: str, times: NDArray[np.float64]) -> Content:
    """Those that come at these times, s.

    >>> content_of("job", np.array([3.0, 9.0]))
    Content(noun='job', count=2, first=3.0, last=9.0)
    """
    if not len(times):
        return Content(noun, 0)
    return Content(noun, len(times), float(times.min()), float(times.max()))
