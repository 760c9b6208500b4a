"""Real engines that carry out what policies decide.

- :mod:`~windlass.engines.address`: hosts and ports as users give them.
- :mod:`~windlass.engines.batch`: jobs of one site on a batch system, started in a policy's order.
- :mod:`~windlass.engines.worker_pool`: who runs the cells of a scenario that is simulated: processes, or a Ray cluster.
- :mod:`~windlass.engines.elastic`: a cluster whose instances come and go, in numbers that a policy says.
- :mod:`~windlass.engines.kubernetes`: one such cluster, asked for spare instances through its API server.
- :mod:`~windlass.engines.linux`: CPU quotas of a job's processes, and what they use, by control groups.
- :mod:`~windlass.engines.live`: jobs over sites on any executor: what the simulator does, with real tasks.
- :mod:`~windlass.engines.ray`: an executor on a Ray cluster whose nodes carry ``site`` labels.
- :mod:`~windlass.engines.serve`: a request router for Ray Serve.
- :mod:`~windlass.engines.slurm`: a batch system: Slurm, by its own commands.
- :mod:`~windlass.engines.streams`: streaming queries over tiers of clusters, planned anew when something changes.
- :mod:`~windlass.engines.targets`: which engine a command means, where it runs, and executors on it.

An engine decides nothing: :func:`windlass.drive.drive` asks a policy, the engine acts. ``docs/add-an-engine.md`` adds
one.
"""
