"""Which resource jobs lacked while they waited, and how much of each was in use."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Lacked:
    """Parts of the time that jobs waited, 0 to 1, which add up to 1; NaN where none waited.

    Parameters
    ----------
    wait
        How long all jobs waited, added up, s.
    alone
        (r,) while a resource was the only one of which less was free than the job asked for.
    several
        While there were several such resources.
    nothing
        While all that the job asked for was free, and the policy kept it for others.
    """

    wait: float
    alone: tuple[float, ...]
    several: float
    nothing: float


def _free_over_time(start: _Floats, end: _Floats, needs: _Ints, amount: _Ints) -> tuple[_Floats, _Ints]:
    """When what is free changes, s, minus infinity first; and (r, m) what is free from then on."""
    at, place = np.unique(np.concatenate((start, end)), return_inverse=True)
    change = np.zeros((len(amount), len(at) + 1), np.int64)
    for resource, asked in enumerate(needs):
        np.add.at(change[resource], place + 1, np.concatenate((-asked, asked)))
    change[:, 0] = amount
    return np.concatenate(([-np.inf], at)), change.cumsum(axis=1)


def lacked(submit: _Floats, start: _Floats, end: _Floats, needs: _Ints, amount: _Ints) -> Lacked:
    """What jobs lacked while they waited.

    At each time between submission and start, a job lacks a resource of which less is free than it asks for.

    Parameters
    ----------
    submit, start, end
        (n,) s.
    needs
        (r, n) what each asks for of r resources.
    amount
        (r,) what there is.

    Examples
    --------
    >>> start, end = np.array([0.0, 4.0]), np.array([4.0, 5.0])
    >>> found = lacked(np.zeros(2), start, end, needs=np.array([[1, 1], [2, 1]]), amount=np.array([4, 2]))
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
        return Lacked(0.0, (math.nan,) * len(amount), math.nan, math.nan)
    return Lacked(wait, tuple((alone / wait).tolist()), several / wait, nothing / wait)


def used(start: _Floats, end: _Floats, needs: _Ints, amount: _Ints, submit: _Floats) -> _Floats:
    """(r,) which part of each resource was in use between the first submission and the last end, 0 to 1.

    Parameters
    ----------
    start, end, needs, amount, submit
        As of :func:`lacked`.

    Examples
    --------
    >>> used(np.zeros(1), np.array([4.0]), np.array([[1], [2]]), np.array([4, 2]), np.zeros(1)).tolist()
    [0.25, 1.0]
    """
    span = float(end.max() - submit.min())
    work = (needs * (end - start)).sum(axis=1)
    found: _Floats = work / (np.maximum(amount, 1) * span) if span > 0 else np.zeros(len(amount))
    return found
