"""An executor on a Ray cluster whose nodes carry ``site`` labels; private clusters for tests and demos.

- :mod:`~windlass.engines.ray.target`: Ray as a target: a private cluster kept from run to run, or somebody's own.
- :mod:`~windlass.engines.ray.cluster`: starts and stops a private cluster, a raylet or more a site, on loopback only.
- :mod:`~windlass.engines.ray.join`: connects to a cluster; :mod:`~windlass.engines.ray.token`: what a private one
  asks for.
- :mod:`~windlass.engines.ray.worker_pool`: runs the cells of a scenario that is simulated, as Ray tasks;
  :mod:`~windlass.engines.ray.remote_version`: what is asked of its nodes before.
- :mod:`~windlass.engines.ray.orphans`: ends such a cluster with the process that started it, even one that is killed.
- :mod:`~windlass.engines.ray.executor`: carries out launches as Ray tasks, and tells how they ended.
- :mod:`~windlass.engines.ray.task`: what runs on Ray's workers.
- :mod:`~windlass.engines.ray.scale`: a cluster with an autoscaler of its own, asked for nodes.
- :mod:`~windlass.engines.ray.streams`: chains of streaming queries, an actor a segment;
  :mod:`~windlass.engines.ray.segment_actor`: that actor.
"""
