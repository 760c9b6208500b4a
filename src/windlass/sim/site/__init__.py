"""The simulated site with rigid jobs: a job holds processors from start to end, and there is one queue.

- :mod:`~windlass.sim.site.state`: the queue and the running jobs, as arrays.
- :mod:`~windlass.sim.site.setup`: the state before any event.
- :mod:`~windlass.sim.site.long_queue`: the index of a long queue.
- :mod:`~windlass.sim.site.moves`: jobs enter the queue, start and stop.
- :mod:`~windlass.sim.site.rates`: changing speeds, and jobs that run on the processors of others.
- :mod:`~windlass.sim.site.loop`: the compiled loop, which calls a compiled policy.
- :mod:`~windlass.sim.site.part`: the site as a part of a simulation.
- :mod:`~windlass.sim.site.rated`: the same with changing speeds and shared processors.
- :mod:`~windlass.sim.site.replay`: simulation of one site alone, under a compiled or a Python policy.
- :mod:`~windlass.sim.site.result`: the outcome of each job.
"""
