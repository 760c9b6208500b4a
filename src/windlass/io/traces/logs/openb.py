"""Reader of the published openb log: pods of Alibaba's GPU cluster, one per line.

Pods request thousandths of cores and of GPUs; cores are rounded up to whole processors. Pods that were still running at
the end of the log end there.

Source: Weng et al., "Beware of fragmentation: scheduling GPU-sharing workloads with fragmentation gradient descent",
USENIX ATC 2023.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from windlass.io.traces.fields import UnreadableError
from windlass.io.traces.logs.record import NEVER_RAN, LoggedJob, Omission
from windlass.io.traces.logs.rows import Row
from windlass.io.traces.logs.tables import names_columns, read_csv_log
from windlass.io.traces.openb import MIB, POD_COLUMNS
from windlass.io.traces.trace import Trace


def looks_like_openb(head: str) -> bool:
    """Return whether the first line names the columns of openb.

    >>> looks_like_openb("name," + ",".join(POD_COLUMNS))
    True
    """
    return names_columns(head, POD_COLUMNS)


def read_openb_log(path: str | PathLike[str], skip_bad_lines: bool = False) -> Trace:
    """Read pods of openb, plain or ``.gz``.

    Parameters
    ----------
    path
        The file.
    skip_bad_lines
        Whether to continue without the lines that cannot be read, and list them in ``bad_lines``.

    Returns
    -------
    Trace
        The columns of :func:`~windlass.io.traces.logs.record.trace_of`: ``queue`` is the class of service.

    Raises
    ------
    InputError
        The file cannot be read, lacks a column or has no pods that ran, or has a bad line and ``skip_bad_lines`` is
        False.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "pods.csv"
    >>> _ = path.write_text(
    ...     "name,cpu_milli,memory_mib,num_gpu,gpu_milli,qos,creation_time,deletion_time,scheduled_time\\n"
    ...     "p0,6500,1024,1,460,LS,5,90,7\\np1,500,1,0,0,BE,3,8,\\n")
    >>> trace = read_openb_log(path)
    >>> trace.records.select("wait", "run", "procs_requested", "gpus").row(0), trace.notes[0]
    ((2.0, 83.0, 7, 0.46), '1 record is of a job that never ran and is left out')
    """
    note = "cores of pods are rounded up to whole processors, at least 1"
    return read_csv_log(Path(path), POD_COLUMNS, _logged, skip_bad_lines, (note,))


def _logged(row: Row) -> LoggedJob | Omission:
    cores, memory, gpus, share = (row.number(name) for name in POD_COLUMNS[:4])
    submit, end, start = (row.number(name) for name in POD_COLUMNS[4:])
    if submit is None or cores is None:
        raise UnreadableError(f"{'cpu_milli' if cores is None else 'creation_time'} is missing")
    if start is None or end is None:
        return NEVER_RAN
    if end < start:
        raise UnreadableError.of("deletion_time", row.text("deletion_time") or "", "at least scheduled_time")
    return LoggedJob(
        submit=submit,
        run=end - start,
        start=start,
        job_id=row.text("name"),
        procs_requested=max(1, int(-(-cores // 1000))),
        queue=row.text("qos"),
        state=row.text("pod_phase"),
        gpus=(gpus or 0.0) * (share or 0.0) / 1000.0,
        memory=None if memory is None else memory * MIB,
    )
