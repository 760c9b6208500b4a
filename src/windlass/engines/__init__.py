"""Real engines that carry out what policies decide.

- :mod:`~windlass.engines.live`: jobs over sites on any executor: what the simulator does, with real tasks.
- :mod:`~windlass.engines.ray`: an executor on a Ray cluster whose nodes carry ``site`` labels.
- :mod:`~windlass.engines.ray_serve`: a request router for Ray Serve.

An engine decides nothing: :func:`windlass.drive.drive` asks a policy, the engine acts.
"""
