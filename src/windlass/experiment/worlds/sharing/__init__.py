"""Rigid jobs on one site, of which some share allocations.

- :mod:`~windlass.experiment.worlds.sharing.spec`: what a scenario may say.
- :mod:`~windlass.experiment.worlds.sharing.simulation`: one run, from jobs and what they use.
- :mod:`~windlass.experiment.worlds.sharing.world`: the jobs read or drawn, what they use drawn, run and measured.
"""
