"""A queue of OpenPBS, whose held jobs are released in the order of a policy.

- :mod:`~windlass.engines.pbs.client`: the client of PBS's commands; :mod:`~windlass.engines.pbs.output`: their JSON,
  with repairs of what some releases print wrongly.
- :mod:`~windlass.engines.pbs.models`: jobs and vnodes; :mod:`~windlass.engines.pbs.reader`: their attributes.
- :mod:`~windlass.engines.pbs.site`: the queue that :mod:`windlass.engines.batch.holds` drives.

``docs/pbs.md`` documents its use and its guarantees.
"""
