"""Happiness of a running job, and its slowdown by sharing."""

from __future__ import annotations

import math

from windlass.model import InputError
from windlass.share.allocation import Allocation

#: Measures of a slowdown; see :func:`slowdown`.
MEASURES = ("walltime", "progress", "wait")


def happiness(host: Allocation, rate: float | None = None) -> float:
    """Return the remaining time divided by the time still needed; at 1 or more the job will meet its walltime.

    The printed formula multiplies the remaining time by the remaining tasks and divides by tasks/s, which has
    the unit s² and no threshold at 1. Its text compares with 1.0 and 1.1, as this does: (walltime - t) /
    (tasks left / rate). After its walltime a job has no time left; the printed absolute value would rise with
    the delay.

    Source: ASAx, Section 3.1, Equation 1.

    Parameters
    ----------
    host
        Reads ``tasks_left``, ``rate``, ``walltime`` and ``elapsed``.
    rate
        Tasks per second instead of those of the host.

    Returns
    -------
    float
        0 for a job that will not finish, infinity for one without tasks left, NaN if tasks are unknown.

    Examples
    --------
    >>> happiness(Allocation(1, "montage", 4, 8e9, 100.0, 40.0, cpu=10.0, memory_used=5.0, tasks_left=25.0, rate=0.5))
    1.2
    """
    rate = host.rate if rate is None else rate
    if math.isnan(host.tasks_left) or math.isnan(rate):
        return math.nan
    if host.tasks_left == 0.0:
        return math.inf
    return max(0.0, host.walltime - host.elapsed) * rate / host.tasks_left


def slowdown(host: Allocation, measure: str, ended: bool = False, killed: bool = False) -> float:
    """Return how much longer the job takes than it should, as a fraction: 0.5 is 50 % longer.

    Parameters
    ----------
    host
        The current state of the host.
    measure
        ``walltime``: its runtime divided by its walltime; while it runs, the runtime that its task rate
        predicts. ``progress``: its task rate alone divided by the present one. ``wait``: from the part of the
        time in which it waited for a core.
    ended, killed
        Whether the job has ended, so that ``host.elapsed`` is its runtime, and whether it was killed at its
        walltime.

    Returns
    -------
    float
        At least 0; infinity for a job that was killed or stands still; NaN if the measure's input was not
        measured.

    Raises
    ------
    InputError
        The measure is unknown.

    Examples
    --------
    >>> host = Allocation(1, "montage", 4, 8e9, 100.0, 60.0, cpu=10.0, memory_used=5.0, tasks_left=30.0, rate=0.5,
    ...     rate_alone=0.6, waited=20.0)
    >>> [round(slowdown(host, measure), 3) for measure in MEASURES]
    [0.2, 0.2, 0.25]
    """
    if measure not in MEASURES:
        raise InputError(f"measure is {measure!r}, expected one of {', '.join(MEASURES)}")
    if killed:
        return math.inf
    if measure == "walltime":
        runtime = _runtime(host, ended)
        # max(0.0, nan) is 0.0, so an unknown runtime would count as no slowdown.
        return runtime if math.isnan(runtime) else max(0.0, runtime / host.walltime - 1.0)
    if measure == "progress":
        by_rate = ratio(host)
        return by_rate if math.isnan(by_rate) else max(0.0, by_rate)
    return math.inf if host.waited == 100.0 else 1.0 / (1.0 - host.waited / 100.0) - 1.0


def ratio(host: Allocation) -> float:
    """Return the job's task rate alone divided by the present one, less 1; below 0 if it is faster than before.

    >>> host = Allocation(1, "montage", 4, 8e9, 60.0, 6.0, cpu=10.0, memory_used=5.0, rate=0.4, rate_alone=0.5)
    >>> round(ratio(host), 2)
    0.25
    """
    if math.isnan(host.rate_alone) or math.isnan(host.rate):
        return math.nan
    if host.rate == 0.0:
        return math.inf if host.rate_alone > 0.0 else 0.0
    return host.rate_alone / host.rate - 1.0


def loss_of(slower: float, full: float) -> float:
    """Return a slowdown as a loss from 0 to 1; ``full`` or more is 1 (ASAx, Section 4.4, uses 0.5).

    >>> loss_of(0.1, full=0.5), loss_of(float("inf"), full=0.5)
    (0.2, 1.0)
    """
    return min(1.0, slower / full) if not math.isnan(slower) else math.nan


def _runtime(host: Allocation, ended: bool) -> float:
    """Return the job's runtime, or the one that its current rate predicts, s; NaN if unknown."""
    if ended or host.tasks_left == 0.0:
        return host.elapsed
    if math.isnan(host.tasks_left) or math.isnan(host.rate):
        return math.nan
    return host.elapsed + host.tasks_left / host.rate if host.rate > 0.0 else math.inf
