"""A predictive autoscaler: its embedding, its Transformer compared with other forecasters, and its cost and waits.

The paper's own cluster is private, and Fuxi's log is not available. Helios' cluster Venus replaces the private one, and
a part of Philly is available. The pods of openb are a third cluster, which the paper does not use.

- :mod:`~windlass_reproductions.autoscaler.paper`: all rows and pictures, from the modules below.
- :mod:`~windlass_reproductions.autoscaler.examples`: the paper's worked examples.
- :mod:`~windlass_reproductions.autoscaler.printed`: Table 4 as printed.
- :mod:`~windlass_reproductions.autoscaler.instances`: the M5 and G4 instances of AWS.
- :mod:`~windlass_reproductions.autoscaler.data`: the available series;
  :mod:`~windlass_reproductions.autoscaler.demand`: the demand of jobs over time.
- :mod:`~windlass_reproductions.autoscaler.sizes`: Figure 7, the base instance of a series of types.
- :mod:`~windlass_reproductions.autoscaler.models`: the forecasters and their settings;
  :mod:`~windlass_reproductions.autoscaler.attention`: the attention of the Transformer.
- :mod:`~windlass_reproductions.autoscaler.compare`: errors of forecasters on a series;
  :mod:`~windlass_reproductions.autoscaler.tables`, :mod:`~windlass_reproductions.autoscaler.figures`: their rows
  and pictures.
- :mod:`~windlass_reproductions.autoscaler.verdicts`: criteria and tolerances.
- :mod:`~windlass_reproductions.autoscaler.curve`: rows and pictures of the cost–wait curve, from the modules below.
- :mod:`~windlass_reproductions.autoscaler.curve_cases`: real workloads, with their training and test weeks.
- :mod:`~windlass_reproductions.autoscaler.curve_grid`: policies and their parameter values.
- :mod:`~windlass_reproductions.autoscaler.curve_runs`: simulated runs, measured by week.
- :mod:`~windlass_reproductions.autoscaler.curve_front`: savings at equal hours and at equal wait, with intervals.
- :mod:`~windlass_reproductions.autoscaler.swept`: policies against swept baselines, at equal money.
"""
