"""A live Slurm as an engine of the control plane: what `windlass slurm drive` does, in the journal and on the pages.

The driver's own journal remains the authority on what it released. The control plane's journal is written in addition.

- :mod:`~windlass.control.slurm.engine`: the engine, which drives a Slurm or only decides.
- :mod:`~windlass.control.slurm.observer`: what a driver sees and does, as rows of the journal.
- :mod:`~windlass.control.slurm.acts`: entries of the driver's journal as acts, with their outcomes.
- :mod:`~windlass.control.slurm.job_actions`: jobs that people hold and release.
- :mod:`~windlass.control.slurm.events`: what polls show: jobs submitted, started and ended, and nodes that fail.
- :mod:`~windlass.control.slurm.starts`: predicts when waiting jobs start.
- :mod:`~windlass.control.slurm.queue`: the queue as replays see it.
- :mod:`~windlass.control.slurm.status`: the state of the queue and the nodes;
  :mod:`~windlass.control.slurm.node_cores`: the cores of each node that jobs hold.
"""
