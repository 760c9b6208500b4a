"""Forecasts of a series and levels of spikes, as used by ``alarm``, as functions.

>>> forecast("naive", np.array([1.0, 3.0])), spike_level("median", np.array([1.0, 2.0, 9.0]))
(3.0, 2.0)
"""

from __future__ import annotations

import numpy as np

from windlass.admit.lib.forecasts import FORECASTERS, checked_forecaster
from windlass.admit.lib.spike_rules import LEVELS, checked_level
from windlass.admit.lib.subspace import Floats

#: Names of forecasters and of rules for spikes.
METHODS, RULES = tuple(FORECASTERS), tuple(LEVELS)


def forecast(method: str, history: Floats) -> float:
    """Return the next value of a series.

    Parameters
    ----------
    method
        One of :data:`METHODS`.
    history
        (t,) values so far, oldest first; at least one.

    Raises
    ------
    InputError
        The method does not exist, or a package that it needs is not installed.

    Examples
    --------
    >>> round(forecast("smoothing", np.array([0.0, 0.0, 1.0])), 3)
    0.2
    """
    return checked_forecaster(method)(np.asarray(history, np.float64))


def spike_level(rule: str, history: Floats, value: float = 0.0) -> float:
    """Return the smallest value that is a spike.

    Parameters
    ----------
    rule
        One of :data:`RULES`.
    history
        (t,) values so far.
    value
        Parameter of the rule: a level, a percentile, or a number of standard deviations.

    Raises
    ------
    InputError
        The rule does not exist, or does not accept the value.

    Examples
    --------
    >>> spike_level("percentile", np.arange(101.0), 95.0)
    95.0
    """
    return checked_level(rule, value)(np.asarray(history, np.float64), value)
