"""Logs as batch systems and clusters write them, a reader a file.

Each reader makes a :class:`~windlass.traces.trace.Trace`. Times count from the first submission of the log, which a
note names. What a reader leaves out is counted in a note: steps, jobs that never ran, jobs that still run. Beside the
columns that every trace has there are those of :class:`~windlass.traces.logs.logged.LoggedJob` that the log fills.

- :mod:`~windlass.traces.logs.sacct`, :mod:`~windlass.traces.logs.sacct_json`: Slurm's accounting, as text and as JSON;
  :mod:`~windlass.traces.logs.slurm_job`: what the two share.
- :mod:`~windlass.traces.logs.pbs`: accounting of PBS and Torque; :mod:`~windlass.traces.logs.lsf`: of LSF.
- :mod:`~windlass.traces.logs.kubectl`: pods of Kubernetes; :mod:`~windlass.traces.logs.ray_jobs`: jobs of Ray.
- :mod:`~windlass.traces.logs.philly`, :mod:`~windlass.traces.logs.helios`, :mod:`~windlass.traces.logs.openb`: clusters
  with GPUs, as their logs are published.
- :mod:`~windlass.traces.logs.logged`: from jobs that ran to a trace; :mod:`~windlass.traces.logs.rows`: a line of a
  table; :mod:`~windlass.traces.logs.tables`: tables as CSV; :mod:`~windlass.traces.logs.json_items`: items of JSON.
"""
