"""Logs as batch systems and clusters write them, a reader a file.

Each reader makes a :class:`~windlass.io.traces.trace.Trace`. Times count from the first submission of the log, which a
note names. A reader counts in a note what it leaves out: steps, jobs that never ran, jobs that still run. A trace has
the columns of every trace and those of :class:`~windlass.io.traces.logs.record.LoggedJob` that the log fills.

- :mod:`~windlass.io.traces.logs.sacct`, :mod:`~windlass.io.traces.logs.sacct_json`: Slurm's accounting, as text and as
  JSON; :mod:`~windlass.io.traces.logs.slurm_job`: what the two share.
- :mod:`~windlass.io.traces.logs.pbs`: accounting of PBS and Torque; :mod:`~windlass.io.traces.logs.lsf`: of LSF.
- :mod:`~windlass.io.traces.logs.kubectl`: pods of Kubernetes; :mod:`~windlass.io.traces.logs.ray_jobs`: jobs of Ray.
- :mod:`~windlass.io.traces.logs.philly`, :mod:`~windlass.io.traces.logs.helios`, :mod:`~windlass.io.traces.logs.openb`:
  clusters with GPUs, as their logs are published.
- :mod:`~windlass.io.traces.logs.record`: from jobs that ran to a trace; :mod:`~windlass.io.traces.logs.rows`: a line of
  a table; :mod:`~windlass.io.traces.logs.tables`: tables as CSV; :mod:`~windlass.io.traces.logs.json_items`: items of
  JSON.
"""
