"""A real cluster of a varying number of instances, scaled by the same policies as the simulated one.

- :mod:`~windlass.engines.elastic.system`: the protocol of a cluster; it knows no policy.
- :mod:`~windlass.engines.elastic.engine`: calls a policy once a period, and scales the cluster accordingly.
- :mod:`~windlass.engines.elastic.clock`: this machine's clock.
- :mod:`~windlass.engines.elastic.types`: types of instances, read from a user's file.
"""
