"""What autoscalers share.

:mod:`~windlass.scale.lib.need` says what is needed now, :mod:`~windlass.scale.lib.feed` keeps a forecaster up to date
with what is seen, :mod:`~windlass.scale.lib.looks` serves who waits between two plans,
:mod:`~windlass.scale.lib.ladder` has instances in reserve without any history,
:mod:`~windlass.scale.lib.change` learns how far what is needed will have grown when an instance has started, and
:mod:`~windlass.scale.lib.odds` with what chance somebody comes who needs the s-th spare one;
:mod:`~windlass.scale.lib.comers` tells it who came, and :mod:`~windlass.scale.lib.spares` has as many spare ones as are
worth it.
"""
