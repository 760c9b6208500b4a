"""The seasonal naive forecast."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.scale.forecast.model import ForecastModel
from windlass.scale.forecast.rows import Tail
from windlass.scale.forecast.seasons import checked_seasons

_Floats = NDArray[np.float64]


class SeasonalNaive(ForecastModel):
    """Repeats the rows of the last season; of several seasons, the longest.

    Parameters
    ----------
    seasons
        Rows of each season, for example 144 for a day of 10-minute rows.

    Examples
    --------
    >>> SeasonalNaive(seasons=[3]).fit([[1.0], [2.0], [3.0], [4.0]]).forecast(4).ravel().tolist()
    [2.0, 3.0, 4.0, 2.0]
    """

    name: ClassVar[str] = "seasonal-naive"

    def __init__(self, seasons: Sequence[int] = (144,)) -> None:
        self._season = max(checked_seasons(seasons))

    @property
    def least(self) -> int:
        """The rows of a season."""
        return self._season

    def _begin(self, rows: _Floats) -> None:
        # Error estimates may start within the first season; earlier rows are then taken to equal the first.
        missing = max(0, self._season - len(rows))
        self._tail = Tail(np.concatenate([np.repeat(rows[:1], missing, axis=0), rows]), self._season)

    def _advance(self, rows: _Floats) -> None:
        self._tail.add(rows)

    def _expect(self, steps: int) -> _Floats:
        return self._tail.last(self._season)[np.arange(steps) % self._season]
