"""The same workloads simulated and on Ray.

- :mod:`~windlass.papers.sim_vs_live.cases`: the workloads.
- :mod:`~windlass.papers.sim_vs_live.paper`: both runs of each, side by side.
"""
