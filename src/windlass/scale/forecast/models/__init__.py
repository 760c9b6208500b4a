"""One forecaster a file; adding a file adds the forecaster.

``naive``, ``seasonal_naive``, ``ses``, ``holt_winters``, ``nlinear`` and ``dlinear`` need nothing besides; ``ets``,
``arima``, ``lightgbm``, ``lstm`` and ``transformer`` the extra ``forecast``.
"""
