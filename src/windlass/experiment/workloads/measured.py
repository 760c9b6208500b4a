"""Laws that were measured, as quantiles: to draw from without the measurements themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Quantiles:
    """A law by its quantiles at equal steps from 0 to 1, straight between them.

    Parameters
    ----------
    values
        Ascending.

    Examples
    --------
    >>> Quantiles((1.0, 2.0, 4.0)).draw(3, np.random.default_rng(1)).round(2).tolist()
    [2.05, 3.8, 1.29]
    """

    values: tuple[float, ...]

    def draw(self, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """So many, independent of each other."""
        steps = np.linspace(0.0, 1.0, len(self.values))
        return np.interp(rng.random(count), steps, self.values)


#: What users asked for over what their jobs ran for, of 19,561 jobs of KTH-SP2 that ran for over a minute and were not
#: stopped; the last twentieth is cut at its middle, as it goes on to 800.
OVERESTIMATES = Quantiles(
    (
        1.0, 1.001, 1.002, 1.007, 1.028, 1.074, 1.106, 1.145, 1.215, 1.29, 1.409,
        1.581, 1.831, 2.127, 2.603, 3.243, 4.176, 5.714, 9.091, 18.868, 32.0,
    )
)  # fmt: skip
#: Measured speeds of jobs in a pair over those that a model says which was fitted to the other half of the 1,388
#: measured pairs (Lucid, ASPLOS 2023).
LEFT_OUT_FACTORS = Quantiles(
    (
        0.66, 0.861, 0.897, 0.917, 0.938, 0.952, 0.965, 0.976, 0.987, 0.998, 1.005,
        1.011, 1.019, 1.028, 1.037, 1.054, 1.073, 1.097, 1.138, 1.213, 1.766,
    )
)  # fmt: skip
#: The pressure, both and crowding of that model (windlass.share.interference).
FITTED_TO_HALF = (0.0303, 0.1059, 0.3397)
