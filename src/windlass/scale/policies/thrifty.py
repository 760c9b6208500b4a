"""Spare instances while new jobs are likely, valued in money."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import number
from windlass.scale.lib.arrivals import WIDTHS
from windlass.scale.lib.spare_capacity import ExpectedArrivals, SpareCapacity
from windlass.scale.view import ScaleView, Totals

_Floats = NDArray[np.float64]


class Thrifty:
    """Keeps as many spare instances as are worth their price, by the probability that a new job needs them.

    :class:`~windlass.scale.policies.hazard.Hazard` weighs waiting against instance-hours, whatever an hour
    costs. So it keeps a spare instance of the most expensive type as readily as one of the cheapest, although
    jobs wait the same time for either. Here the rent of a type is its price, and an hour of waiting of one
    job has the same value for all types. If all types have the same price, both policies give the same
    answer.

    Parameters
    ----------
    worth
        Value of an hour of waiting of one job, in instance-hours of the cheapest type. At 0 there are no
        spare instances; larger values mean less waiting and a higher cost. A type without a price counts as 1
        USD an hour.
    idle
        Time for which an instance above the total may stay empty, s. At 0 it is removed at once, as the total includes
        all that should stay; more saves launches where jobs often return soon.

    Raises
    ------
    InputError
        A parameter is negative or not finite.

    Examples
    --------
    Two types, one ten times as expensive. A job arrives for either with probability 0.5, would wait for 450 s
    without a spare instance, and a period is 300 s:

    >>> from windlass.scale.lib.arrivals import LEVELS
    >>> chances = np.tile(np.where(LEVELS == 1, 0.5, 0.0), (2, 1))
    >>> expected = ExpectedArrivals(chances, np.ones(chances.shape), np.array([450.0, 450.0]))
    >>> Thrifty(worth=2.0).gains(expected, 300.0, np.array([1.0, 10.0]))[:, 0].tolist()
    [300.0, -1050.0]
    """

    name: ClassVar[str] = "thrifty"

    def __init__(self, worth: float = 30.0, idle: float = 0.0) -> None:
        self._worth = number("worth", worth, 0.0)
        self.idle = number("idle", idle, 0.0)
        self._spare_capacity = SpareCapacity()

    def gains(self, expected: ExpectedArrivals, period: float, prices: _Floats) -> _Floats:
        """Return (k, s) the gain of the spare instances of each level, in seconds of an instance of the cheapest type.

        Parameters
        ----------
        expected
            Expected arrivals, and their wait without a spare instance.
        period
            Time from one decision to the next, s.
        prices
            (k,) price of an instance of each type, USD an hour, above 0.
        """
        rent = period * WIDTHS * (prices / prices.min())[:, None]
        won = expected.chances * expected.served * self._worth * expected.late[:, None]
        return np.asarray(won - (1.0 - expected.chances) * rent)

    def decide(self, view: ScaleView) -> Totals:
        """Return the instances for present jobs, and the spare instances that are worth their price."""
        prices = np.array([kind.price or 1.0 for kind in view.types])
        return self._spare_capacity.decide(view, lambda expected: self.gains(expected, view.period, prices))
