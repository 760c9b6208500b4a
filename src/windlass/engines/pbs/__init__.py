"""Driver for PBS: held jobs of a queue of OpenPBS are released in the order of a policy.

- :mod:`~windlass.engines.pbs.client`: the client of PBS's commands; :mod:`~windlass.engines.pbs.output`: their JSON,
  with repairs of what some releases print wrongly.
- :mod:`~windlass.engines.pbs.models`: jobs and vnodes; :mod:`~windlass.engines.pbs.reader`: their attributes.
- :mod:`~windlass.engines.pbs.watch`: changes of jobs since the last poll, each a
  :mod:`~windlass.engines.pbs.known_job`.
- :mod:`~windlass.engines.pbs.system`: the adapter that :class:`~windlass.engines.batch.engine.LiveSite` drives.
- :mod:`~windlass.engines.pbs.journal`: decisions, written to disk before they are carried out, as
  :mod:`~windlass.engines.pbs.entries`; :mod:`~windlass.engines.pbs.history`: lookup of current jobs in it.
- :mod:`~windlass.engines.pbs.give_back`: the queue is released to PBS's own scheduler.
- :mod:`~windlass.engines.pbs.driver`: the driver of a queue, from start to stop;
  :mod:`~windlass.engines.pbs.settings`: its policy and the names of its files.

``docs/pbs.md`` documents its use and its guarantees.
"""
