"""Real engines that carry out what policies decide.

- :mod:`~windlass.engines.live.engine`: jobs over sites on any executor: what the simulator does, with real tasks.
- :mod:`~windlass.engines.ray.executor`: an executor on a Ray cluster whose nodes carry ``site`` labels.
- :mod:`~windlass.engines.serve.router`: a request router for Ray Serve.

An engine decides nothing: :func:`windlass.drive.drive` asks a policy, the engine acts.
"""
