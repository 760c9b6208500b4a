"""CPU quotas and measurements of jobs by cgroups, and telemetry of the machine.

- :mod:`~windlass.engines.linux.groups`: the protocol of job groups, and the detection of the machine's hierarchy.
- :mod:`~windlass.engines.linux.v1`: job groups in cgroups v1, with one hierarchy per controller;
  :mod:`~windlass.engines.linux.cores`: the cores that a job may run on.
- :mod:`~windlass.engines.linux.v2`: job groups in cgroups v2, with a single hierarchy.
- :mod:`~windlass.engines.linux.files`: the files of cgroups, with errors that name file and value.
- :mod:`~windlass.engines.linux.members`: the processes of a job, even while they fork.
- :mod:`~windlass.engines.linux.measure`: CPU time, memory and run-queue wait of a job, and differences of samples.
- :mod:`~windlass.engines.linux.watchdog`: lifts all limits when the driver that set them ends or is killed.
- :mod:`~windlass.engines.linux.job_progress`: the file in which a program reports its progress.
- :mod:`~windlass.engines.linux.telemetry`: metrics of a machine, and their recorder.
- :mod:`~windlass.agent`: decides whether the machine may take one more task now.

Job groups need root, but no batch system. Their modules import nothing else of Windlass, because the watchdog must
start fast and the model imports numpy.
"""
