"""Forecasters, one a file; a new file adds a forecaster.

``naive``, ``seasonal_naive``, ``ses``, ``holt_winters``, ``nlinear`` and ``dlinear`` need no optional
package; ``ets``, ``arima``, ``lightgbm``, ``lstm`` and ``transformer`` need the extra ``forecast``.
"""
