"""The kinds of load of a cluster, one module each: fields, arrivals, and the part of the simulator that runs them.

- :mod:`~windlass.experiment.worlds.cluster.loads.rigid`: batch jobs of one site.
- :mod:`~windlass.experiment.worlds.cluster.loads.tasks`: short tasks of one site.
- :mod:`~windlass.experiment.worlds.cluster.loads.staged`: jobs of stages of tasks over several sites.
- :mod:`~windlass.experiment.worlds.cluster.loads.vectors`: jobs on elastic instances of one site.
- :mod:`~windlass.experiment.worlds.cluster.loads.queries`: streaming queries from the cameras of sites.
- :mod:`~windlass.experiment.worlds.cluster.loads.neighbours`: other software on the nodes of one site.
- :mod:`~windlass.experiment.worlds.cluster.loads.cut`: arrivals after the simulated time, which are left out.
"""
