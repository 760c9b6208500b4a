"""Streaming queries on clusters in tiers, which come and go, as cores and links do.

- :mod:`~windlass.worlds.video.spec`: what a scenario may say.
- :mod:`~windlass.worlds.video.clusters`: the tiers, and what they lose and get back.
- :mod:`~windlass.worlds.video.streams`: the queries, read or drawn.
- :mod:`~windlass.worlds.video.runs`: one run; :mod:`~windlass.worlds.video.world`: drawn, run and measured.
"""
