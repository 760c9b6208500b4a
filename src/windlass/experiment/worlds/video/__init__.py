"""Streaming queries on tiers of clusters, where queries, cores and links change over time.

- :mod:`~windlass.experiment.worlds.video.spec`: the fields of a scenario.
- :mod:`~windlass.experiment.worlds.video.clusters`: the tiers, and changes of their cores and links.
- :mod:`~windlass.experiment.worlds.video.streams`: the queries, read or generated.
- :mod:`~windlass.experiment.worlds.video.simulation`: one run; :mod:`~windlass.experiment.worlds.video.world`:
  generates, runs and measures the queries.
"""
