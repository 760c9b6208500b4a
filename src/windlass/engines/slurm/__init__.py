"""Slurm: jobs that their users left to Windlass start in the order of a policy, and a log of them is read back.

- :mod:`~windlass.engines.slurm.cluster`: a private Slurm on this host, for trying out; with
  :mod:`~windlass.engines.slurm.config`, :mod:`~windlass.engines.slurm.accounting`,
  :mod:`~windlass.engines.slurm.daemons` and :mod:`~windlass.engines.slurm.host`.
- :mod:`~windlass.engines.slurm.client`: Slurm's own commands; :mod:`~windlass.engines.slurm.models`: what they tell.
- :mod:`~windlass.engines.slurm.watch`: what has changed since the last look.
- :mod:`~windlass.engines.slurm.system`: the adapter that :class:`~windlass.engines.batch.engine.LiveSite` drives.
- :mod:`~windlass.engines.slurm.journal`: what was decided, on disk before it is done, in
  :mod:`~windlass.engines.slurm.entries`; :mod:`~windlass.engines.slurm.history`: what that says of jobs of now;
  :mod:`~windlass.engines.slurm.lock`: one driver a cluster.
- :mod:`~windlass.engines.slurm.guests`: jobs on the nodes of others, and what is undone when they wait again.
- :mod:`~windlass.engines.slurm.use`: which jobs may share an allocation on this host, and what they use;
  :mod:`~windlass.engines.slurm.shares`: their quotas;
  :mod:`~windlass.engines.slurm.state`: who shares, for a driver that comes after.
- :mod:`~windlass.engines.slurm.driver`: a policy in charge of Slurm's queue, from start to stop;
  :mod:`~windlass.engines.slurm.settings`: by which policies, and under which names;
  :mod:`~windlass.engines.slurm.sharing`: the co-scheduler beside it.
- :mod:`~windlass.engines.slurm.log`: jobs that have ended, as a table that can be run again.

``docs/slurm.md`` says how to use it, and what it never does.
"""
