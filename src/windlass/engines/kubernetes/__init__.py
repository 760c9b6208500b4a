"""Kubernetes: instances are asked for before jobs need them.

- :mod:`~windlass.engines.kubernetes.access`: where the API server is, and the credentials for it.
- :mod:`~windlass.engines.kubernetes.server`: requests to it, and what its refusals mean; the agent uses it, too.
- :mod:`~windlass.engines.kubernetes.pods`: what pods ask for.
- :mod:`~windlass.engines.kubernetes.snapshot`: nodes and pods as the engine of scaling sees them.
- :mod:`~windlass.engines.kubernetes.objects`: the objects that ask for spare instances.
- :mod:`~windlass.engines.kubernetes.headroom`: writes them, and only those that it owns.
- :mod:`~windlass.engines.kubernetes.system`: the adapter that
  :class:`~windlass.engines.elastic.engine.LiveScale` drives.

``docs/kubernetes.md`` says how to use it, and what it never does.
"""
