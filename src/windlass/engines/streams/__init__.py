"""Streaming queries on real nodes: what is planned runs there, and is measured against what was planned.

- :mod:`~windlass.engines.streams.engine`: asks a policy when something has changed, and has chains follow its plan.
- :mod:`~windlass.engines.streams.executor`: the protocol that a cluster keeps: chains in, events out.
- :mod:`~windlass.engines.streams.book`: which nodes live, which queries are asked for, and what of each may run.
- :mod:`~windlass.engines.streams.chain_lifecycle`: a query's chains: who plays, who takes over, when to try again.
- :mod:`~windlass.engines.streams.scoring`: how right and how late each playing of a clip was.
- :mod:`~windlass.engines.streams.transit`: how late a frame should be.
- :mod:`~windlass.engines.streams.part`: a segment at work, wherever it runs.
- :mod:`~windlass.engines.streams.video`: components of a video pipeline as such work, on real clips.
- :mod:`~windlass.engines.streams.result`: what came out.
"""
