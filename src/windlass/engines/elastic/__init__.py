"""A real cluster whose instances come and go: the policies that scale the simulated one scale it.

- :mod:`~windlass.engines.elastic.system`: what is needed of a cluster; it knows no policy.
- :mod:`~windlass.engines.elastic.engine`: asks a policy once a period, and has the cluster follow.
- :mod:`~windlass.engines.elastic.clock`: this machine's clock.
- :mod:`~windlass.engines.elastic.types`: types of instances, from a file of the user's.
"""
