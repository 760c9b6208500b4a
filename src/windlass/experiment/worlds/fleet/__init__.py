"""Jobs over the sites of a fleet.

- :mod:`~windlass.experiment.worlds.fleet.spec`: what a scenario may say;
  :mod:`~windlass.experiment.worlds.fleet.sites`: of the sites; :mod:`~windlass.experiment.worlds.fleet.jobs`: of the
  jobs.
- :mod:`~windlass.experiment.worlds.fleet.world`: the jobs drawn or read, run, measured.
- :mod:`~windlass.experiment.worlds.fleet.cluster_file`: sites as a file.
- :mod:`~windlass.experiment.worlds.fleet.live`: the same on a live engine.
- :mod:`~windlass.experiment.worlds.fleet.priority_order`: a policy that orders jobs, on an engine that asks for
  placements.
"""
