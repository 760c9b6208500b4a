"""A real cluster of a varying number of instances, scaled by the same policies as the simulated one.

- :mod:`~windlass.engines.elastic.system`: the protocol of a cluster, independent of policies.
- :mod:`~windlass.engines.elastic.engine`: calls a policy once a period and scales the cluster.
- :mod:`~windlass.engines.elastic.metrics`: its present state, and the same for Prometheus.
- :mod:`~windlass.engines.elastic.clock`: the system clock.
- :mod:`~windlass.engines.elastic.types`: types of instances, read from a user's file.
"""
