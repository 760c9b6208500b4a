"""Rigid jobs and small tasks on the nodes of one site: jobs hold cores, tasks have what is idle.

- :mod:`~windlass.worlds.colocated.spec`: what a scenario may say.
- :mod:`~windlass.worlds.colocated.cluster`: its nodes, and when they are away.
- :mod:`~windlass.worlds.colocated.runs`: jobs alone, tasks alone, both together.
- :mod:`~windlass.worlds.colocated.world`: read or drawn, run all three ways, measured.
"""
