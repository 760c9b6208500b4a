"""Neural networks for forecasts, in JAX and Equinox; the same code runs on CPUs and GPUs.

:mod:`~windlass.scale.forecast.neural.transformer` and :mod:`~windlass.scale.forecast.neural.lstm` are the
networks. :mod:`~windlass.scale.forecast.neural.sampling` decodes the Transformer's forecast row by row,
:mod:`~windlass.scale.forecast.neural.train` trains networks, and
:mod:`~windlass.scale.forecast.neural.windowed` makes forecasters of them.

These modules need the extra ``forecast``, and nothing imports them before a network is fitted.
"""
