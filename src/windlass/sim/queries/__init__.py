"""Streaming queries on a hierarchy of clusters: the part of the simulated cluster in which a planner acts.

Queries arrive and leave, and the capacities of cores and links change. A planner gives each query a configuration; its
components hold cores of the ledger and rates of links. A query's stream is a fluid: the part that is not processed at
once is buffered, and lost when the buffer is full.

- :mod:`~windlass.sim.queries.part`: the part, which calls the planner and carries out its answers.
- :mod:`~windlass.sim.queries.steps`: its compiled steps, for instants at which nothing happens to a query.
- :mod:`~windlass.sim.queries.setup`: arrivals and departures, and the delays and limits of a run.
- :mod:`~windlass.sim.queries.sharing`: the speeds of components where resources are short.
- :mod:`~windlass.sim.queries.streams`: the frames of each query: processed, late or lost.
- :mod:`~windlass.sim.queries.demand`: the cores that queries lack, for an autoscaler.
- :mod:`~windlass.sim.queries.log`: the log of a run; :mod:`~windlass.sim.queries.result`: its result.
"""
