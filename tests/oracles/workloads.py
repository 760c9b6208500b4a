"""Small workloads with edge cases: ties, jobs of zero length or full width, and wrong requests."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from windlass.model import JobTable

#: The same examples in every run, no database, and no deadline because the first use compiles.
CHECK = settings(deadline=None, derandomize=True, database=None, max_examples=60)

#: Length of a unit of the drawn integers (s): whole seconds make ties, fractions test rounding.
_UNITS = (1.0, 1.0, 0.1, 1 / 3)


class Case(NamedTuple):
    """Jobs, and the processors they run on."""

    jobs: JobTable
    processors: int


def case(
    processors: int,
    submit: list[float],
    run: list[float],
    procs: list[int],
    request: list[float] | None = None,
) -> Case:
    """Return a case from explicit columns.

    >>> case(4, [0], [1], [4]).processors
    4
    """
    return Case(JobTable.of(submit, run, procs, request), processors)


# The head, five wide, waits for W (1) to end at 100; so do V, V (2, 2) and, once backfilled, B (3).
EASY_TIES = case(
    9,
    [0, 0, 0, 1, 1, 1, 2],
    [100, 100, 100, 10, 99, 500, 1],
    [1, 2, 2, 5, 3, 1, 9],
    [100, 100, 100, 10, 99, 500, 1],
)


@st.composite
def cases(draw: st.DrawFn, *, zero_requests: bool = True, most: int = 14) -> Case:
    """Up to ``most`` jobs on 1 to 9 processors; job numbers are not row numbers."""
    processors = draw(st.sampled_from([1, 2, 3, 4, 5, 9]))
    count = draw(st.integers(0, most))
    unit = draw(st.sampled_from(_UNITS))
    gaps = st.just(0) if draw(st.booleans()) and draw(st.booleans()) else st.integers(0, 4)
    widths = st.one_of(st.integers(1, processors), st.just(processors), st.just(1))
    # Above, below and exactly the run time; the last is the likeliest.
    slacks = st.sampled_from([0, 0, 0, 1, 2, 5, 20, -1, -3, -20])
    columns = [
        draw(st.lists(each, min_size=count, max_size=count))
        for each in (gaps, st.integers(0, 8), widths, slacks)
    ]
    gap, run, procs, slack = (np.array(column, dtype=np.int64) for column in columns)
    request = np.maximum(run + slack, 0 if zero_requests else 1)
    jobs = JobTable.of(
        np.cumsum(gap) * unit, run * unit, procs, request * unit, job=1000 - np.arange(count) * 3
    )
    return Case(jobs, processors)


def busy(seed: int, *, jobs: int = 300, processors: int = 16, whole: bool = True) -> Case:
    """Return a case with a longer queue: a load slightly above one, and whole or fractional seconds.

    >>> len(busy(0).jobs)
    300
    """
    rng = np.random.default_rng(seed)
    procs = np.minimum(2 ** rng.integers(0, 5, jobs) + rng.integers(0, 2, jobs), processors)
    run = rng.exponential(30, jobs)
    request = run * rng.choice([1.0, 1.0, 1.5, 4.0, 0.7], jobs)
    submit = np.cumsum(rng.exponential(30 * procs.mean() / processors, jobs))
    if whole:
        submit, run, request = np.floor(submit / 5), np.floor(run / 5), np.ceil(request / 5) + 1
    return Case(JobTable.of(submit, run, procs, request), processors)
