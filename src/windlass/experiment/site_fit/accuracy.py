"""How close the waits of a replay are to the recorded ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

#: Added to waits before a logarithm is taken, s: a minute is as good as none.
_OFFSET_S = 60.0


@dataclass(frozen=True, slots=True)
class WaitAccuracy:
    """Recorded and replayed waits of the same jobs.

    Parameters
    ----------
    jobs
        Number of jobs.
    recorded_mean, replayed_mean
        Mean waits, s.
    recorded_p95, replayed_p95
        95 % quantiles of the waits, s.
    correlation
        Correlation of the logarithms of both waits over the jobs; 0 if the waits of one of them are all equal.
    """

    jobs: int
    recorded_mean: float
    replayed_mean: float
    recorded_p95: float
    replayed_p95: float
    correlation: float

    @classmethod
    def of(cls, recorded: NDArray[np.float64], replayed: NDArray[np.float64]) -> WaitAccuracy:
        """Compare waits, (n,) s each; jobs without a recorded wait are left out.

        Examples
        --------
        >>> found = WaitAccuracy.of(np.array([0.0, 60.0, np.nan]), np.array([0.0, 90.0, 5.0]))
        >>> found.jobs, found.mean_error, round(found.correlation, 6)
        (2, 0.5, 1.0)
        """
        known = np.isfinite(recorded)
        logged, found = recorded[known], replayed[known]
        if not len(logged):
            return cls(0, *(math.nan,) * 5)
        logs = np.log(np.stack([logged, found]) + _OFFSET_S)
        varied = len(logged) > 1 and (np.ptp(logs, axis=1) > 0).all()
        return cls(
            len(logged),
            float(logged.mean()),
            float(found.mean()),
            float(np.quantile(logged, 0.95)),
            float(np.quantile(found, 0.95)),
            float(np.corrcoef(logs)[0, 1]) if varied else 0.0,
        )

    @property
    def mean_error(self) -> float:
        """Relative error of the mean wait; negative if the replay is shorter."""
        return _relative(self.replayed_mean, self.recorded_mean)

    @property
    def p95_error(self) -> float:
        """Relative error of the 95 % quantile."""
        return _relative(self.replayed_p95, self.recorded_p95)

    @property
    def mean_loss(self) -> float:
        """The absolute logarithm of the ratio of means."""
        return _log_ratio(self.replayed_mean, self.recorded_mean)

    @property
    def loss(self) -> float:
        """What a fit makes small.

        Twice the absolute logarithm of the ratio of means, once that of the 95 % quantiles, and twice the lack of
        correlation.
        """
        p95 = _log_ratio(self.replayed_p95, self.recorded_p95)
        return 2 * self.mean_loss + p95 + 2 * (1 - self.correlation)


def _log_ratio(found: float, logged: float) -> float:
    return abs(math.log((found + _OFFSET_S) / (logged + _OFFSET_S)))


def _relative(found: float, logged: float) -> float:
    if logged > 0:
        return found / logged - 1
    return 0.0 if found == 0 else math.inf
