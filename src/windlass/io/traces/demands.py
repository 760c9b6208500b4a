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

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
import polars as pl

from windlass.io import read_csv
from windlass.io.traces.files import check_is_file
from windlass.io.traces.gpu_table import numbers
from windlass.io.traces.openb import openb_pods
from windlass.model import InputError
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


@dataclass(frozen=True, slots=True, eq=False)
class DemandLog:
    """Jobs of a log, with notes for the user, one line each."""

    jobs: VectorJobs
    notes: tuple[str, ...] = ()


def read_demands(
    path: str | PathLike[str], cores_per_gpu: float = 0.0, memory_per_gpu: float = 0.0
) -> DemandLog:
    """Read a table of jobs.

    Parameters
    ----------
    path
        A CSV file.
    cores_per_gpu, memory_per_gpu
        Request of a job per GPU, used if the table has no such column; memory in bytes.

    Raises
    ------
    InputError
        The file cannot be read, a column is missing, or a cell is not a number of 0 or more.

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
    if table.is_empty():
        raise InputError(f"{file}: no jobs")
    if "creation_time" in table.columns:
        return _pods(file, table)
    return _plain(file, table, cores_per_gpu, memory_per_gpu)


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
