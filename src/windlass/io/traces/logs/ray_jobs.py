"""Reader of Ray's jobs, from the dashboard (``GET /api/jobs/``) or ``ray list jobs --format json``.

Ray does not queue jobs, so a job's submission is its start. A job whose entrypoint requests no CPUs counts as one
processor. Times are milliseconds since 1970.

Source: Ray's reference of its job submission REST API.
"""

from __future__ import annotations

import math
from os import PathLike
from pathlib import Path
from typing import Annotated

from pydantic import Field

from windlass.io.traces.fields import UnreadableError
from windlass.io.traces.logs.json_items import JsonItem, read_json_log, validate_item
from windlass.io.traces.logs.record import NEVER_RAN, STILL_RUNS, LoggedJob, LogReading, Omission
from windlass.io.traces.trace import Trace

_Milliseconds = Annotated[float, Field(ge=0, le=1e14)]
_Amount = Annotated[float, Field(ge=0, le=1e15)]


class _Job(JsonItem):
    job_id: str | None = None
    submission_id: str | None = None
    status: str
    start_time: _Milliseconds | None = None
    end_time: _Milliseconds | None = None
    entrypoint_num_cpus: _Amount | None = None
    entrypoint_num_gpus: _Amount | None = None
    entrypoint_memory: _Amount | None = None
    metadata: dict[str, str] | None = None


def looks_like_ray_jobs(head: str) -> bool:
    """Return whether a file begins like a list of jobs.

    >>> looks_like_ray_jobs('[{"submission_id": "raysubmit_1", "entrypoint": "python a.py", "status": "FAILED"}]')
    True
    """
    return head.lstrip().startswith(("{", "[")) and all(
        f'"{key}"' in head for key in ("submission_id", "status")
    )


def read_ray_jobs(path: str | PathLike[str], skip_bad_lines: bool = False) -> Trace:
    """Read jobs of Ray as JSON, plain or ``.gz``.

    Parameters
    ----------
    path
        The file.
    skip_bad_lines
        Whether to continue without the jobs that cannot be read; ``bad_lines`` counts jobs, from 1.

    Returns
    -------
    Trace
        The columns of :func:`~windlass.io.traces.logs.record.trace_of`: ``user`` is from the job's metadata.

    Raises
    ------
    InputError
        The file cannot be read, has no job that ran, or has a job that cannot be read and ``skip_bad_lines`` is
        False.

    Examples
    --------
    >>> import json, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "jobs.json"
    >>> job = {"submission_id": "raysubmit_1", "status": "SUCCEEDED", "start_time": 1714564800000,
    ...     "end_time": 1714564860500, "entrypoint_num_gpus": 2}
    >>> _ = path.write_text(json.dumps([job]))
    >>> read_ray_jobs(path).records.select("submit", "run", "procs_requested", "gpus").row(0)
    (0.0, 60.5, 1, 2.0)
    """
    return read_json_log(Path(path), ("jobs", "result"), _logged, skip_bad_lines, _notes)


def _logged(item: object) -> LoggedJob | Omission:
    job = validate_item(_Job, item)
    if job.status in ("PENDING", "RUNNING"):
        return NEVER_RAN if job.status == "PENDING" else STILL_RUNS
    if not job.start_time or not job.end_time:
        return NEVER_RAN
    if job.end_time < job.start_time:
        raise UnreadableError.of("end_time", f"{job.end_time:.0f}", "a time that is not before start_time")
    start = job.start_time / 1e3
    return LoggedJob(
        submit=start,
        run=(job.end_time - job.start_time) / 1e3,
        start=start,
        job_id=job.submission_id or job.job_id,
        procs_requested=max(1, math.ceil(job.entrypoint_num_cpus or 0)),
        user=(job.metadata or {}).get("user"),
        state=job.status,
        gpus=job.entrypoint_num_gpus,
        memory=job.entrypoint_memory,
    )


def _notes(reading: LogReading) -> list[str]:
    if not reading.jobs:
        return []
    return [
        "submissions are the starts of jobs, as Ray has no job queue; a job that requests no CPUs counts as 1 processor"
    ]
