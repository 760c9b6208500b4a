"""Driver for Slurm: start held jobs in the order of a policy, and export finished jobs as a log.

- :mod:`~windlass.engines.slurm.cluster`: a private Slurm on this host for tests and trials; with
  :mod:`~windlass.engines.slurm.config`, :mod:`~windlass.engines.slurm.accounting`,
  :mod:`~windlass.engines.slurm.daemons` and :mod:`~windlass.engines.slurm.host`.
- :mod:`~windlass.engines.slurm.client`: the client of Slurm; :mod:`~windlass.engines.slurm.commands`: Slurm's commands
  as processes; :mod:`~windlass.engines.slurm.streaming`: one with long output; :mod:`~windlass.engines.slurm.release`:
  differences between releases; :mod:`~windlass.engines.slurm.batches`: commands on many jobs.
- :mod:`~windlass.engines.slurm.models`: jobs and nodes; :mod:`~windlass.engines.slurm.job_reader` and
  :mod:`~windlass.engines.slurm.node_reader`: their parsing from JSON, with the fields of each release in
  :mod:`~windlass.engines.slurm.shapes`; :mod:`~windlass.engines.slurm.output` and
  :mod:`~windlass.engines.slurm.misfits`: errors in it.
- :mod:`~windlass.engines.slurm.watch`: changes of jobs since the last poll, each a
  :mod:`~windlass.engines.slurm.known_job`; :mod:`~windlass.engines.slurm.reasons`: why a job waits, or cannot start;
  :mod:`~windlass.engines.slurm.sizes`: sizes of partitions, and nodes that fail or return;
  :mod:`~windlass.engines.slurm.allocation`: the processors that Slurm will give a waiting job.
- :mod:`~windlass.engines.slurm.system`: the adapter that :class:`~windlass.engines.batch.engine.LiveSite` drives.
- :mod:`~windlass.engines.slurm.journal`: decisions, written to disk before they are carried out, as
  :mod:`~windlass.engines.slurm.entries`; :mod:`~windlass.engines.slurm.history`: lookup of current jobs in it.
- :mod:`~windlass.engines.slurm.guests`: changes to jobs that run on another job's nodes, and how they are undone.
- :mod:`~windlass.engines.slurm.use`: which jobs may share an allocation on this host, and their measured usage;
  :mod:`~windlass.engines.slurm.shares`: their quotas;
  :mod:`~windlass.engines.slurm.state`: current pairs, saved for the next driver.
- :mod:`~windlass.engines.slurm.give_back`: the queue is released to Slurm's own scheduler.
- :mod:`~windlass.engines.slurm.notices`: what the driver reports about jobs.
- :mod:`~windlass.engines.slurm.driver`: the driver of Slurm's queue, from start to stop;
  :mod:`~windlass.engines.slurm.settings`: its policies and names;
  :mod:`~windlass.engines.slurm.sharing`: the co-scheduler that runs with it;
  :mod:`~windlass.engines.slurm.preview`: the same driver as a dry run; :mod:`~windlass.engines.slurm.observer`: the
  protocol by which the control plane observes either.
- :mod:`~windlass.engines.slurm.log`: finished jobs as a table that can be simulated.

``docs/slurm.md`` documents its use and its guarantees.
"""
