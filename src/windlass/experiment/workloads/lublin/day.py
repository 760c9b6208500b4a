"""Arrival times over a daily cycle of busy and quiet half hours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.workloads.lublin.kinds import JobKind

_HALF_HOUR = 1800.0
_HALF_HOURS = 48
_FIRST_HALF_HOUR = 11  # The gamma distribution starts in the quietest part of the night.
_LONGEST_LOG_GAP = 13.0


@dataclass(frozen=True, slots=True, eq=False)
class Day:
    """The daily cycle: weights of the half hours, from midnight, by which gaps are mapped to times.

    Gaps are measured in points. One point is half an hour of average activity: a busy half hour counts for more than
    one point, a quiet one for less, and a whole day for 48.

    Parameters
    ----------
    weights
        (48,) points of each half hour, mean 1.

    Examples
    --------
    >>> Day(np.ones(48)).times(np.array([0.0, 1.0, 50.0])).tolist()
    [0.0, 1800.0, 90000.0]
    """

    weights: NDArray[np.float64]

    @classmethod
    def of(cls, kind: JobKind) -> Day:
        """Return the daily cycle of a kind of jobs."""
        from scipy.special import gammainc  # loads much, and runs of logs do not need it

        half_hours = np.arange(_FIRST_HALF_HOUR, _FIRST_HALF_HOUR + _HALF_HOURS)
        edges = np.append(half_hours - 0.5, half_hours[-1] + 0.5)
        ends = gammainc(kind.day_shape, edges / kind.day_scale)
        weights = np.empty(_HALF_HOURS)
        weights[(half_hours - 1) % _HALF_HOURS] = np.diff(ends)
        return cls(weights / weights.mean())

    def times(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the times, s after the first midnight, at which these numbers of points have passed.

        Parameters
        ----------
        points
            (n,) points since the first midnight, not negative.

        Returns
        -------
        (n,) float64
            Times in s; they grow with the points.
        """
        passed = np.concatenate([[0.0], np.cumsum(self.weights)])
        days, rest = np.divmod(points, passed[-1])
        # The half hour that contains the rest, clipped as rounding may put the rest at the end of the day.
        half_hour = np.clip(np.searchsorted(passed, rest, side="right") - 1, 0, _HALF_HOURS - 1)
        within = (rest - passed[half_hour]) / self.weights[half_hour]
        return np.asarray((days * _HALF_HOURS + half_hour + within) * _HALF_HOUR)


def draw_points(kind: JobKind, jobs: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return the points since the first midnight at which each job of a kind arrives.

    Parameters
    ----------
    kind
        The kind of jobs.
    jobs
        Number of jobs, n.
    rng
        The random generator.

    Returns
    -------
    (n,) float64
        Running sums of the gaps.
    """
    shape = kind.gap_shape * kind.rush_to_all
    logs = rng.gamma(shape, kind.gap_scale, jobs)
    above = np.flatnonzero(logs > _LONGEST_LOG_GAP)
    while len(above):
        logs[above] = rng.gamma(shape, kind.gap_scale, len(above))
        above = above[logs[above] > _LONGEST_LOG_GAP]
    return np.cumsum(np.exp(logs)) / _HALF_HOUR
