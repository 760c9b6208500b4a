"""Chapter 5 of the geo-distributed thesis (Hung, 2017): with which configuration should each streaming query run?

- :mod:`~windlass_reproductions.cascade.paper`: the rows and plots, from the parts below.
- :mod:`~windlass_reproductions.cascade.example`: two trackers, by trying all configurations.
- :mod:`~windlass_reproductions.cascade.drawn`: drawn profiles; :mod:`~windlass_reproductions.cascade.recorded`:
  measured ones.
- :mod:`~windlass_reproductions.cascade.setting`: cameras, clusters, cloud, and queries on them.
- :mod:`~windlass_reproductions.cascade.runs`: what planners come to there.
- :mod:`~windlass_reproductions.cascade.gains`: beside the optimum, VideoStorm, fair parts, and with merging.
- :mod:`~windlass_reproductions.cascade.placement`: who gets what, and where components run.
- :mod:`~windlass_reproductions.cascade.types`: kinds of queries beside each other.
- :mod:`~windlass_reproductions.cascade.heuristic`: the band, the time, cost and efficiency, other capacities.
- :mod:`~windlass_reproductions.cascade.verdicts`: whether an interval is on the right side.
"""
