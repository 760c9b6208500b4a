"""Streaming queries on real nodes: plans are carried out there, and results are compared with the plans.

- :mod:`~windlass.engines.streams.engine`: calls a policy after each change, and starts and stops chains by its plan.
- :mod:`~windlass.engines.streams.executor`: the protocol of a cluster: it runs chains and returns events.
- :mod:`~windlass.engines.streams.book`: living nodes, requested queries, and the possible options of each.
- :mod:`~windlass.engines.streams.chain_lifecycle`: a query's chains: the active one, its successor, and retries.
- :mod:`~windlass.engines.streams.scoring`: accuracy and latency of each playing of a clip.
- :mod:`~windlass.engines.streams.transit`: the expected latency of a frame.
- :mod:`~windlass.engines.streams.part`: a running segment, on any cluster.
- :mod:`~windlass.engines.streams.video`: components of a video pipeline as a segment's work, on real clips.
- :mod:`~windlass.engines.streams.query_file`: a file of queries that is read again when it changes.
- :mod:`~windlass.engines.streams.dry_run`: what a run would start.
- :mod:`~windlass.engines.streams.result`: the result of a run.
"""
