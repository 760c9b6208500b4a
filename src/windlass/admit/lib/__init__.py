"""Algorithms shared by the admission policies; internal to :mod:`windlass.admit`.

- :mod:`~windlass.admit.lib.subspace`: leading directions of blocks, merged subspaces, and distances between them.
- :mod:`~windlass.admit.lib.trackers`: trackers by name; :mod:`~windlass.admit.lib.fpca`,
  :mod:`~windlass.admit.lib.spirit`, :mod:`~windlass.admit.lib.directions`, :mod:`~windlass.admit.lib.power`;
  :mod:`~windlass.admit.lib.spectrum`: weights of directions of trackers that estimate no singular values.
- :mod:`~windlass.admit.lib.scaling`: metrics on one scale, with NaN, constants and missing values.
- :mod:`~windlass.admit.lib.stream`: nodes whose metrics are scaled, gathered to blocks, tracked and projected.
- :mod:`~windlass.admit.lib.spikes`: spikes of projections.
- :mod:`~windlass.admit.lib.thresholds`: thresholds, fixed or moved to keep a downtime.
- :mod:`~windlass.admit.lib.forecasts`, :mod:`~windlass.admit.lib.arima`: the next value of a series;
  :mod:`~windlass.admit.lib.spike_rules`: the smallest value that is a spike.
- :mod:`~windlass.admit.lib.spike_gate`: whether a node is in a spike, for policies that consider only other steps.
- :mod:`~windlass.admit.lib.threshold_policy`: policies that compare one number with a threshold.
- :mod:`~windlass.admit.lib.constant`: policies whose decision is always the same.
- :mod:`~windlass.admit.lib.load_policy`: policies that decide by the tasks of their node.
- :mod:`~windlass.admit.lib.settings`: parameters of Pronto.
- :mod:`~windlass.admit.lib.ridge`: online ridge regression.
- :mod:`~windlass.admit.lib.saved`: learned state as bytes, with version and checksum.
"""
