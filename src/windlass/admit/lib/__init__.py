"""What policies of admission share; nobody else imports it.

- :mod:`~windlass.admit.lib.subspace`: leading directions of blocks, subspaces merged, and how far they are apart.
- :mod:`~windlass.admit.lib.trackers`: trackers by name; :mod:`~windlass.admit.lib.fpca`,
  :mod:`~windlass.admit.lib.spirit`, :mod:`~windlass.admit.lib.directions`, :mod:`~windlass.admit.lib.power`.
- :mod:`~windlass.admit.lib.scaling`: metrics on one scale, with NaN, constants and what is missing.
- :mod:`~windlass.admit.lib.stream`: nodes that scale, gather, track and project what they measure.
- :mod:`~windlass.admit.lib.spikes`: which projections jump.
- :mod:`~windlass.admit.lib.thresholds`: thresholds, fixed or moved to keep a downtime.
- :mod:`~windlass.admit.lib.forecasts`, :mod:`~windlass.admit.lib.arima`: what comes next in a series;
  :mod:`~windlass.admit.lib.spike_rules`: from which value on it is a spike.
- :mod:`~windlass.admit.lib.threshold_policy`: policies that look at one number.
- :mod:`~windlass.admit.lib.settings`: how Pronto watches a node.
- :mod:`~windlass.admit.lib.ridge`: a straight line, learned as things come.
- :mod:`~windlass.admit.lib.saved`: what was learned as bytes, versioned and checked.
"""
