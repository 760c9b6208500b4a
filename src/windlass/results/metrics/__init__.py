"""What is measured of a run, one frozen dataclass a part of the simulator.

A field's metadata says whether a lower or a higher value is better (:data:`~windlass.results.LOWER`,
:data:`~windlass.results.HIGHER`); tables set the best value in bold. A metric that says neither has no best.

- :mod:`~windlass.results.metrics.site`: rigid jobs on one site.
- :mod:`~windlass.results.metrics.bottleneck`: which resource they lacked while they waited, and how much of each was in
  use.
- :mod:`~windlass.results.metrics.sharing`: the same, of which some share allocations.
- :mod:`~windlass.results.metrics.workers`: small tasks on many workers.
- :mod:`~windlass.results.metrics.colocated`: both on the nodes of one site, and what each costs the other.
- :mod:`~windlass.results.metrics.elastic`: jobs on instances that come and go.
- :mod:`~windlass.results.metrics.admission`: small tasks on nodes that reject some.
- :mod:`~windlass.results.metrics.video`: streaming queries on clusters in tiers.
- :mod:`~windlass.results.metrics.fleet`: jobs over the sites of a fleet.
- :mod:`~windlass.results.metrics.isolated`: how long each job would take with the fleet to itself.
- :mod:`~windlass.results.metrics.bound`: a mean response that no schedule can beat.
"""
