"""How a series goes on: how many instances of each type jobs will need.

A forecaster learns from (t, k) rows, one a period, and says what follows: ``fit(series)``, ``forecast(steps,
quantiles)``, ``update(new_rows)`` (:class:`Forecaster`). :class:`Adapted` takes any object of that shape. Everything
that a forecaster learns or scales by comes from the rows that it was fitted to.

Forecasters are the files of ``models/``:

- ``naive``, ``seasonal-naive``: as it is, as it was a season ago.
- ``ses``, ``holt-winters``: exponential smoothing by the paper's parameters.
- ``nlinear``, ``dlinear``: linear in the last rows, by ridge regression.
- ``ets``, ``arima``, ``lightgbm``, ``lstm``, ``transformer``: need the extra ``forecast``.

:mod:`~windlass.scale.forecast.model` is what they share: checks, and quantiles from errors;
:mod:`~windlass.scale.forecast.rows` fills gaps, :mod:`~windlass.scale.forecast.scaling` and
:mod:`~windlass.scale.forecast.seasons` are what they say; :mod:`~windlass.scale.forecast.linear` is of the linear
ones, :mod:`~windlass.scale.forecast.network` and ``neural/`` are of the networks.
:mod:`~windlass.scale.forecast.protocol` has the protocol and the adapter, :mod:`~windlass.scale.forecast.extras` what
is said where a package is missing, :mod:`~windlass.scale.forecast.registry` makes them by name.

>>> make("naive").fit([[3.0], [5.0]]).forecast(1).tolist()
[[5.0]]
"""

from __future__ import annotations

from windlass.scale.forecast.model import ForecastModel
from windlass.scale.forecast.protocol import Adapted, Forecaster
from windlass.scale.forecast.registry import forecasters, make

__all__ = ["Adapted", "ForecastModel", "Forecaster", "forecasters", "make"]
