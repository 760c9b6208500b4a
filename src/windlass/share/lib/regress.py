"""Bayesian linear regression.

Source: Bishop, "Pattern Recognition and Machine Learning", Section 3.3; its upper bound on a prediction is that of
LinUCB (Li et al., "A contextual-bandit approach to personalized news article recommendation", WWW 2010).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LinePosterior:
    """Mean (d,) and covariance (d, d) of the weights of a linear model."""

    mean: _Floats
    covariance: _Floats

    def at(self, features: _Floats) -> tuple[_Floats, _Floats]:
        """Return means and standard deviations at features (…, d), as :meth:`BayesianLine.at` does."""
        variance = ((features @ self.covariance) * features).sum(axis=-1)
        return features @ self.mean, np.sqrt(np.maximum(variance, 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class BayesianLine:
    """A normal distribution of the d weights of a linear model.

    Parameters
    ----------
    precision
        (d, d) inverse covariance of the weights.
    pull
        (d,) precision times the mean of the weights.
    noise
        Standard deviation of a measurement.
    """

    precision: _Floats
    pull: _Floats
    noise: float

    @classmethod
    def prior(cls, mean: _Floats, deviation: _Floats, noise: float) -> BayesianLine:
        """Return the prior: independent weights with these means (d,) and standard deviations (d,)."""
        precision = np.diag(deviation**-2.0)
        return cls(precision, precision @ mean, noise)

    def after(self, features: _Floats, measured: float) -> BayesianLine:
        """Return the posterior after a measurement at features (d,)."""
        weight = self.noise**-2.0
        precision = self.precision + weight * np.outer(features, features)
        return BayesianLine(precision, self.pull + weight * measured * features, self.noise)

    def at(self, features: _Floats) -> tuple[_Floats, _Floats]:
        """Return means (k,) and standard deviations (k,) at features (k, d), without measurement noise.

        >>> line = BayesianLine.prior(np.array([0.0]), np.array([1.0]), noise=0.1)
        >>> for _ in range(100):
        ...     line = line.after(np.array([1.0]), 2.0)
        >>> mean, deviation = line.at(np.array([[1.0]]))
        >>> round(float(mean[0]), 2), round(float(deviation[0]), 2)
        (2.0, 0.01)
        """
        return self.solved().at(features)

    def solved(self) -> LinePosterior:
        """Return the posterior in solved form, for many predictions."""
        covariance = np.linalg.inv(self.precision)
        return LinePosterior(np.asarray(covariance @ self.pull), np.asarray(covariance))


def line_of(tree: Sequence[object], size: int, noise: float) -> BayesianLine:
    """Make a line from the lists of its precision and pull; raise ValueError if they are invalid.

    >>> line_of([[[1.0]], [2.0]], size=1, noise=0.1).pull.tolist()
    [2.0]
    """
    precision, pull = (np.asarray(each, dtype=np.float64) for each in tree)
    if precision.shape != (size, size) or pull.shape != (size,):
        found = f"{precision.shape} and {pull.shape}"
        raise ValueError(f"precision and pull have shapes {found}, expected ({size}, {size}) and ({size},)")
    valid = np.isfinite(precision).all() and np.isfinite(pull).all() and np.allclose(precision, precision.T)
    if not valid or np.linalg.eigvalsh(precision).min() <= 0.0:
        raise ValueError("precision must be symmetric, finite and positive definite")
    return BayesianLine(precision, pull, noise)
