"""Rigid parallel jobs on one site.

- :mod:`~windlass.worlds.batch.spec`: what a scenario may say.
- :mod:`~windlass.worlds.batch.world`: the jobs read or drawn, replayed, measured.
"""
