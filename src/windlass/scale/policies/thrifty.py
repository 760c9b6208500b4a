"""Spare instances for as long as somebody is likely enough to come: what each spare one is worth, in money."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import number
from windlass.scale.lib.arrivals import WIDTHS
from windlass.scale.lib.spare_capacity import Expected, Spares
from windlass.scale.view import ScaleView, Totals

_Floats = NDArray[np.float64]


class Thrifty:
    """As :class:`~windlass.scale.policies.hazard.Hazard`, but a spare instance costs what its type costs.

    ``hazard`` weighs waiting against hours, whatever an hour costs. So where types differ in price, it has a spare
    instance of the dearest type as readily as one of the cheapest, though whoever waits for either waits no less. Here
    the rent of a type is its price, and an hour of waiting of one job is worth the same whatever it waits for. Where
    all types have one price, both answer the same.

    Parameters
    ----------
    worth
        Instance-hours of the cheapest type that an hour of waiting of one job is worth. With 0 there is no spare one;
        the larger, the less is waited and the more is paid. A type without a price counts as 1 USD an hour.

    Raises
    ------
    InputError
        ``worth`` is negative or not finite.

    Examples
    --------
    A cheap type and one that costs ten times as much; somebody comes for either as often as not, waits for 450 s
    without a spare one, and a period is 300 s:

    >>> from windlass.scale.lib.arrivals import LEVELS
    >>> chances = np.tile(np.where(LEVELS == 1, 0.5, 0.0), (2, 1))
    >>> seen = Expected(chances, np.ones(chances.shape), np.array([450.0, 450.0]))
    >>> Thrifty(worth=2.0).gains(seen, 300.0, np.array([1.0, 10.0]))[:, 0].tolist()
    [300.0, -1050.0]
    """

    name: ClassVar[str] = "thrifty"
    #: What it wants gone may go at once: it asks for what should stay.
    idle = 0.0

    def __init__(self, worth: float = 30.0) -> None:
        self._worth = number("worth", worth, 0.0)
        self._spares = Spares()

    def gains(self, seen: Expected, period: float, prices: _Floats) -> _Floats:
        """(k, s) seconds of an instance of the cheapest type that are won by the spare ones of each level.

        Parameters
        ----------
        seen
            Who is expected, and how long they wait without a spare instance.
        period
            From one decision to the next, s.
        prices
            (k,) USD an hour, above 0.
        """
        rent = period * WIDTHS * (prices / prices.min())[:, None]
        won = seen.chances * seen.served * self._worth * seen.late[:, None]
        return np.asarray(won - (1.0 - seen.chances) * rent)

    def decide(self, view: ScaleView) -> Totals:
        """Who is there and waits, and whom it is worth paying for besides."""
        prices = np.array([kind.price or 1.0 for kind in view.types])
        return self._spares.decide(view, lambda seen: self.gains(seen, view.period, prices))
