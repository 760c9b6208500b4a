"""Rigid jobs on one site, some of which share allocations.

- :mod:`~windlass.experiment.worlds.sharing.spec`: the fields of a scenario.
- :mod:`~windlass.experiment.worlds.sharing.simulation`: one run, given jobs and their resource use.
- :mod:`~windlass.experiment.worlds.sharing.world`: reads or generates the jobs, runs and measures them.
"""
