"""A straight line through what was measured, and how sure it is: Bayesian linear regression.

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
    """The (d,) mean and the (d, d) covariance of a line's weights."""

    mean: _Floats
    covariance: _Floats

    def at(self, features: _Floats) -> tuple[_Floats, _Floats]:
        """As :meth:`BayesianLine.at`; of (…, d) features."""
        variance = ((features @ self.covariance) * features).sum(axis=-1)
        return features @ self.mean, np.sqrt(np.maximum(variance, 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class BayesianLine:
    """What is believed of the d weights of a line: a normal distribution.

    Parameters
    ----------
    precision
        (d, d) the inverse of the covariance of the weights.
    pull
        (d,) the precision times the mean of the weights.
    noise
        The standard deviation of one measurement.
    """

    precision: _Floats
    pull: _Floats
    noise: float

    @classmethod
    def prior(cls, mean: _Floats, deviation: _Floats, noise: float) -> BayesianLine:
        """What is believed before anything is measured: (d,) means and standard deviations of independent weights."""
        precision = np.diag(deviation**-2.0)
        return cls(precision, precision @ mean, noise)

    def after(self, features: _Floats, measured: float) -> BayesianLine:
        """What is believed once (d,) ``features`` have shown a value."""
        weight = self.noise**-2.0
        precision = self.precision + weight * np.outer(features, features)
        return BayesianLine(precision, self.pull + weight * measured * features, self.noise)

    def at(self, features: _Floats) -> tuple[_Floats, _Floats]:
        """(k,) means and standard deviations of the line at (k, d) features, without the noise of a measurement.

        >>> line = BayesianLine.prior(np.array([0.0]), np.array([1.0]), noise=0.1)
        >>> for _ in range(100):
        ...     line = line.after(np.array([1.0]), 2.0)
        >>> mean, deviation = line.at(np.array([[1.0]]))
        >>> round(float(mean[0]), 2), round(float(deviation[0]), 2)
        (2.0, 0.01)
        """
        return self.solved().at(features)

    def solved(self) -> LinePosterior:
        """The same, solved once for many predictions."""
        covariance = np.linalg.inv(self.precision)
        return LinePosterior(np.asarray(covariance @ self.pull), np.asarray(covariance))


def line_of(tree: Sequence[object], size: int, noise: float) -> BayesianLine:
    """A line from the lists of its precision and its pull; ValueError where they are not such.

    >>> line_of([[[1.0]], [2.0]], size=1, noise=0.1).pull.tolist()
    [2.0]
    """
    precision, pull = (np.asarray(each, dtype=np.float64) for each in tree)
    if precision.shape != (size, size) or pull.shape != (size,):
        raise ValueError(f"shapes are {precision.shape} and {pull.shape}, expected those of {size} weights")
    sound = np.isfinite(precision).all() and np.isfinite(pull).all() and np.allclose(precision, precision.T)
    if not sound or np.linalg.eigvalsh(precision).min() <= 0.0:
        raise ValueError("a precision is symmetric, finite and positive")
    return BayesianLine(precision, pull, noise)
