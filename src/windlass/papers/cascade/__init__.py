"""Chapter 5 of the geo-distributed thesis (Hung, 2017): with which configuration should each streaming query run?

- :mod:`~windlass.papers.cascade.paper`: the rows and plots, from the parts below.
- :mod:`~windlass.papers.cascade.example`: two trackers, by trying all configurations.
- :mod:`~windlass.papers.cascade.drawn`: drawn profiles; :mod:`~windlass.papers.cascade.recorded`: measured ones.
- :mod:`~windlass.papers.cascade.setting`: cameras, clusters, cloud, and queries on them.
- :mod:`~windlass.papers.cascade.runs`: what planners come to there.
- :mod:`~windlass.papers.cascade.gains`: beside the optimum, VideoStorm, fair parts, and with merging.
- :mod:`~windlass.papers.cascade.placement`: who gets what, and where components run.
- :mod:`~windlass.papers.cascade.types`: kinds of queries beside each other.
- :mod:`~windlass.papers.cascade.heuristic`: the band, the time, cost and efficiency, other capacities.
- :mod:`~windlass.papers.cascade.verdicts`: whether an interval is on the right side.
"""
