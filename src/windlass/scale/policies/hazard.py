"""Spare instances while new jobs are likely, valued in instance-hours."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import number
from windlass.scale.lib.arrivals import WIDTHS
from windlass.scale.lib.spare_capacity import SpareCapacity
from windlass.scale.view import ScaleView, Totals

_Floats = NDArray[np.float64]


class Hazard:
    """Keeps as many spare instances as are worth their rent, by the probability that a new job needs them.

    A spare instance costs its rent until the next decision, or nothing if a job arrives that needs it: then
    it would have been launched anyway. Without it the job waits until it is noticed and an instance has
    started, and an hour of waiting of one job is worth ``worth`` instance-hours. The probability that a job
    needs the first spare instance, the second, and so on is learned from the hour, the weekday and recent
    arrivals. The policy keeps the number of spare instances at which the cumulative gain is highest.

    The gains assume that the jobs that need the fewest instances come first: the first instance lets a job of
    one run, and the second to fourth together let a job of three run. So instances that only rare, large jobs
    would need are released at once, and the first few are kept during busy hours. An autoscaler with one idle
    time for all instances does neither.

    It starts from the history, so a restart does not lose what was learned: a rise of the demand from one row
    to the next counts as one job of that size.

    Parameters
    ----------
    worth
        Value of an hour of waiting of one job, in instance-hours. At 0 there are no spare instances; larger
        values mean less waiting and a higher cost.
    idle
        Time for which an instance above the total may stay empty, s. At 0 it is removed at once, as the total includes
        all that should stay; more saves launches where jobs often return soon.

    Raises
    ------
    InputError
        A parameter is negative or not finite.

    Examples
    --------
    The first two levels, of one spare instance each. A period is 300 s, a job would wait for 450 s, and a job
    of one instance arrives with probability 0.5:

    >>> policy, chances = Hazard(worth=1.0), np.full((1, 10), 0.0)
    >>> chances[0, 0] = 0.5
    >>> policy.gains(chances, np.array([450.0]), 300.0, np.ones((1, 10)))[0, :2].tolist()
    [75.0, -300.0]
    """

    name: ClassVar[str] = "hazard"

    def __init__(self, worth: float = 30.0, idle: float = 0.0) -> None:
        self._worth = number("worth", worth, 0.0)
        self.idle = number("idle", idle, 0.0)
        self._spare_capacity = SpareCapacity()

    def gains(self, chances: _Floats, late: _Floats, period: float, served: _Floats) -> _Floats:
        """Return (k, s) the gain of the spare instances of each level, in instance-seconds.

        Parameters
        ----------
        chances
            (k, s) probability that they let a job run that arrives before the next decision.
        late
            (k,) wait of a new job without them, s.
        period
            Time from one decision to the next, s.
        served
            (k, s) number of jobs that they then let run.
        """
        return np.asarray(chances * served * self._worth * late[:, None] - (1.0 - chances) * period * WIDTHS)

    def decide(self, view: ScaleView) -> Totals:
        """Return the instances for present jobs, and the spare instances that are worth keeping."""
        return self._spare_capacity.decide(
            view, lambda expected: self.gains(expected.chances, expected.late, view.period, expected.served)
        )
