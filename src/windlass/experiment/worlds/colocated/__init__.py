"""Rigid jobs and small tasks on the nodes of one site: jobs hold cores, tasks use idle ones.

- :mod:`~windlass.experiment.worlds.colocated.spec`: the fields of a scenario.
- :mod:`~windlass.experiment.worlds.colocated.simulation`: runs of jobs alone, tasks alone, and both together.
- :mod:`~windlass.experiment.worlds.colocated.world`: reads or generates the workload, runs and measures it.
"""
