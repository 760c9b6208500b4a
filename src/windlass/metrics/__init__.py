"""What is measured of a run, one frozen dataclass a part of the simulator.

A field's metadata says whether a lower or a higher value is better (:data:`~windlass.results.LOWER`,
:data:`~windlass.results.HIGHER`); tables set the best value in bold. A metric that says neither has no best.

- :mod:`~windlass.metrics.site`: rigid jobs on one site.
- :mod:`~windlass.metrics.lacked`: which resource they lacked while they waited, and how much of each was in use.
- :mod:`~windlass.metrics.sharing`: the same, of which some share allocations.
- :mod:`~windlass.metrics.workers`: small tasks on many workers.
- :mod:`~windlass.metrics.colocated`: both on the nodes of one site, and what each costs the other.
- :mod:`~windlass.metrics.elastic`: jobs on instances that come and go.
- :mod:`~windlass.metrics.admission`: small tasks on nodes that reject some.
- :mod:`~windlass.metrics.video`: streaming queries on clusters in tiers.
- :mod:`~windlass.metrics.fleet`: jobs over the sites of a fleet.
- :mod:`~windlass.metrics.alone`: how long each job would take with the fleet to itself.
- :mod:`~windlass.metrics.bound`: a mean response that no schedule can beat.
"""
