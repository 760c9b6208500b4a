"""What comes next in a series, and from which value on one is a spike: what ``alarm`` is made of, by itself.

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
    """The next value of a series.

    Parameters
    ----------
    method
        One of :data:`METHODS`.
    history
        (t,) values so far, oldest first; at least one.

    Raises
    ------
    InputError
        There is no such method, or what it needs is not installed.

    Examples
    --------
    >>> round(forecast("smoothing", np.array([0.0, 0.0, 1.0])), 3)
    0.2
    """
    return checked_forecaster(method)(np.asarray(history, np.float64))


def spike_level(rule: str, history: Floats, value: float = 0.0) -> float:
    """From which value on one is a spike.

    Parameters
    ----------
    rule
        One of :data:`RULES`.
    history
        (t,) values so far.
    value
        The level itself, a percentile, or so many deviations, as the rule has it.

    Raises
    ------
    InputError
        There is no such rule, or it does not take the value.

    Examples
    --------
    >>> spike_level("percentile", np.arange(101.0), 95.0)
    95.0
    """
    return checked_level(rule, value)(np.asarray(history, np.float64), value)
