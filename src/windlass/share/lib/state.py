"""How a running job is doing: will it make its walltime, and how much did sharing slow it?"""

from __future__ import annotations

import math

from windlass.model import InputError
from windlass.share.allocation import Allocation

#: What a loss can be told from; see :func:`slowdown`.
MEASURES = ("walltime", "progress", "wait")


def happiness(host: Allocation) -> float:
    """The time left over the time still needed: from 1 on, the job will make its walltime.

    The printed formula multiplies the time left by the tasks left and divides by tasks/s, which is s² and has no
    threshold at 1. Its text compares with 1.0 and 1.1, and so does this: (walltime - t) / (tasks left / rate). Past
    its walltime a job has no time left; the printed absolute value would make it happier the later it is.

    Source: ASAx, Section 3.1, Equation 1.

    Parameters
    ----------
    host
        ``tasks_left`` and ``rate`` are looked at.

    Returns
    -------
    float
        0 for a job that will not end, infinity for one with no task left, NaN where tasks are not known.

    Examples
    --------
    >>> happiness(Allocation(1, "montage", 4, 8e9, 100.0, 40.0, cpu=10.0, memory_used=5.0, tasks_left=25.0, rate=0.5))
    1.2
    """
    if math.isnan(host.tasks_left) or math.isnan(host.rate):
        return math.nan
    if host.tasks_left == 0.0:
        return math.inf
    return max(0.0, host.walltime - host.elapsed) * host.rate / host.tasks_left


def slowdown(host: Allocation, measure: str, ended: bool = False, killed: bool = False) -> float:
    """How much longer the job takes than it should, as a part of that: 0.5 is half as long again.

    Parameters
    ----------
    host
        As it is now.
    measure
        ``walltime``: its runtime over its walltime; while it runs, of the runtime that its rate promises. ``progress``:
        its task rate alone over the present one. ``wait``: of its own time, the part in which it waited for a core.
    ended, killed
        Whether ``host.elapsed`` is its runtime, and whether that is so because it was killed at its walltime.

    Returns
    -------
    float
        At least 0; infinity for a job that was killed or stands still; NaN where what it takes was not measured.

    Raises
    ------
    InputError
        There is no such measure.

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
        # max() would take 0 over a NaN: not knowing would read as no slowdown.
        return runtime if math.isnan(runtime) else max(0.0, runtime / host.walltime - 1.0)
    if measure == "progress":
        by_rate = ratio(host)
        return by_rate if math.isnan(by_rate) else max(0.0, by_rate)
    return math.inf if host.waited == 100.0 else 1.0 / (1.0 - host.waited / 100.0) - 1.0


def ratio(host: Allocation) -> float:
    """The job's task rate alone over the present one, less 1; below 0 for one that is faster than it was.

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
    """A slowdown as a loss of 0 to 1: 1 for ``full`` and more (ASAx, Section 4.4, takes half as long again).

    >>> loss_of(0.1, full=0.5), loss_of(float("inf"), full=0.5)
    (0.2, 1.0)
    """
    return min(1.0, slower / full) if not math.isnan(slower) else math.nan


def _runtime(host: Allocation, ended: bool) -> float:
    """How long it ran, or will run if it goes on as it does; NaN where nobody can tell."""
    if ended or host.tasks_left == 0.0:
        return host.elapsed
    if math.isnan(host.tasks_left) or math.isnan(host.rate):
        return math.nan
    return host.elapsed + host.tasks_left / host.rate if host.rate > 0.0 else math.inf
