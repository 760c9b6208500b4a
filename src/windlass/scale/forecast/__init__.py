"""Forecasts of a series: how many instances of each type jobs will need.

A forecaster learns from (t, k) rows, one a period, and predicts the next ones: ``fit(series)``,
``forecast(steps, quantiles)``, ``update(new_rows)`` (:class:`Forecaster`). :class:`Adapted` wraps any object
with these methods. Everything that a forecaster learns or scales by comes from the rows that it was fitted
to.

Forecasters are the files of ``models/``:

- ``naive``, ``seasonal-naive``: the last row, or the row a season earlier.
- ``ses``, ``holt-winters``: exponential smoothing with the paper's parameters.
- ``nlinear``, ``dlinear``: linear in the last rows, by ridge regression.
- ``ets``, ``arima``, ``lightgbm``, ``lstm``, ``transformer``: need the extra ``forecast``.

:mod:`~windlass.scale.forecast.model` has the base class of all models: checks, and quantiles from past
errors. :mod:`~windlass.scale.forecast.rows` fills gaps, :mod:`~windlass.scale.forecast.scaling` scales
columns, and :mod:`~windlass.scale.forecast.seasons` checks season lengths.
:mod:`~windlass.scale.forecast.linear` has the base class of the linear models, and
:mod:`~windlass.scale.forecast.level_shifts` the shifts of level that they correct;
:mod:`~windlass.scale.forecast.network` and ``neural/`` have the networks.
:mod:`~windlass.scale.forecast.protocol` has the protocol and the adapter,
:mod:`~windlass.scale.forecast.extras` imports optional packages, and :mod:`~windlass.scale.forecast.registry`
makes forecasters by name.

>>> make("naive").fit([[3.0], [5.0]]).forecast(1).tolist()
[[5.0]]
"""

from __future__ import annotations

from windlass.scale.forecast.model import ForecastModel
from windlass.scale.forecast.protocol import Adapted, Forecaster
from windlass.scale.forecast.registry import forecasters, make

__all__ = ["Adapted", "ForecastModel", "Forecaster", "forecasters", "make"]
