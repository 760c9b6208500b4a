"""With what chance will the s-th spare instance let a job run before the next row is over? Learned as it goes.

For each level of spare instances there is a logistic regression on what came lately, and at which hours. It is kept up
to date by one Newton step a row with all that was seen so far behind it (the extended Kalman filter of a logistic
model; Murphy, "Probabilistic Machine Learning: Advanced Topics", 2023, 8.4), and forgets slowly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Bools = NDArray[np.bool_]

#: Of what is known, so much is left after a row: fifty days of five-minute rows leave e^-1.
_KEEP = 1.0 - 1.0 / 14_400
#: How sure it is of its weights at first, as a variance, and the least sure that it may become.
_DOUBT, _MOST_DOUBT = 1.0, 100.0
#: Before anything is seen, somebody comes with a chance of a few in a hundred.
_RARE = -3.0
#: How long jobs that came are remembered, s: an hour, a working day, a day.
_LASTS = np.array([3600.0, 21_600.0, 86_400.0])
#: Always 1; jobs that came, by how long they are remembered; those at that hour, and on that day of the week; events
#: of the level at that hour, and lately.
_SIGNS = 5 + len(_LASTS)
_HOUR, _DAY, _HOURS, _DAYS = 3600.0, 86_400.0, 24, 7
#: Within what time the usual number at an hour, and on a day of the week, is followed, s of that hour or day.
_OF_HOUR, _OF_DAY = 30_000.0, 100_000.0


class Odds:
    """Follows k types of instances and s levels of spare ones, row by row.

    Parameters
    ----------
    kinds, levels
        How many there are.
    period
        Seconds from one row to the next.

    Examples
    --------
    Somebody comes in the first hour of every day, at the first level alone:

    >>> odds = Odds(1, 2, 3600.0)
    >>> for row in range(24 * 60):
    ...     came = row % 24 == 0
    ...     odds.tell(3600.0 * row, np.array([float(came)]), np.array([[came, False]]))
    >>> (odds.chances() > 0.5).tolist()
    [[True, False]]
    """

    def __init__(self, kinds: int, levels: int, period: float) -> None:
        shape = (kinds, levels, _SIGNS)
        self._period, self._rows = period, 0
        self._weights = np.zeros(shape)
        self._weights[..., 0] = _RARE
        self._spread = np.broadcast_to(_DOUBT * np.eye(_SIGNS), (*shape, _SIGNS)).copy()
        self._seen = np.zeros(shape)
        self._lately = np.zeros((len(_LASTS), kinds))
        self._hourly, self._daily = np.zeros((_HOURS, kinds)), np.zeros((_DAYS, kinds))
        self._events, self._usual = np.zeros((_HOURS, kinds, levels)), np.zeros((kinds, levels))

    @property
    def rows(self) -> int:
        """How many it was told."""
        return self._rows

    def tell(self, now: float, jobs: _Floats, came: _Bools) -> None:
        """One more row: (k,) how many jobs came in it, and (k, s) whether that many spare ones let more of them run."""
        if self._rows:
            self._learn(came)
        self._rows += 1
        self._follow(now, jobs, came)
        self._look(now + self._period)

    def chances(self) -> _Floats:
        """(k, s) for the next row."""
        return _logistic((self._weights * self._seen).sum(axis=-1))

    def _learn(self, came: _Bools) -> None:
        seen, spread = self._seen, self._spread
        told = self.chances()
        # How much a case tells: most where it could have gone either way.
        weight = np.maximum(told * (1.0 - told), 1e-4)
        along = np.matmul(spread, seen[..., None])[..., 0]
        scale = 1.0 / (1.0 / weight + (along * seen).sum(axis=-1))
        self._weights += (scale / weight * (came - told))[..., None] * along
        spread -= (scale[..., None] * along)[..., :, None] * along[..., None, :]
        # What is never seen keeps its doubt; without a bound, forgetting would let it grow for ever.
        largest = np.einsum("...ii->...i", spread).max(axis=-1)
        spread *= np.minimum(1.0 / _KEEP, _MOST_DOUBT / largest)[..., None, None]

    def _follow(self, now: float, jobs: _Floats, came: _Bools) -> None:
        stays = np.exp(-self._period / _LASTS)[:, None]
        self._lately = stays * self._lately + (1.0 - stays) * jobs
        hour, day = int(now % _DAY / _HOUR), int(now % (_DAYS * _DAY) / _DAY)
        of_hour, of_day = min(1.0, self._period / _OF_HOUR), min(1.0, self._period / _OF_DAY)
        self._hourly[hour] += of_hour * (jobs - self._hourly[hour])
        self._daily[day] += of_day * (jobs - self._daily[day])
        self._events[hour] += of_hour * (came - self._events[hour])
        self._usual += of_day * (came - self._usual)

    def _look(self, then: float) -> None:
        """What is seen before the next row."""
        hour, day = int(then % _DAY / _HOUR), int(then % (_DAYS * _DAY) / _DAY)
        seen = np.ones(self._seen.shape)
        # Counts span decades: chances follow their logarithms.
        seen[..., 1:4] = np.log1p(20.0 * self._lately).T[:, None]
        seen[..., 4] = np.log1p(20.0 * self._hourly[hour])[:, None]
        seen[..., 5] = np.log1p(20.0 * self._daily[day])[:, None]
        seen[..., 6] = np.log1p(100.0 * self._events[hour])
        seen[..., 7] = np.log1p(100.0 * self._usual)
        self._seen = seen


def _logistic(logits: _Floats) -> _Floats:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -30.0, 30.0))))
