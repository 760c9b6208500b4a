"""A request router for Ray Serve that learns how fast replicas are while it routes.

- :mod:`~windlass.engines.serve.router`: the router that Serve makes in each proxy and handle; knows Serve.
- :mod:`~windlass.engines.serve.options`: what the router can be told, checked before anything is deployed.
- :mod:`~windlass.engines.serve.replicas`: dispatch among replicas that come and go; knows no engine.
- :mod:`~windlass.engines.serve.replica`: one replica as it looks from outside.
- :mod:`~windlass.engines.serve.calls`: what a live router asks of a dispatch policy.
- :mod:`~windlass.engines.serve.benchmarks`: benchmark requests to replicas that are idle.
- :mod:`~windlass.engines.serve.metrics`: what a router tells of itself, where Ray collects metrics.
"""
