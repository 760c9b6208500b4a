"""A predictive autoscaler: its embedding, and what its Transformer forecasts beside others.

The paper's own cluster is private, and Fuxi's log is not at hand. What stands for its own is Helios' cluster Venus, and
Philly is there in part. Pods of openb are a third cluster that the paper does not have.

- :mod:`~windlass_reproductions.autoscaler.paper`: the rows and plots, from the parts below.
- :mod:`~windlass_reproductions.autoscaler.examples`: what the paper works out by hand.
- :mod:`~windlass_reproductions.autoscaler.printed`: Table 4 as printed.
- :mod:`~windlass_reproductions.autoscaler.instances`: M5 and G4 of AWS.
- :mod:`~windlass_reproductions.autoscaler.data`: the series that are at hand, and
  :mod:`~windlass_reproductions.autoscaler.demand`, what jobs need over time.
- :mod:`~windlass_reproductions.autoscaler.sizes`: Figure 7, with which type a series should begin.
- :mod:`~windlass_reproductions.autoscaler.models`: the forecasters and their settings;
  :mod:`~windlass_reproductions.autoscaler.attention`: what the Transformer looks at.
- :mod:`~windlass_reproductions.autoscaler.compare`: forecasters on a series;
  :mod:`~windlass_reproductions.autoscaler.tables`, :mod:`~windlass_reproductions.autoscaler.figures`: rows and pictures
  of that.
- :mod:`~windlass_reproductions.autoscaler.verdicts`: how near is near enough.
- :mod:`~windlass_reproductions.autoscaler.curve`: the cost–wait curve, as rows and pictures, from the parts below.
- :mod:`~windlass_reproductions.autoscaler.curve_cases`: real workloads, and which weeks judge.
- :mod:`~windlass_reproductions.autoscaler.curve_grid`: policies and knobs.
- :mod:`~windlass_reproductions.autoscaler.curve_runs`: runs, measured week by week.
- :mod:`~windlass_reproductions.autoscaler.curve_front`: savings at equal hours and at equal wait, and how sure they
  are.
"""
