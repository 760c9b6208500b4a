"""Reproduction of Hung's thesis (2017), chapter 5: with which configuration should each streaming query run?

- :mod:`~windlass_reproductions.cascade.paper`: the rows and plots, from the parts below.
- :mod:`~windlass_reproductions.cascade.example`: the worked example with two trackers.
- :mod:`~windlass_reproductions.cascade.drawn`: synthetic profiles of queries;
  :mod:`~windlass_reproductions.cascade.recorded`: measured profiles.
- :mod:`~windlass_reproductions.cascade.setting`: cameras, clusters, cloud, and queries on them.
- :mod:`~windlass_reproductions.cascade.runs`: the plans of planners on a case.
- :mod:`~windlass_reproductions.cascade.gains`: Cascade compared with the optimum, VideoStorm and fair shares.
- :mod:`~windlass_reproductions.cascade.merged`: planners that count equal work once, compared with their optimum.
- :mod:`~windlass_reproductions.cascade.demand`: the gain over fair shares as a curve over requested cores.
- :mod:`~windlass_reproductions.cascade.placement`: the accuracy and cost of queries, and where components run.
- :mod:`~windlass_reproductions.cascade.types`: comparison of kinds of queries.
- :mod:`~windlass_reproductions.cascade.heuristic`: the band, the time, cost and efficiency, other capacities.
- :mod:`~windlass_reproductions.cascade.verdicts`: criteria on intervals.
"""
