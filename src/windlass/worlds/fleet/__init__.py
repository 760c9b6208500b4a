"""Jobs over the sites of a fleet.

- :mod:`~windlass.worlds.fleet.spec`: what a scenario may say; :mod:`~windlass.worlds.fleet.sites`: of the sites;
  :mod:`~windlass.worlds.fleet.jobs`: of the jobs.
- :mod:`~windlass.worlds.fleet.world`: the jobs drawn or read, run, measured.
- :mod:`~windlass.worlds.fleet.live`: the same on a live engine.
- :mod:`~windlass.worlds.fleet.standing`: a policy that orders jobs, on an engine that asks for placements.
"""
