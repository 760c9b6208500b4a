"""Spare instances for as long as somebody is likely enough to come: what each spare one is worth, in hours."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import number
from windlass.scale.lib.arrivals import WIDTHS
from windlass.scale.lib.spare_capacity import Spares
from windlass.scale.view import ScaleView, Totals

_Floats = NDArray[np.float64]


class Hazard:
    """As many spare instances as are worth their rent, by the chance that somebody comes who needs them.

    A spare instance costs its rent until the next decision, or nothing where somebody comes who needs it: then it would
    have been launched anyway. Without it, whoever comes waits until that is seen and for a launch, and an hour of
    waiting of one job is worth ``worth`` instance-hours. How likely it is that somebody comes is learned, for the first
    spare instance, the second, and so on: by the hour, the day of the week, and how many came lately. The gains of one
    after the other are added up, and the number at which their sum is highest is had.

    Whoever needs least comes first: one instance lets a job of one run, and the second to fourth let one of three run.
    So instances that only large jobs would need, which come rarely, are let go at once, and the first few are kept for
    as long as the hours are busy. An autoscaler that waits the same time for every instance that is empty does neither.

    It begins with what the history tells, so that it is not blind after a restart: a rise of the need from one row to
    the next is taken for one job of that size.

    Parameters
    ----------
    worth
        Instance-hours that an hour of waiting of one job is worth. With 0 there is no spare one; the larger, the less
        is waited and the more is paid.

    Raises
    ------
    InputError
        ``worth`` is negative or not finite.

    Examples
    --------
    Two levels, of one spare instance and of the second; a period is 300 s, whoever comes waits for 450 s, and jobs of
    one come as often as not:

    >>> policy, chances = Hazard(worth=1.0), np.full((1, 10), 0.0)
    >>> chances[0, 0] = 0.5
    >>> policy.gains(chances, np.array([450.0]), 300.0, np.ones((1, 10)))[0, :2].tolist()
    [75.0, -300.0]
    """

    name: ClassVar[str] = "hazard"
    #: What it wants gone may go at once: it asks for what should stay.
    idle = 0.0

    def __init__(self, worth: float = 30.0) -> None:
        self._worth = number("worth", worth, 0.0)
        self._spares = Spares()

    def gains(self, chances: _Floats, late: _Floats, period: float, served: _Floats) -> _Floats:
        """(k, s) seconds of an instance that are won by the spare ones of each level.

        Parameters
        ----------
        chances
            (k, s) that they let somebody run who comes before the next decision.
        late
            (k,) how long whoever comes waits without them, s.
        period
            From one decision to the next, s.
        served
            (k, s) how many they let run then.
        """
        return np.asarray(chances * served * self._worth * late[:, None] - (1.0 - chances) * period * WIDTHS)

    def decide(self, view: ScaleView) -> Totals:
        """Who is there and waits, and whom it is worth having besides."""
        return self._spares.decide(
            view, lambda seen: self.gains(seen.chances, seen.late, view.period, seen.served)
        )
