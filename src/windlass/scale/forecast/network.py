"""The base class of forecasters that are neural networks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import number, whole
from windlass.scale.forecast.extras import need
from windlass.scale.forecast.model import ForecastModel
from windlass.scale.forecast.rows import Tail
from windlass.scale.forecast.scaling import ColumnScaling
from windlass.scale.forecast.seasons import checked_seasons

_Floats = NDArray[np.float64]


class Network(ForecastModel):
    """A network over a window of rows, scaled by the largest training value of each column.

    The last tenth of the training rows is held back: it selects the weights, and quantiles are computed from
    the errors on it.

    Parameters
    ----------
    seasons
        Rows of each season.
    window, horizon
        Number of input rows, and of rows forecast in training.
    steps, batch
        Number of training steps, and of windows in each.
    seconds
        Maximum training time, s.
    anchored
        True to forecast differences from the last row of the window.
    seed
        Seed of initial weights, windows and dropout.
    """

    def __init__(
        self,
        seasons: Sequence[int],
        window: int,
        horizon: int,
        steps: int,
        batch: int,
        seconds: float,
        anchored: bool,
        seed: int,
    ) -> None:
        self._seasons = checked_seasons(seasons)
        self._window, self._horizon = whole("window", window, 2), whole("horizon", horizon, 1)
        self._steps, self._batch = whole("steps", steps, 1), whole("batch", batch, 1)
        self._seconds = number("seconds", seconds, 0.0, open_below=True)
        self._anchored, self._seed = anchored, seed

    @property
    def least(self) -> int:
        """Two windows and four horizons."""
        return 2 * self._window + 4 * self._horizon

    def _network(self, columns: int) -> Any:
        """Return an untrained network."""
        raise NotImplementedError

    def _how(self) -> tuple[Any, Any]:
        """Return the loss and the optimizer."""
        raise NotImplementedError

    def _learn(self, rows: _Floats) -> None:
        for module in ("jax", "equinox", "optax"):
            need(module, self.name)
        from windlass.scale.forecast.neural.train import TrainingSchedule, teach
        from windlass.scale.forecast.neural.windowed import Taught

        self._scale = ColumnScaling.of(rows)
        scaled = self._scale.down(rows).astype(np.float32)
        self._held = max(2 * self._horizon, len(rows) // 10)
        # A network would only add noise to a constant series.
        self._still = not np.ptp(rows, axis=0).any()
        if self._still:
            return
        course = TrainingSchedule(
            self._steps, self._batch, self._window, self._horizon, seconds=self._seconds
        )
        loss, optimizer = self._how()
        split = len(rows) - self._held
        network = self._network(rows.shape[1])
        taught = teach(network, loss, optimizer, scaled[:split], scaled[split:], course, self._seed)
        self._taught = Taught(taught, self._window)

    def _begin(self, rows: _Floats) -> None:
        missing = max(0, self._window - len(rows))
        self._tail = Tail(np.concatenate([np.repeat(rows[:1], missing, axis=0), rows]), self._window)
        self._count = len(rows)

    def _advance(self, rows: _Floats) -> None:
        self._tail.add(rows)
        self._count += len(rows)

    def _expect(self, steps: int) -> _Floats:
        if self._still:
            return np.repeat(self._tail.last(1), steps, axis=0)
        window = self._scale.down(self._tail.last(self._window))
        return self._scale.up(self._taught.ahead(window, self._count - self._window, steps))

    def _errors(self, steps: int) -> _Floats:
        if self._still:
            return np.zeros((1, steps, self._rows.shape[1]))
        rows = self._rows
        first = len(rows) - self._held - self._window
        scaled = self._scale.down(rows[first:])
        found = np.maximum(
            self._scale.up(self._taught.many(scaled[: len(scaled) - steps], first, steps)), 0.0
        )
        ends = np.arange(len(found))[:, None] + self._window + np.arange(steps)
        return np.asarray(rows[first:][ends] - found)
