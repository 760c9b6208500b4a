"""Reader of Slurm's accounting, printed by ``sacct --json``.

Releases differ: a number is a number, or an object with flags for unset and infinite; a state is a word, or a list of
words. Both forms are read. Times are seconds since 1970, limits minutes, memory MiB.

Source: the manual page of sacct, and the schemas of Slurm's data parsers.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Annotated

from pydantic import Field

from windlass.io.traces.fields import UnreadableError
from windlass.io.traces.logs.json_items import JsonItem, read_json_log, validate_item
from windlass.io.traces.logs.record import NEVER_RAN, LoggedJob, LogReading, Omission
from windlass.io.traces.logs.slurm_job import TrackableResources, omission_of, several_clusters
from windlass.io.traces.trace import Trace

_Count = Annotated[int, Field(ge=0, le=2**53)]
_Seconds = Annotated[float, Field(ge=0, le=1e11)]
#: An amount of a resource; Slurm writes -2 for energy that it does not know.
_Amount = Annotated[float, Field(ge=-2, le=2**63)]


class _Number(JsonItem):
    set: bool = True
    infinite: bool = False
    number: _Seconds = 0.0


class _Times(JsonItem):
    submission: _Seconds
    start: _Seconds = 0.0
    end: _Seconds = 0.0
    elapsed: _Seconds = 0.0
    limit: _Seconds | _Number | None = None


class _Resource(JsonItem):
    type: str
    name: str | None = None
    count: _Amount | _Number | None = None


class _Resources(JsonItem):
    allocated: tuple[_Resource, ...] = ()
    requested: tuple[_Resource, ...] = ()


class _State(JsonItem):
    current: str | tuple[str, ...] = ""


class _Required(JsonItem):
    CPUs: _Count | _Number | None = None


class _Array(JsonItem):
    job_id: _Count = 0
    task_id: _Count | _Number | None = None
    task: str | None = None


class _Job(JsonItem):
    job_id: _Count
    time: _Times
    state: _State | str = ""
    tres: _Resources = _Resources()
    required: _Required = _Required()
    array: _Array = _Array()
    allocation_nodes: _Count | None = None
    user: str | None = None
    account: str | None = None
    qos: str | None = None
    partition: str | None = None
    cluster: str | None = None


def looks_like_sacct_json(head: str) -> bool:
    """Return whether a file begins like such an object.

    >>> looks_like_sacct_json('{"jobs": [{"account": "a", "job_id": 7, "time": {"elapsed": 60, "submission": 5}}]}')
    True
    """
    return head.lstrip().startswith("{") and all(
        f'"{key}"' in head for key in ("jobs", "submission", "elapsed")
    )


def read_sacct_json(path: str | PathLike[str], skip_bad_lines: bool = False) -> Trace:
    """Read JSON accounting of Slurm, plain or ``.gz``, as :func:`~windlass.io.traces.logs.sacct.read_sacct` does.

    Parameters
    ----------
    path
        The file.
    skip_bad_lines
        Whether to continue without the jobs that cannot be read; ``bad_lines`` counts jobs, from 1.

    Raises
    ------
    InputError
        The file cannot be read, has no jobs that ran, or has a job that cannot be read and ``skip_bad_lines`` is
        False.

    Examples
    --------
    >>> import json, tempfile
    >>> path = Path(tempfile.mkdtemp()) / "sacct.json"
    >>> job = {"job_id": 7, "state": {"current": ["COMPLETED"]}, "user": "ann", "tres": {"allocated": [
    ...     {"type": "cpu", "count": 4}, {"type": "gres", "name": "gpu", "count": 1}]},
    ...     "time": {"submission": 1714564800, "start": 1714564805, "end": 1714564865, "elapsed": 60,
    ...         "limit": {"set": True, "infinite": False, "number": 90}}}
    >>> _ = path.write_text(json.dumps({"jobs": [job]}))
    >>> read_sacct_json(path).records.select("wait", "run", "procs_allocated", "request", "gpus").row(0)
    (5.0, 60.0, 4, 5400.0, 1.0)
    """
    return read_json_log(Path(path), ("jobs",), _logged, skip_bad_lines, _notes)


def _logged(item: object) -> LoggedJob | Omission:
    job = validate_item(_Job, item)
    times = job.time
    held, request = _sum(job.tres.allocated), _sum(job.tres.requested)
    state = _word(job.state)
    start, end = times.start or None, times.end or None
    task = job.array.task_id
    if "[" in (job.array.task or "") or ("-" in (job.array.task or "") and start is None):
        return NEVER_RAN
    omission = omission_of(state, start, end, times.elapsed if end is not None else None, held.cpus)
    if omission is not None:
        return omission
    if start is not None and end is not None and end < start:
        raise UnreadableError.of("time.end", f"{end:.0f}", "a time that is not before time.start")
    number = _value(task)
    name = f"{job.array.job_id}_{number:.0f}" if number is not None and job.array.job_id else str(job.job_id)
    minutes = _value(times.limit)
    required = _value(job.required.CPUs)
    return LoggedJob(
        submit=times.submission,
        run=times.elapsed,
        start=start,
        job=job.job_id,
        job_id=name,
        procs_allocated=held.cpus,
        procs_requested=request.cpus
        if request.cpus is not None
        else None
        if required is None
        else int(required),
        request=None if minutes is None else 60.0 * minutes,
        user=job.user or None,
        group=job.account or None,
        queue=job.qos or None,
        partition=job.partition or None,
        cluster=job.cluster or None,
        state=state or None,
        gpus=held.gpus if held.gpus is not None else request.gpus,
        memory=held.memory or request.memory,
        nodes=job.allocation_nodes,
    )


def _value(number: float | _Number | None) -> float | None:
    if isinstance(number, _Number):
        return number.number if number.set and not number.infinite else None
    return number


def _word(state: _State | str) -> str:
    current = state.current if isinstance(state, _State) else state
    return current if isinstance(current, str) else next(iter(current), "")


def _sum(entries: tuple[_Resource, ...]) -> TrackableResources:
    cpus, memory, total = None, None, None
    typed: list[float] = []
    for entry in entries:
        count = _value(entry.count)
        if count is None or count < 0:
            continue
        if entry.type == "cpu":
            cpus = int(count)
        elif entry.type == "mem":
            memory = count * 2.0**20
        elif entry.type == "gres" and entry.name == "gpu":
            total = count
        elif entry.type == "gres" and (entry.name or "").startswith("gpu:"):
            typed.append(count)
    return TrackableResources(cpus, total if total is not None else sum(typed) if typed else None, memory)


def _notes(reading: LogReading) -> list[str]:
    clusters = {job.cluster for job in reading.jobs if job.cluster is not None}
    if len(clusters) < 2:
        return []
    return [several_clusters(clusters)]
