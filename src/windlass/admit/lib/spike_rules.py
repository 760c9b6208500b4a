"""The smallest value of CPU Ready that is a spike: five rules of section 3.2 of the Pronto paper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from windlass.admit.lib.subspace import Floats
from windlass.model import InputError
from windlass.model.values import number

#: D4 of control charts for the range of two values: the limit at three standard deviations.
_D4 = 3.267


def fixed(history: Floats, value: float) -> float:
    """Return the value itself."""
    return value


def percentile(history: Floats, value: float) -> float:
    """Return the given percentile of the history.

    >>> percentile(np.arange(101.0), 95.0)
    95.0
    """
    return float(np.percentile(history, value))


def sigma(history: Floats, value: float) -> float:
    """Return the mean plus ``value`` standard deviations; 3 in the paper.

    >>> sigma(np.array([0.0, 2.0]), 3.0)
    4.0
    """
    return float(history.mean() + value * history.std())


def xbar(history: Floats, value: float) -> float:
    """Return the mean plus D4 times the mean moving range, the upper limit of a range chart; ``value`` is not used.

    >>> xbar(np.array([0.0, 1.0, 0.0, 1.0]), 0.0)
    3.767
    """
    ranges = np.abs(np.diff(history))
    return float(history.mean() + _D4 * (ranges.mean() if len(ranges) else 0.0))


def median(history: Floats, value: float) -> float:
    """Return the median; ``value`` is not used."""
    return float(np.median(history))


Level = Callable[[Floats, float], float]
#: The rules by name, each with the smallest and greatest value that it accepts.
LEVELS: dict[str, tuple[Level, float, float]] = {
    "fixed": (fixed, 0.0, np.inf),
    "percentile": (percentile, 0.0, 100.0),
    "sigma": (sigma, 0.0, np.inf),
    "xbar": (xbar, 0.0, np.inf),
    "median": (median, 0.0, np.inf),
}


def checked_level(name: str, value: float) -> Level:
    """Return the rule with a name, if it accepts the value.

    >>> checked_level("sigma", 3.0) is sigma
    True
    """
    if name not in LEVELS:
        raise InputError(f"level is {name!r}, expected one of {', '.join(LEVELS)}")
    rule, least, most = LEVELS[name]
    number("value", value, least, most)
    return rule
