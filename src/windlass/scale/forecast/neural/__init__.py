"""Networks that forecast, in JAX and Equinox, on whatever device JAX finds: the same code on CPUs and GPUs.

:mod:`~windlass.scale.forecast.neural.transformer` and :mod:`~windlass.scale.forecast.neural.lstm` are the networks,
:mod:`~windlass.scale.forecast.neural.sampling` has the first forecast row by row,
:mod:`~windlass.scale.forecast.neural.train` teaches them, :mod:`~windlass.scale.forecast.neural.windowed` makes
forecasters of them.

These modules need the extra ``forecast``, and nothing imports them before a network is fitted.
"""
