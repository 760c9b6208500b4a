"""Jobs of one site on a real batch system: a policy decides which of them start, and the system runs them.

- :mod:`~windlass.engines.batch.system`: the protocol of a batch system's adapter: it starts jobs and returns events.
- :mod:`~windlass.engines.batch.book`: the state of waiting, running and finished jobs, and the view of a policy;
  :mod:`~windlass.engines.batch.rows`: the record of each job.
- :mod:`~windlass.engines.batch.engine`: the engine, which waits, shows a view, and carries out or prints the decision.
- :mod:`~windlass.engines.batch.side_decision`: a second decision about the same jobs;
  :mod:`~windlass.engines.batch.sharing`: the decision which jobs share an allocation;
  :mod:`~windlass.engines.batch.sharing_backend`: what it needs of a batch system.
- :mod:`~windlass.engines.batch.journal`: decisions and actions, written to disk before they are carried out,
  as :mod:`~windlass.engines.batch.entries`; :mod:`~windlass.engines.batch.store`: the SQLite file that has them;
  :mod:`~windlass.engines.batch.journal_lock`: the lock of its driver;
  :mod:`~windlass.engines.batch.journal_folder`: its folder.
- :mod:`~windlass.engines.batch.journaled`: an engine that records its decisions there.
- :mod:`~windlass.engines.batch.polled_jobs`: jobs as last listed, and as last reported to the engine.
- :mod:`~windlass.engines.batch.polling`: when a batch system is polled, and the events of polls;
  :mod:`~windlass.engines.batch.unreadable`: errors about objects that cannot be read.
- :mod:`~windlass.engines.batch.status`: the present state of a driver; :mod:`~windlass.engines.batch.metrics`: the same
  for Prometheus; :mod:`~windlass.engines.batch.log_entry`: a line of its log;
  :mod:`~windlass.engines.batch.started`: the line on the jobs that a decision started.
- :mod:`~windlass.engines.batch.owners`: the users of jobs, what they have consumed, and the policy prepared for them.
- :mod:`~windlass.engines.batch.commands`: a batch system's commands as processes;
  :mod:`~windlass.engines.batch.batches`: commands on many jobs; :mod:`~windlass.engines.batch.retries`: retries while
  it does not answer.
- :mod:`~windlass.engines.batch.driver_lock`: one driver per cluster; :mod:`~windlass.engines.batch.undisturbed`: its
  end without interruption; :mod:`~windlass.engines.batch.queue_return`: the jobs that it gives back;
  :mod:`~windlass.engines.batch.give_back_record`: the journal that a give-back writes.
- :mod:`~windlass.engines.batch.holds`: systems whose jobs wait on hold, driven by their commands, as
  OpenPBS and HTCondor.
- :mod:`~windlass.engines.batch.result`: the outcome of each job, and plans.
"""
