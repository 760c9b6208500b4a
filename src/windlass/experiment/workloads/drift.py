"""Changes of workers' speeds during a run: random permutations at intervals, or a measured series."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces.volatility import read_volatility
from windlass.model import InputError
from windlass.model.timetable import WorkerTimetable

#: Points in time at which speeds follow a log of scores.
_POINTS = 200


def shocks(speeds: object, every: float, until: float, rng: np.random.Generator) -> WorkerTimetable:
    """Return a timetable of shocks: at regular intervals, the speeds are randomly permuted.

    Parameters
    ----------
    speeds
        (n,) the speeds, work/s.
    every
        Time between two shocks, and before the first, s.
    until
        No shock is later than this, s.
    rng
        The random generator.

    Raises
    ------
    InputError
        A time is out of bounds.

    Examples
    --------
    >>> shocks([1.0, 2.0], every=5.0, until=11.0, rng=np.random.default_rng(1)).time.tolist()
    [5.0, 5.0, 10.0, 10.0]
    """
    if not 0 < every < np.inf:
        raise InputError(f"every is {every}, expected a finite time above 0")
    if not 0 <= until < np.inf:
        raise InputError(f"until is {until}, expected a finite time of at least 0")
    base = np.array(speeds, dtype=np.float64)
    times = np.arange(1, int(until / every) + 1) * every
    dealt = [rng.permutation(base) for _ in times]
    return WorkerTimetable.speeds(
        np.repeat(times, len(base)),
        np.tile(np.arange(len(base)), len(times)),
        np.concatenate(dealt) if dealt else [],
    )


def drift(speeds: object, series: object, step: float) -> WorkerTimetable:
    """Return a timetable of drift: speeds follow measured series, each relative to its mean.

    Parameters
    ----------
    speeds
        (n,) mean speed of each worker, work/s.
    series
        (k, m) measurements, at least 0 with a mean above 0; worker i follows row i modulo k.
    step
        Time between two measurements, s.

    Raises
    ------
    InputError
        A measurement or the step is out of bounds.

    Examples
    --------
    >>> drift([2.0], [[1.0, 3.0]], step=60.0).value.tolist()
    [1.0, 3.0]
    """
    base = np.array(speeds, dtype=np.float64)
    rows = np.atleast_2d(np.array(series, dtype=np.float64))
    if not (np.isfinite(rows).all() and (rows >= 0).all() and (rows.mean(axis=1) > 0).all()):
        raise InputError("series: expected finite numbers of at least 0, with a mean above 0 in each row")
    if not 0 < step < np.inf:
        raise InputError(f"step is {step}, expected a finite time above 0")
    relative = rows / rows.mean(axis=1, keepdims=True)
    paths = base[:, None] * relative[np.arange(len(base)) % len(rows)]
    points = rows.shape[1]
    return WorkerTimetable.speeds(
        np.repeat(np.arange(points) * step, len(base)),
        np.tile(np.arange(len(base)), points),
        paths.T.ravel(),
    )


def speed_changes(
    speeds: NDArray[np.float64],
    shocks_every: float | None,
    scores: Path | None,
    last: float,
    rng: np.random.Generator,
) -> WorkerTimetable:
    """Return the changes of speeds of a scenario: permutations, and those of a log of benchmark scores.

    Parameters
    ----------
    speeds
        (n,) speed of each worker, work/s.
    shocks_every
        Interval at which the speeds are permuted, s; None for never.
    scores
        A log of benchmark scores, stretched over the time until ``last``; None for none.
    last
        Time of the last change, s.
    rng
        The random generator of permutations.

    Raises
    ------
    InputError
        The log cannot be read.

    Examples
    --------
    >>> speed_changes(np.array([1.0, 2.0]), 5.0, None, 11.0, np.random.default_rng(1)).time.tolist()
    [5.0, 5.0, 10.0, 10.0]
    """
    found = WorkerTimetable.none()
    if shocks_every is not None:
        found += shocks(speeds, shocks_every, last, rng)
    if scores is not None:
        found += drift(speeds, read_volatility(scores, _POINTS), max(last, 1e-9) / _POINTS)
    return found
