"""Rigid jobs on one site, of which some share allocations.

- :mod:`~windlass.worlds.sharing.spec`: what a scenario may say.
- :mod:`~windlass.worlds.sharing.runs`: one run, from jobs and what they use.
- :mod:`~windlass.worlds.sharing.world`: the jobs read or drawn, what they use drawn, run and measured.
"""
