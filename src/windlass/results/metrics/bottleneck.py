"""The resources that jobs lacked while they waited, and the used share of each resource."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WaitCauses:
    """The total wait of jobs, divided by the resources that were short; shares add up to 1, NaN if no job waited.

    Parameters
    ----------
    wait
        Total wait of all jobs, s.
    alone
        (r,) share of the wait in which each resource was the only one of which less was free than the job requested.
    several
        Share in which several resources were short.
    nothing
        Share in which the job's whole request was free, but the policy did not start it.
    """

    wait: float
    alone: tuple[float, ...]
    several: float
    nothing: float


def _free_over_time(start: _Floats, end: _Floats, needs: _Ints, amount: _Ints) -> tuple[_Floats, _Ints]:
    """Return (m,) the times at which free amounts change, s, from minus infinity on, and (r, m) the amounts then."""
    at, place = np.unique(np.concatenate((start, end)), return_inverse=True)
    change = np.zeros((len(amount), len(at) + 1), np.int64)
    for resource, requested in enumerate(needs):
        np.add.at(change[resource], place + 1, np.concatenate((-requested, requested)))
    change[:, 0] = amount
    return np.concatenate(([-np.inf], at)), change.cumsum(axis=1)


def wait_causes(submit: _Floats, start: _Floats, end: _Floats, needs: _Ints, amount: _Ints) -> WaitCauses:
    """Divide the total wait of jobs by the resources that were short.

    At each time between submission and start, a resource is short if less of it is free than the job requests.

    Parameters
    ----------
    submit, start, end
        (n,) times of each job, s.
    needs
        (r, n) request of each job for each of r resources.
    amount
        (r,) total amount of each resource.

    Examples
    --------
    >>> start, end = np.array([0.0, 4.0]), np.array([4.0, 5.0])
    >>> found = wait_causes(np.zeros(2), start, end, needs=np.array([[1, 1], [2, 1]]), amount=np.array([4, 2]))
    >>> found.wait, found.alone
    (4.0, (0.0, 1.0))
    """
    times, free = _free_over_time(start, end, needs, amount)
    first = np.searchsorted(times, submit, side="right") - 1
    last = np.searchsorted(times, start, side="left")
    until = np.append(times[1:], np.inf)
    alone, several, nothing = np.zeros(len(amount)), 0.0, 0.0
    for row in np.flatnonzero(start > submit):
        steps = slice(first[row], last[row])
        length = np.minimum(until[steps], start[row]) - np.maximum(times[steps], submit[row])
        short = free[:, steps] < needs[:, row, None]
        many = short.sum(axis=0)
        alone += (short & (many == 1)) @ length
        several += float(length[many > 1].sum())
        nothing += float(length[many == 0].sum())
    wait = float((start - submit).sum())
    if wait == 0:
        return WaitCauses(0.0, (math.nan,) * len(amount), math.nan, math.nan)
    return WaitCauses(wait, tuple((alone / wait).tolist()), several / wait, nothing / wait)


def used_shares(start: _Floats, end: _Floats, needs: _Ints, amount: _Ints, submit: _Floats) -> _Floats:
    """Return (r,) the used share of each resource between the first submission and the last end, 0 to 1.

    Parameters
    ----------
    start, end, needs, amount, submit
        See :func:`wait_causes`.

    Examples
    --------
    >>> used_shares(np.zeros(1), np.array([4.0]), np.array([[1], [2]]), np.array([4, 2]), np.zeros(1)).tolist()
    [0.25, 1.0]
    """
    span = float(end.max() - submit.min())
    work = (needs * (end - start)).sum(axis=1)
    found: _Floats = work / (np.maximum(amount, 1) * span) if span > 0 else np.zeros(len(amount))
    return found
