"""Jobs over the sites of a fleet.

- :mod:`~windlass.experiment.worlds.fleet.spec`: the fields of a scenario;
  :mod:`~windlass.experiment.worlds.fleet.sites`: those of the sites; :mod:`~windlass.experiment.worlds.fleet.jobs`:
  those of the jobs.
- :mod:`~windlass.experiment.worlds.fleet.world`: generates or reads, runs and measures the jobs;
  :mod:`~windlass.experiment.worlds.fleet.site_map`: the sites of a run, and what moved between them.
- :mod:`~windlass.experiment.worlds.fleet.composition`: the cluster that a scenario stands for.
- :mod:`~windlass.experiment.worlds.fleet.cluster_file`: writes sites to a file.
- :mod:`~windlass.experiment.worlds.fleet.live`: runs the jobs on a live engine.
- :mod:`~windlass.experiment.worlds.fleet.priority_order`: adapts an ordering policy to an engine that requests
  placements.
"""
