"""Streaming queries on clusters in tiers, which come and go, as cores and links do.

- :mod:`~windlass.experiment.worlds.video.spec`: what a scenario may say.
- :mod:`~windlass.experiment.worlds.video.clusters`: the tiers, and what they lose and get back.
- :mod:`~windlass.experiment.worlds.video.streams`: the queries, read or drawn.
- :mod:`~windlass.experiment.worlds.video.simulation`: one run; :mod:`~windlass.experiment.worlds.video.world`: drawn,
  run and measured.
"""
