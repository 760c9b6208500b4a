"""The part of rigid jobs on one site: processors that a job holds from start to end, and one queue.

- :mod:`~windlass.sim.site.state`: a site's queue and its running jobs, as arrays.
- :mod:`~windlass.sim.site.setup`: how they are made.
- :mod:`~windlass.sim.site.moves`: what jobs do: they come to the queue, start and stop.
- :mod:`~windlass.sim.site.rates`: speeds that change, and jobs that run on the processors of others.
- :mod:`~windlass.sim.site.loop`: instant by instant, asking a compiled policy.
- :mod:`~windlass.sim.site.part`: the site as a part that others can be coupled with.
- :mod:`~windlass.sim.site.rated`: the same where speeds change, and jobs share processors.
- :mod:`~windlass.sim.site.replay`: jobs run through a policy, compiled or in Python, with nothing else around.
- :mod:`~windlass.sim.site.result`: what happened to each job.
"""
