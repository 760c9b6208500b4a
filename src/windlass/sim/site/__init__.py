"""The part of rigid jobs on one site: processors that a job holds from start to end, and one queue.

- :mod:`~windlass.sim.site.state`: a site's processors, its queue and its running jobs, as arrays.
- :mod:`~windlass.sim.site.loop`: the site and what will happen to it; instant by instant, asking a compiled policy.
- :mod:`~windlass.sim.site.replay`: jobs run through a policy, compiled or in Python, and what happened to each.
"""
