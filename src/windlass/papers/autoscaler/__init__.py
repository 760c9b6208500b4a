"""A predictive autoscaler: its embedding, and what its Transformer forecasts beside others.

The paper's own cluster is private, and Fuxi's log is not at hand. What stands for its own is Helios' cluster Venus, and
Philly is there in part. Pods of openb are a third cluster that the paper does not have.

- :mod:`~windlass.papers.autoscaler.paper`: the rows and plots, from the parts below.
- :mod:`~windlass.papers.autoscaler.examples`: what the paper works out by hand.
- :mod:`~windlass.papers.autoscaler.printed`: Table 4 as printed.
- :mod:`~windlass.papers.autoscaler.instances`: M5 and G4 of AWS.
- :mod:`~windlass.papers.autoscaler.data`: the series that are at hand, and :mod:`~windlass.papers.autoscaler.demand`,
  what jobs need over time.
- :mod:`~windlass.papers.autoscaler.sizes`: Figure 7, with which type a series should begin.
- :mod:`~windlass.papers.autoscaler.models`: the forecasters and their settings;
  :mod:`~windlass.papers.autoscaler.attention`: what the Transformer looks at.
- :mod:`~windlass.papers.autoscaler.compare`: forecasters on a series; :mod:`~windlass.papers.autoscaler.tables`,
  :mod:`~windlass.papers.autoscaler.figures`: rows and pictures of that.
- :mod:`~windlass.papers.autoscaler.verdicts`: how near is near enough.
- :mod:`~windlass.papers.autoscaler.curve`: the cost–wait curve, as rows and pictures, from the parts below.
- :mod:`~windlass.papers.autoscaler.curve_cases`: real workloads, and which weeks judge.
- :mod:`~windlass.papers.autoscaler.curve_grid`: policies and knobs.
- :mod:`~windlass.papers.autoscaler.curve_runs`: runs, measured week by week.
- :mod:`~windlass.papers.autoscaler.curve_front`: savings at equal hours and at equal wait, and how sure they are.
"""
