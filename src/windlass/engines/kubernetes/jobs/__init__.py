"""Kubernetes Jobs as a batch system: suspended Jobs that opted in are resumed in the order of a policy.

- :mod:`~windlass.engines.kubernetes.jobs.models`: a Job, read from the API server's JSON.
- :mod:`~windlass.engines.kubernetes.jobs.capacity`: the cores of the nodes that Jobs may use.
- :mod:`~windlass.engines.kubernetes.jobs.client`: lists of Jobs, and releases, with retries while the server is away.
- :mod:`~windlass.engines.kubernetes.jobs.watch`: changes of Jobs since the last poll, as events.
- :mod:`~windlass.engines.kubernetes.jobs.system`: the adapter that
  :class:`~windlass.engines.batch.engine.LiveSite` drives.
- :mod:`~windlass.engines.kubernetes.jobs.journal`: releases, on disk before they are made.
- :mod:`~windlass.engines.kubernetes.jobs.driver`: the driver of the queue, from start to stop, and its give-back.

``docs/kubernetes-jobs.md`` documents its use and its guarantees.
"""
