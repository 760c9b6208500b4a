"""Rigid jobs and small tasks on the nodes of one site: jobs hold cores, tasks have what is idle.

- :mod:`~windlass.experiment.worlds.colocated.spec`: what a scenario may say.
- :mod:`~windlass.experiment.worlds.colocated.cluster`: its nodes, and when they are away.
- :mod:`~windlass.experiment.worlds.colocated.simulation`: jobs alone, tasks alone, both together.
- :mod:`~windlass.experiment.worlds.colocated.world`: read or drawn, run all three ways, measured.
"""
