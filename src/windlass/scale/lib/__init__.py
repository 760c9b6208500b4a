"""Parts that several autoscalers share.

:mod:`~windlass.scale.lib.demand` computes the current demand, and :mod:`~windlass.scale.lib.forecast_input`
feeds it to a forecaster. :mod:`~windlass.scale.lib.polling` serves waiting jobs between two plans, and
:mod:`~windlass.scale.lib.steps` keeps a reserve without any history. :mod:`~windlass.scale.lib.change`
predicts how far the demand will have grown once a new instance is up. :mod:`~windlass.scale.lib.odds`
predicts the probability that a job arrives that needs the s-th spare instance;
:mod:`~windlass.scale.lib.arrivals` feeds new jobs to it, and :mod:`~windlass.scale.lib.spare_capacity`
chooses the number of spare instances that are worth their cost.
"""
