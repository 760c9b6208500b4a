"""CPU quotas and measurements of a job's processes, by control groups; and what a machine measures of itself.

- :mod:`~windlass.engines.linux.groups`: the protocol of job groups, and which hierarchy a machine has.
- :mod:`~windlass.engines.linux.v1`: job groups where each controller has a hierarchy of its own;
  :mod:`~windlass.engines.linux.cores`: which cores a job may run on.
- :mod:`~windlass.engines.linux.v2`: job groups in the one hierarchy of newer systems.
- :mod:`~windlass.engines.linux.files`: the files of control groups, with errors that name file and value.
- :mod:`~windlass.engines.linux.members`: which processes a job has, also while they fork.
- :mod:`~windlass.engines.linux.measure`: CPU time, memory and waiting of a job, and the difference of two samples.
- :mod:`~windlass.engines.linux.watchdog`: lifts all limits when the driver that set them ends, in whatever way.
- :mod:`~windlass.engines.linux.job_progress`: the file in which a program says how far it is.
- :mod:`~windlass.engines.linux.telemetry`: metrics of a machine, and their recorder.
- :mod:`~windlass.agent`: says whether the machine may take one more task now.

Job groups need root, and no batch system. Their modules import nothing else of Windlass: the watchdog must start fast,
and the words of the model bring numpy.
"""
