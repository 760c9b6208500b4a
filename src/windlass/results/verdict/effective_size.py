"""The number of independent jobs that the jobs of a log are worth, and the number that an interval requires."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

#: Minimum number of independent jobs that a confidence interval over blocks requires.
LEAST_INDEPENDENT: Final = 400
#: Minimum number of independent jobs that the sign-flip test over blocks requires.
LEAST_FOR_SIGNS: Final = 100
#: Minimum number of independent jobs on either side of a percentile.
LEAST_BEYOND: Final = 20
#: Required number of independent jobs, as a multiple of the squared skewness of their differences.
PER_SKEWNESS: Final = 25
#: A window of this many correlation times is summed.
_WINDOW = 5.0
#: Longer series are first searched for a short window.
_LONG = 1 << 16
_FIRST_LAGS = 1 << 12
_LAGS_FACTOR = 8
#: Number of blocks whose variance is compared with that of the jobs.
_BLOCKS = 20


def correlation_time(values: NDArray[np.float64]) -> float:
    """Return the integrated autocorrelation time τ in jobs: n correlated jobs are worth n/τ independent ones.

    Autocorrelations are summed up to the first lag of at least five times the sum.

    Parameters
    ----------
    values
        (n,) values in order of time.

    Returns
    -------
    float
        At least 1; 1 if all values are equal.

    Examples
    --------
    >>> correlation_time(np.repeat(np.random.default_rng(1).normal(size=5000), 8)).__round__()
    8

    Source: Sokal, "Monte Carlo methods in statistical mechanics: foundations and new algorithms", in Functional
    Integration (1997), section 3.
    """
    count, off = len(values), values - values.mean()
    lags = _FIRST_LAGS if count > _LONG else count
    while True:
        products = _products(off) if lags >= count else _first_products(off, lags)
        if not products[0] > 0:
            return 1.0
        times = 2 * np.cumsum(products / products[0]) - 1
        within = np.arange(len(products)) >= _WINDOW * times
        if within.any() or lags >= count:
            return max(float(times[int(np.argmax(within)) if within.any() else -1]), 1.0)
        lags = count if _LAGS_FACTOR * lags * 4 > count else _LAGS_FACTOR * lags


def _products(off: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (n,) the sums of the products of values and those any number of places later."""
    count = len(off)
    size = 1 << (2 * count - 1).bit_length()
    spectrum = np.fft.rfft(off, size)
    return np.fft.irfft(spectrum * np.conj(spectrum), size)[:count]


def _first_products(off: NDArray[np.float64], lags: int) -> NDArray[np.float64]:
    """Return (lags,) the first of :func:`_products`, from transforms of short pieces, which fit the processor's cache.

    A piece of m values is multiplied with m + lags values from its beginning on; the sums of all pieces are added
    before they are transformed back.
    """
    size = 4 * lags
    step = size - lags
    pieces = -(-len(off) // step)
    padded = np.concatenate((off, np.zeros(pieces * step + size - len(off))))
    spectrum = np.zeros(size // 2 + 1, np.complex128)
    for begin in range(0, pieces * step, step):
        own = np.fft.rfft(padded[begin : begin + step], size)
        spectrum += np.conj(own) * np.fft.rfft(padded[begin : begin + size])
    return np.fft.irfft(spectrum, size)[:lags]


def effective_jobs(values: NDArray[np.float64]) -> float:
    """Return the number of independent jobs that correlated ones are worth: the smaller of two estimates.

    One divides the number of jobs by their :func:`correlation_time`, which misses slow changes. The other one divides
    the variance of the jobs by that of the mean of 20 blocks, which includes them.

    Parameters
    ----------
    values
        (n,) values in order of submission.

    Examples
    --------
    >>> effective_jobs(np.repeat(np.random.default_rng(1).normal(size=5000), 8)) < 6000
    True
    """
    variance = float(values.var())
    if variance == 0.0:
        return float(len(values))
    blocks = np.array([each.mean() for each in np.array_split(values, _BLOCKS)])
    of_mean = float(blocks.var(ddof=1)) / _BLOCKS
    by_lags = len(values) / correlation_time(values)
    return min(by_lags, variance / of_mean) if of_mean > 0 else by_lags


def skewness(values: NDArray[np.float64]) -> float:
    """Return the skewness, the third central moment over the 1.5th power of the second; 0 if all values are equal.

    >>> skewness(np.array([0.0, 0.0, 0.0, 4.0])).__round__(4), skewness(np.ones(3))
    (1.1547, 0.0)
    """
    off = values - values.mean()
    second = float((off**2).mean())
    return float((off * off * off).mean()) / second**1.5 if second > 0 else 0.0


def required_jobs(skew: float, share: float | None = None) -> float:
    """Return the number of independent jobs that an interval requires.

    Parameters
    ----------
    skew
        Skewness of the jobs' differences; ignored for a percentile.
    share
        For a percentile, the share of the jobs below it, such as 0.95; None for a mean.

    Examples
    --------
    >>> required_jobs(2.0), required_jobs(10.0), round(required_jobs(0.0, 0.99))
    (400, 2500.0, 2000)

    Source: Cochran, Sampling Techniques (1977), section 2.15: Student's interval of a mean needs n > 25 γ² for a
    population of skewness γ.
    """
    if share is None:
        return max(LEAST_INDEPENDENT, PER_SKEWNESS * skew**2)
    return max(LEAST_INDEPENDENT, LEAST_BEYOND / min(share, 1 - share))
