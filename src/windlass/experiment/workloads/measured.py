"""Measured distributions as quantiles, to draw from without the measurements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Quantiles:
    """A distribution by its quantiles at equal steps from 0 to 1, linearly interpolated.

    Parameters
    ----------
    values
        The quantiles, ascending.

    Examples
    --------
    >>> Quantiles((1.0, 2.0, 4.0)).draw(3, np.random.default_rng(1)).round(2).tolist()
    [2.05, 3.8, 1.29]
    """

    values: tuple[float, ...]

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Return independent random values, (count,)."""
        steps = np.linspace(0.0, 1.0, len(self.values))
        return np.interp(rng.random(count), steps, self.values)


#: Ratio of requested to actual run time, of 19,561 jobs of KTH-SP2 that ran for over a minute and were not killed; the
#: last twentieth is cut off at its middle, as it reaches 800.
OVERESTIMATES = Quantiles(
    (
        1.0, 1.001, 1.002, 1.007, 1.028, 1.074, 1.106, 1.145, 1.215, 1.29, 1.409,
        1.581, 1.831, 2.127, 2.603, 3.243, 4.176, 5.714, 9.091, 18.868, 32.0,
    )
)  # fmt: skip
#: Ratio of measured to modelled speed of jobs in a pair, where the model was fitted to the other half of the 1,388
#: measured pairs (Lucid, ASPLOS 2023).
LEFT_OUT_FACTORS = Quantiles(
    (
        0.66, 0.861, 0.897, 0.917, 0.938, 0.952, 0.965, 0.976, 0.987, 0.998, 1.005,
        1.011, 1.019, 1.028, 1.037, 1.054, 1.073, 1.097, 1.138, 1.213, 1.766,
    )
)  # fmt: skip
#: The pressure, both and crowding of that model (windlass.share.interference).
FITTED_TO_HALF = (0.0303, 0.1059, 0.3397)
