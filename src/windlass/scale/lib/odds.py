"""Online estimate of the probability that each spare instance lets a job run before the next row.

Each level of spare instances has a logistic regression on recent arrivals and on those of the same hour and
weekday. One Newton step a row updates it, with the precision of all earlier rows and slow forgetting (the
extended Kalman filter of a logistic model; Murphy, "Probabilistic Machine Learning: Advanced Topics", 2023,
8.4).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Bools = NDArray[np.bool_]

#: Forgetting factor a row: e^-1 of the weight remains after fifty days of five-minute rows.
_KEEP = 1.0 - 1.0 / 14_400
#: Initial variance of the weights, and the largest variance that forgetting may reach.
_DOUBT, _MOST_DOUBT = 1.0, 100.0
#: Initial logit: a job arrives with a probability of a few percent.
_RARE = -3.0
#: Time constants of the averages of recent arrivals, s: an hour, six hours, a day.
_LASTS = np.array([3600.0, 21_600.0, 86_400.0])
#: Number of features: a constant 1; recent arrivals, one for each time constant; arrivals at that hour, and
#: on that weekday; events of the level at that hour, and recently.
_SIGNS = 5 + len(_LASTS)
_HOUR, _DAY, _HOURS, _DAYS = 3600.0, 86_400.0, 24, 7
#: Time constants of the averages by hour and by weekday, s of that hour or day.
_OF_HOUR, _OF_DAY = 30_000.0, 100_000.0


class Odds:
    """Learns the arrivals of k instance types at s levels of spare instances, row by row.

    Parameters
    ----------
    kinds, levels
        Numbers of instance types and of levels.
    period
        Seconds from one row to the next.

    Examples
    --------
    A job arrives in the first hour of every day and needs the first level only:

    >>> odds = Odds(1, 2, 3600.0)
    >>> for row in range(24 * 60):
    ...     event = row % 24 == 0
    ...     odds.observe(3600.0 * row, np.array([float(event)]), np.array([[event, False]]))
    >>> (odds.chances() > 0.5).tolist()
    [[True, False]]
    """

    def __init__(self, kinds: int, levels: int, period: float) -> None:
        shape = (kinds, levels, _SIGNS)
        self._period, self._rows = period, 0
        self._weights = np.zeros(shape)
        self._weights[..., 0] = _RARE
        self._spread = np.broadcast_to(_DOUBT * np.eye(_SIGNS), (*shape, _SIGNS)).copy()
        self._features = np.zeros(shape)
        self._lately = np.zeros((len(_LASTS), kinds))
        self._hourly, self._daily = np.zeros((_HOURS, kinds)), np.zeros((_DAYS, kinds))
        self._events, self._usual = np.zeros((_HOURS, kinds, levels)), np.zeros((kinds, levels))

    @property
    def rows(self) -> int:
        """Number of rows learned so far."""
        return self._rows

    def observe(self, now: float, jobs: _Floats, events: _Bools) -> None:
        """Add a row: (k,) the number of new jobs, and (k, s) whether each level lets more of them run."""
        if self._rows:
            self._learn(events)
        self._rows += 1
        self._follow(now, jobs, events)
        self._describe_next(now + self._period)

    def chances(self) -> _Floats:
        """Return the probabilities (k, s) for the next row."""
        return _logistic((self._weights * self._features).sum(axis=-1))

    def _learn(self, events: _Bools) -> None:
        features, spread = self._features, self._spread
        predicted = self.chances()
        # The information of a case is largest at a probability of one half.
        weight = np.maximum(predicted * (1.0 - predicted), 1e-4)
        along = np.matmul(spread, features[..., None])[..., 0]
        scale = 1.0 / (1.0 / weight + (along * features).sum(axis=-1))
        self._weights += (scale / weight * (events - predicted))[..., None] * along
        spread -= (scale[..., None] * along)[..., :, None] * along[..., None, :]
        # Forgetting would let the variance of a feature that is always 0 grow without bound.
        largest = np.einsum("...ii->...i", spread).max(axis=-1)
        spread *= np.minimum(1.0 / _KEEP, _MOST_DOUBT / largest)[..., None, None]

    def _follow(self, now: float, jobs: _Floats, events: _Bools) -> None:
        stays = np.exp(-self._period / _LASTS)[:, None]
        self._lately = stays * self._lately + (1.0 - stays) * jobs
        hour, day = int(now % _DAY / _HOUR), int(now % (_DAYS * _DAY) / _DAY)
        of_hour, of_day = min(1.0, self._period / _OF_HOUR), min(1.0, self._period / _OF_DAY)
        self._hourly[hour] += of_hour * (jobs - self._hourly[hour])
        self._daily[day] += of_day * (jobs - self._daily[day])
        self._events[hour] += of_hour * (events - self._events[hour])
        self._usual += of_day * (events - self._usual)

    def _describe_next(self, then: float) -> None:
        """Compute the features of the next row."""
        hour, day = int(then % _DAY / _HOUR), int(then % (_DAYS * _DAY) / _DAY)
        features = np.ones(self._features.shape)
        # Counts span decades, so features are logarithms.
        features[..., 1:4] = np.log1p(20.0 * self._lately).T[:, None]
        features[..., 4] = np.log1p(20.0 * self._hourly[hour])[:, None]
        features[..., 5] = np.log1p(20.0 * self._daily[day])[:, None]
        features[..., 6] = np.log1p(100.0 * self._events[hour])
        features[..., 7] = np.log1p(100.0 * self._usual)
        self._features = features


def _logistic(logits: _Floats) -> _Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -30.0, 30.0))))
