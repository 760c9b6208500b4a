"""Numbers of tasks of jobs, by the laws of the thesis's experiments."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError

#: Bounds of the thesis's classes of job sizes: small up to 150 tasks, medium up to 500, large above.
SMALL, MEDIUM = 150, 500


@dataclass(frozen=True, slots=True)
class SizeLaw:
    """A mix of small, medium and large jobs; in each class sizes are log-uniform.

    Parameters
    ----------
    mean
        Mean number of tasks.
    small, medium
        Shares of jobs of 1–150 and 151–500 tasks; the others have 501 to ``largest``, which follows from the mean.
    """

    mean: float
    small: float
    medium: float

    @property
    def largest(self) -> float:
        """Size of the largest job, which follows from the mean."""
        rest = (
            self.mean - self.small * _log_mean(1, SMALL + 1) - self.medium * _log_mean(SMALL + 1, MEDIUM + 1)
        )
        wanted = rest / (1.0 - self.small - self.medium)
        from scipy.optimize import brentq  # loads much, and few runs need it

        return float(brentq(lambda top: _log_mean(MEDIUM + 1, top) - wanted, MEDIUM + 2, 1e9))

    def draw(self, jobs: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Return (jobs,) numbers of tasks."""
        classes = rng.random(jobs)
        low = np.select(
            [classes < self.small, classes < self.small + self.medium], [1, SMALL + 1], MEDIUM + 1
        )
        high = np.select(
            [classes < self.small, classes < self.small + self.medium], [SMALL + 1, MEDIUM + 1], self.largest
        )
        sizes: NDArray[np.int64] = np.floor(low * (high / low) ** rng.random(jobs)).astype(np.int64)
        return sizes


def _log_mean(low: float, high: float) -> float:
    # Approximate mean of a log-uniform number rounded down, which loses half a task.
    return (high - low) / math.log(high / low) - 0.5


#: Table 3.2 of the thesis. It gives classes and means, not the laws within a class.
LAWS = {"facebook": SizeLaw(364.6, 0.89, 0.08), "google": SizeLaw(86.9, 0.96, 0.02)}
EXPONENTIAL_MEAN = 800.0


def draw_sizes(law: str, jobs: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return random numbers of tasks of jobs.

    Parameters
    ----------
    law
        ``facebook``, ``google`` or ``exponential``.
    jobs
        Number of jobs.
    rng
        The random generator.

    Examples
    --------
    >>> sizes = draw_sizes("google", 100_000, np.random.default_rng(1))
    >>> round(float((sizes <= 150).mean()), 2), bool(80 < sizes.mean() < 95)
    (0.96, True)
    """
    if law == "exponential":
        return np.ceil(rng.exponential(EXPONENTIAL_MEAN, jobs)).astype(np.int64).clip(1)
    if law not in LAWS:
        raise InputError(f"sizes: unknown law {law!r}, expected one of {', '.join([*LAWS, 'exponential'])}")
    return LAWS[law].draw(jobs, rng)
