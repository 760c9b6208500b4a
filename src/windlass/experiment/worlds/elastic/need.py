"""Instances over time against those that jobs need, as series that the report stacks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from windlass.report.series import binned, steps
from windlass.results import INSTANCES, Series
from windlass.sim.instances.result import Scaled

#: Maximum number of values of a series: each is a mean.
_MOST: Final = 2000
_Floats = NDArray[np.float64]


def need_series(done: Scaled) -> Iterator[Series]:
    """Yield the instances that running and waiting jobs need, and those that are paid for, over time.

    A job needs its share of an instance; a job larger than any needs several.

    Parameters
    ----------
    done
        A finished run.
    """
    if not len(done.start) or done.finish <= done.begin:
        return
    edges = np.linspace(done.begin, done.finish, _MOST + 1)
    running = _mean(done.start, done.end, done.shares, edges)
    waiting = _mean(done.jobs.submit, done.start, done.shares, edges)
    gone = np.where(np.isnan(done.launches.gone), done.finish, done.launches.gone)
    paid = _mean(done.launches.launched, gone, np.ones(len(gone)), edges)
    for name, load, value in (
        ("instances that running jobs need", "running jobs", running),
        ("instances that waiting jobs need", "waiting jobs", waiting),
        ("instances paid for", "", paid),
    ):
        yield Series(name, edges, value, False, INSTANCES, load)


def _mean(begin: _Floats, end: _Floats, amount: _Floats, edges: _Floats) -> _Floats:
    """Return the mean between two edges of the sum of the amounts that are held from a time to another."""
    # Sums of shares may end slightly below 0 by rounding.
    return np.maximum(binned(steps(begin, end, amount), edges).mean, 0.0)
