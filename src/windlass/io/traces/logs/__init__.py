"""Readers of logs of batch systems and clusters, one module per format.

Each reader returns a :class:`~windlass.io.traces.trace.Trace`. Times are relative to the first submission of the log,
which a note names. Another note counts the records left out: steps, jobs that never ran, jobs that still run. A trace
has the required columns and those of :class:`~windlass.io.traces.logs.record.LoggedJob` for which the log has values.

- :mod:`~windlass.io.traces.logs.sacct`, :mod:`~windlass.io.traces.logs.sacct_json`: Slurm's accounting, as text and as
  JSON; :mod:`~windlass.io.traces.logs.slurm_job`: fields that the two share.
- :mod:`~windlass.io.traces.logs.pbs`: accounting of PBS and Torque; :mod:`~windlass.io.traces.logs.lsf`: accounting of
  LSF.
- :mod:`~windlass.io.traces.logs.kubectl`: pods of Kubernetes; :mod:`~windlass.io.traces.logs.ray_jobs`: jobs of Ray.
- :mod:`~windlass.io.traces.logs.philly`, :mod:`~windlass.io.traces.logs.helios`, :mod:`~windlass.io.traces.logs.openb`:
  published logs of GPU clusters.
- :mod:`~windlass.io.traces.logs.published`: published tables in Parquet, CSV or JSON lines, with the columns of
  :mod:`~windlass.io.traces.logs.google`, :mod:`~windlass.io.traces.logs.pai`, :mod:`~windlass.io.traces.logs.pm100` and
  :mod:`~windlass.io.traces.logs.fdata`.
- :mod:`~windlass.io.traces.logs.record`: conversion of jobs that ran to a trace; :mod:`~windlass.io.traces.logs.rows`:
  a line of a table; :mod:`~windlass.io.traces.logs.tables`: CSV tables; :mod:`~windlass.io.traces.logs.json_items`:
  items of JSON.
"""
