"""Reader of the published Helios logs: ``cluster_log.csv`` of one cluster, one job per line.

A processor is a GPU; jobs without GPUs are left out. Times have no time zone.

Source: Hu et al., "Characterization and prediction of deep learning workloads in large-scale GPU datacenters", SC 2021.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from windlass.io.traces.fields import UnreadableError
from windlass.io.traces.logs.record import NEVER_RAN, STILL_RUNS, LoggedJob, Omission
from windlass.io.traces.logs.rows import Row
from windlass.io.traces.logs.tables import names_columns, read_csv_log
from windlass.io.traces.trace import Trace

_NAMES = ("job_id", "gpu_num", "submit_time", "start_time", "end_time")
_NO_GPUS = Omission("is of a job without GPUs", "are of jobs without GPUs")


def looks_like_helios(head: str) -> bool:
    """Return whether the first line names the columns of Helios.

    >>> looks_like_helios("job_id,user,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration\\n")
    True
    """
    return names_columns(head, _NAMES)


def read_helios_log(path: str | PathLike[str], skip_bad_lines: bool = False) -> Trace:
    """Read jobs of a Helios cluster, plain or ``.gz``.

    Parameters
    ----------
    path
        The file.
    skip_bad_lines
        Whether to continue without the lines that cannot be read, and list them in ``bad_lines``.

    Returns
    -------
    Trace
        The columns of :func:`~windlass.io.traces.logs.record.trace_of`: ``queue`` is the virtual cluster.

    Raises
    ------
    InputError
        The file cannot be read, lacks a column or has no jobs that ran, or has a bad line and ``skip_bad_lines`` is
        False.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "cluster_log.csv"
    >>> _ = path.write_text("job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration\\n"
    ...     "7,u1,vcA,8,32,1,COMPLETED,2020-04-01 00:00:00,2020-04-01 00:00:09,2020-04-01 01:00:09,3600\\n")
    >>> read_helios_log(path).records.select("wait", "run", "procs_requested", "queue").row(0)
    (9.0, 3600.0, 8, 'vcA')
    """
    return read_csv_log(Path(path), _NAMES, _logged, skip_bad_lines, ("a processor is a GPU",))


def _logged(row: Row) -> LoggedJob | Omission:
    gpus = row.whole("gpu_num")
    submit, start, end = (row.instant(name) for name in ("submit_time", "start_time", "end_time"))
    if submit is None or gpus is None:
        raise UnreadableError(f"{'gpu_num' if gpus is None else 'submit_time'} is missing")
    if start is None:
        return NEVER_RAN
    if end is None:
        return STILL_RUNS
    if end < start:
        raise UnreadableError.of(
            "end_time", row.text("end_time") or "", "a time that is not before start_time"
        )
    if gpus == 0:
        return _NO_GPUS
    job_id = row.text("job_id") or ""
    return LoggedJob(
        submit=submit,
        run=end - start,
        start=start,
        job=int(job_id) if job_id.isascii() and job_id.isdecimal() and len(job_id) < 17 else None,
        job_id=job_id or None,
        procs_requested=gpus,
        user=row.text("user"),
        queue=row.text("vc"),
        state=row.text("state"),
        gpus=float(gpus),
        nodes=row.whole("node_num"),
    )
