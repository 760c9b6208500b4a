"""Streaming queries on a hierarchy of clusters: the part of the simulated cluster in which a planner acts.

Queries come and go, and so do cores and links. A planner gives each query a configuration, whose components hold cores
of the ledger and rates of links. What a query's stream gets of them is a fluid; what it does not get waits, and is lost
where it waits too long.

- :mod:`~windlass.sim.queries.part`: asks the planner, and lets it be so.
- :mod:`~windlass.sim.queries.setup`: who comes and goes when, and how long things take.
- :mod:`~windlass.sim.queries.sharing`: how fast components are where there is not enough for all.
- :mod:`~windlass.sim.queries.streams`: what becomes of each query's frames.
- :mod:`~windlass.sim.queries.log`: what is written down of it; :mod:`~windlass.sim.queries.result`: what happened.
"""
