"""Kubernetes: nodes are requested before jobs need them, and a queue of Jobs is ordered by a policy.

- :mod:`~windlass.engines.kubernetes.access`: address and credentials of the API server.
- :mod:`~windlass.engines.kubernetes.server`: requests to it, and its errors; the node agent uses it, too.
- :mod:`~windlass.engines.kubernetes.pods`: resource requests, states and times of pods.
- :mod:`~windlass.engines.kubernetes.snapshot`: the cluster's state, computed from its nodes and pods.
- :mod:`~windlass.engines.kubernetes.objects`: the objects that request spare nodes.
- :mod:`~windlass.engines.kubernetes.headroom`: creates, updates and deletes these objects, and no others.
- :mod:`~windlass.engines.kubernetes.system`: the adapter that
  :class:`~windlass.engines.elastic.engine.LiveScale` drives.

- :mod:`~windlass.engines.kubernetes.lease`: one driver acts at a time.
- :mod:`~windlass.engines.kubernetes.jobs`: Jobs as a batch system.

``docs/kubernetes.md`` describes how to use it, and what it never does.
"""
