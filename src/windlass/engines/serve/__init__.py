"""A request router for Ray Serve that learns the speeds of replicas while it routes.

- :mod:`~windlass.engines.serve.router`: the router that Serve creates in each proxy and handle; it depends on Serve.
- :mod:`~windlass.engines.serve.options`: the router's options, validated before a deployment.
- :mod:`~windlass.engines.serve.policies`: the router's dispatch policy, made from its options.
- :mod:`~windlass.engines.serve.replicas`: dispatch among a changing set of replicas; it depends on no engine.
- :mod:`~windlass.engines.serve.replica`: one replica as observed from outside.
- :mod:`~windlass.engines.serve.ejection`: which replicas get no requests for a while, because theirs failed.
- :mod:`~windlass.engines.serve.outcomes`: how a request ended.
- :mod:`~windlass.engines.serve.calls`: the methods of a dispatch policy that a live router calls.
- :mod:`~windlass.engines.serve.benchmarks`: benchmark requests to idle replicas.
- :mod:`~windlass.engines.serve.metrics`: a router's metrics, exported through Ray.
"""
