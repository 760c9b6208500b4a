"""Reader of jobs that request several resources, from a table.

There are two kinds of tables, distinguished by their columns:

- submit, run (s), and any of gpus, cores, memory (bytes), walltime (s), job. Alternative names are accepted:
  submit_s, arrival, arrival_s; run_s, duration, duration_s; cpus; walltime_s, request; job_id, id. Jobs are sorted by
  submission.
- pods of Alibaba's GPU cluster (openb): cpu_milli, memory_mib, num_gpu, gpu_milli (of each GPU, thousandths),
  creation_time, scheduled_time, deletion_time (s). A pod runs from its scheduling to its deletion. Pods that were never
  scheduled are left out, with a note.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np
import polars as pl

from windlass.io import read_csv
from windlass.io.traces.files import check_is_file
from windlass.io.traces.gpu_table import numbers
from windlass.io.traces.openb import openb_pods
from windlass.io.traces.where import matching
from windlass.io.traces.workload import Workload
from windlass.model import InputError
from windlass.model.calendar import Calendar
from windlass.model.vectors import VectorJobs

_NAMES = {
    "submit": ("submit", "submit_s", "arrival", "arrival_s"),
    "run": ("run", "run_s", "duration", "duration_s"),
    "gpus": ("gpus",),
    "cores": ("cores", "cpus"),
    "memory": ("memory",),
    "walltime": ("walltime", "walltime_s", "request"),
    "job": ("job", "job_id", "id"),
}

#: Times from this number on count milliseconds or smaller units since 1970.
_MILLISECONDS_FROM = 1e11


@dataclass(frozen=True, slots=True, eq=False)
class DemandLog:
    """Jobs of a log, with notes for the user, one line each, and (n,) their identifiers if these are no numbers.

    ``calendar`` has the date of time 0 and the zone; None if they are unknown.
    """

    jobs: VectorJobs
    notes: tuple[str, ...] = ()
    ids: pl.Series | None = None
    calendar: Calendar | None = None


def read_demands(
    path: str | PathLike[str],
    cores_per_gpu: float = 0.0,
    memory_per_gpu: float = 0.0,
    where: str | None = None,
) -> DemandLog:
    """Read a table of jobs.

    Parameters
    ----------
    path
        A CSV file.
    cores_per_gpu, memory_per_gpu
        Request of a job per GPU, used if the table has no such column; memory in bytes.
    where
        An SQL expression over the columns of the table, such as ``"gpus > 0"``; only these rows are used.

    Raises
    ------
    InputError
        The file cannot be read, the condition is true for no row or cannot be evaluated, a column is missing, or a cell
        is not a number of 0 or more.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "jobs.csv"
    >>> _ = path.write_text("vc,arrival_s,gpus,duration_s\\na,5,2,60\\nb,0,1,30\\n")
    >>> read_demands(path, cores_per_gpu=8).jobs.resources.tolist()
    [[1.0, 8.0, 0.0], [2.0, 16.0, 0.0]]
    """
    file = Path(path)
    check_is_file(file)
    table = read_csv(file)
    whole = len(table)
    if where is not None:
        table = matching(str(file), table, where)
    if table.is_empty():
        raise InputError(f"{file}: no jobs" + (f" where {where}" if where is not None and whole else ""))
    is_of_pods = "creation_time" in table.columns
    found = _pods(file, table) if is_of_pods else _plain(file, table, cores_per_gpu, memory_per_gpu)
    if where is None:
        return found
    note = f"{len(table):,} of {whole:,} jobs are used, those where {' '.join(where.split())}"
    return replace(found, notes=(note, *found.notes))


def is_demand_table(path: str | PathLike[str]) -> bool:
    """Return whether :func:`read_demands` reads a file: pods, or a table with submission and run time in seconds.

    Other tables, such as those with dates, with start and end, or with another separator, are read as a scheduler's log
    is.

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "jobs.csv"
    >>> _ = path.write_text("submit,run,cpus\\n2024-05-01 12:00:00,01:00:00,4\\n")
    >>> is_demand_table(path)
    False
    """
    try:
        table = read_csv(Path(path))
    except InputError:
        # An encoding or a compression that the other reader knows.
        return False
    if "creation_time" in table.columns:
        return True
    submit, run = (_named(table, role) for role in ("submit", "run"))
    if submit is None or run is None:
        return False
    # From here on, numbers count milliseconds or smaller units.
    latest = table[submit].cast(pl.Float64, strict=False).max()
    seconds = not isinstance(latest, float) or latest < _MILLISECONDS_FROM
    return seconds and all(_begins_with_number(table[name]) for name in (submit, run))


def _begins_with_number(cells: pl.Series) -> bool:
    """Return whether the first cell with text is a number, or cannot be read as a time or a duration either."""
    first = next((cell.strip() for cell in cells.head(100).to_list() if cell and cell.strip()), "")
    return not any(sign in first for sign in (":", "-", "/", "P"))


def demands_of(workload: Workload, cores_per_gpu: float = 0.0, memory_per_gpu: float = 0.0) -> DemandLog:
    """Return the jobs of a scheduler's log with the resources that they request.

    A processor counts as a core. If a log states GPUs alone, these are its processors; a job then requests cores and
    memory per GPU, as in :func:`read_demands`.

    Parameters
    ----------
    workload
        The jobs, as a site would run them.
    cores_per_gpu, memory_per_gpu
        Request of a job per GPU, used if the log states none; memory in bytes.

    Examples
    --------
    >>> from windlass.model import JobTable
    >>> jobs = JobTable.of(submit=[0, 5], run=[60, 30], procs=[4, 2], request=[90, 60])
    >>> found = demands_of(Workload(jobs, 8)).jobs
    >>> found.resources.tolist(), found.walltime.tolist()
    ([[0.0, 4.0, 0.0], [0.0, 2.0, 0.0]], [90.0, 60.0])
    """
    jobs, none = workload.jobs, np.zeros(len(workload.jobs))
    gpus = none if workload.gpus is None else np.nan_to_num(workload.gpus.amount)
    only_gpus = (gpus > 0) & (jobs.procs == gpus)
    cores = np.where(only_gpus, gpus * cores_per_gpu, jobs.procs)
    memory = gpus * memory_per_gpu if workload.memory is None else np.nan_to_num(workload.memory.amount)
    vectors = VectorJobs.of(jobs.submit, jobs.run, gpus, cores, memory, jobs.request, jobs.job)
    return DemandLog(vectors, workload.notes, workload.ids, workload.calendar)


def _plain(file: Path, table: pl.DataFrame, cores_per_gpu: float, memory_per_gpu: float) -> DemandLog:
    known = {role: _named(table, role) for role in _NAMES}
    for role in ("submit", "run"):
        if known[role] is None:
            wanted = ", ".join(_NAMES[role])
            raise InputError(f"{file}: no column {role} (or {wanted}), found {', '.join(table.columns)}")
    count = len(table)
    read = {role: numbers(file, table, name) for role, name in known.items() if name is not None}
    gpus = read.get("gpus", np.zeros(count))
    order = np.argsort(read["submit"], kind="stable")
    job = read.get("job", np.arange(1.0, count + 1))
    return DemandLog(
        VectorJobs.of(
            read["submit"][order],
            read["run"][order],
            gpus[order],
            read.get("cores", gpus * cores_per_gpu)[order],
            read.get("memory", gpus * memory_per_gpu)[order],
            read.get("walltime", np.full(count, np.inf))[order],
            job[order].astype(np.int64),
        )
    )


def _pods(file: Path, table: pl.DataFrame) -> DemandLog:
    pods = openb_pods(file, table)
    started = pods.was_scheduled
    if not started.any():
        raise InputError(f"{file}: none of its pods was scheduled")
    gpus, cores, memory = pods.resources[started].T
    run = np.maximum(pods.deleted - pods.scheduled, 0.0)[started]
    jobs = VectorJobs.of(pods.created[started], run, gpus, cores, memory, job=pods.number[started])
    missing = int((~started).sum())
    return DemandLog(jobs, (f"{missing:,} pods were never scheduled, and are left out",) if missing else ())


def _named(table: pl.DataFrame, role: str) -> str | None:
    return next((name for name in _NAMES[role] if name in table.columns), None)
