"""Batch systems whose jobs wait on hold: a driver lifts the hold of each job that a policy starts.

- :mod:`~windlass.engines.batch.holds.site`: what such a system lists and changes: the protocol of its adapter.
- :mod:`~windlass.engines.batch.holds.client`: a client of its commands.
- :mod:`~windlass.engines.batch.holds.watch`: changes of jobs since the last poll, each a job of
  :mod:`~windlass.engines.batch.holds.known`.
- :mod:`~windlass.engines.batch.holds.system`: the adapter that
  :class:`~windlass.engines.batch.engine.LiveSite` drives.
- :mod:`~windlass.engines.batch.holds.journal`: decisions, written to disk before they are carried out, as
  :mod:`~windlass.engines.batch.holds.entries`; :mod:`~windlass.engines.batch.holds.history`: lookup of current jobs.
- :mod:`~windlass.engines.batch.holds.give_back`: the queue is released to the system's own scheduler.
- :mod:`~windlass.engines.batch.holds.driver`: the driver of a queue, from start to stop;
  :mod:`~windlass.engines.batch.holds.settings`: its policy, its files, and how it polls.
"""
