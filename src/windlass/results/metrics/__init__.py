"""Metrics of a run, one frozen dataclass per part of the simulator.

A field's metadata defines whether lower or higher values are better (:data:`~windlass.results.LOWER`,
:data:`~windlass.results.HIGHER`); tables print the best value in bold. A metric without a direction has no best value.

- :mod:`~windlass.results.metrics.site`: rigid jobs on one site.
- :mod:`~windlass.results.metrics.bottleneck`: the resources that these jobs waited for, and the used share of each.
- :mod:`~windlass.results.metrics.sharing`: jobs on a site, some of which share allocations.
- :mod:`~windlass.results.metrics.workers`: small tasks on many workers.
- :mod:`~windlass.results.metrics.colocated`: jobs and tasks on the nodes of one site, and their cost to each other.
- :mod:`~windlass.results.metrics.elastic`: jobs on instances that are launched and released.
- :mod:`~windlass.results.metrics.admission`: small tasks on nodes that reject some.
- :mod:`~windlass.results.metrics.video`: streaming queries on clusters in tiers.
- :mod:`~windlass.results.metrics.fleet`: jobs over the sites of a fleet.
- :mod:`~windlass.results.metrics.cluster`: one cluster with several kinds of load.
- :mod:`~windlass.results.metrics.isolated`: the time that each job would take alone on the fleet.
- :mod:`~windlass.results.metrics.bound`: a lower bound on the mean response of any schedule.
"""
