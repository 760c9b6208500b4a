"""What autoscalers share.

:mod:`~windlass.scale.lib.demand` says what is needed now, :mod:`~windlass.scale.lib.forecast_input` keeps a forecaster
up to date with what is seen, :mod:`~windlass.scale.lib.polling` serves who waits between two plans,
:mod:`~windlass.scale.lib.steps` has instances in reserve without any history, :mod:`~windlass.scale.lib.change` learns
how far what is needed will have grown when an instance has started, and :mod:`~windlass.scale.lib.odds` with what
chance somebody comes who needs the s-th spare one; :mod:`~windlass.scale.lib.arrivals` tells it who came, and
:mod:`~windlass.scale.lib.spare_capacity` has as many spare ones as are worth it.
"""
