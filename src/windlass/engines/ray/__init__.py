"""Engines on a Ray cluster: jobs over sites, simulated cells, streams and scaling; private clusters for tests.

- :mod:`~windlass.engines.ray.target`: a Ray cluster as a target: a private one kept between runs, or a user's.
- :mod:`~windlass.engines.ray.cluster`: starts and stops a private cluster with raylets for each site, on loopback only.
- :mod:`~windlass.engines.ray.join`: connects to a cluster; :mod:`~windlass.engines.ray.token`: the token of a private
  one.
- :mod:`~windlass.engines.ray.worker_pool`: runs the cells of a simulated scenario as Ray tasks;
  :mod:`~windlass.engines.ray.remote_version`: returns the version of Windlass on a node.
- :mod:`~windlass.engines.ray.orphans`: stops a private cluster when the process that started it ends or is killed.
- :mod:`~windlass.engines.ray.executor`: carries out launches as Ray tasks, and reports their end.
- :mod:`~windlass.engines.ray.task`: the code that runs on Ray's workers.
- :mod:`~windlass.engines.ray.scale`: nodes requested from a cluster with Ray's autoscaler.
- :mod:`~windlass.engines.ray.streams`: chains of streaming queries, with an actor per segment;
  :mod:`~windlass.engines.ray.segment_actor`: that actor.
"""
