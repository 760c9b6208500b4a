"""Jobs of one site on a real batch system: which of them start is a policy's affair, how they run the system's.

- :mod:`~windlass.engines.batch.system`: the protocol that a batch system's adapter keeps: jobs to start in, events out.
- :mod:`~windlass.engines.batch.book`: which jobs wait, run and have ended, and what a policy sees of that.
  :mod:`~windlass.engines.batch.rows`: what it keeps of each.
- :mod:`~windlass.engines.batch.engine`: waits, shows a view, carries out the answer; says what it would start.
- :mod:`~windlass.engines.batch.side_decision`: what decides about the same jobs besides;
  :mod:`~windlass.engines.batch.sharing`: who shares an allocation;
  :mod:`~windlass.engines.batch.sharing_backend`: what that needs of a batch system.
- :mod:`~windlass.engines.batch.result`: what happened to each job, and what would.
"""
