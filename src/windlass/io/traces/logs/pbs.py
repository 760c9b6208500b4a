"""Reader of accounting files of PBS and Torque: the records of ended jobs (``E``), one per line.

A record is ``date time;kind;job;name=value name=value …``. Processors are Resource_List.ncpus or Resource_List.procs,
otherwise those of Resource_List.select or Resource_List.nodes; exec_host lists the allocated ones. A job was submitted
at its ctime, or otherwise at its qtime.

Sources: the accounting chapters of the administrator's guides of OpenPBS and Torque.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from windlass.io.traces import fields
from windlass.io.traces.fields import UnreadableError
from windlass.io.traces.files import read_text, stem
from windlass.io.traces.logs.record import STILL_RUNS, LoggedJob, LogReading, Omission, trace_of
from windlass.io.traces.logs.rows import Row
from windlass.io.traces.trace import BadLine, Trace

_RECORD = re.compile(
    r"[0-9]{2}/[0-9]{2}/[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?;([A-Za-z]+);([^;]*);(.*)"
)
_STAMP = re.compile(r"[0-9]{2}/[0-9]{2}/[0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2}[^;]*;[A-Za-z]+;")
_VALUE = re.compile(r'([^\s=]+)=("[^"]*"|\S*)')
_JOB = re.compile(r"([0-9]+)(\[([0-9]*)\])?")
_EVENT = Omission(
    "is of something other than the end of a job", "are of something other than the end of a job"
)
_PARENT = Omission("is of an array and not of its jobs", "are of arrays and not of their jobs")


def looks_like_pbs(head: str) -> bool:
    """Return whether the first line is such a record.

    >>> looks_like_pbs("04/23/2024 12:00:00;Q;12.srv;queue=batch\\n")
    True
    """
    return _STAMP.match(head.lstrip()) is not None


def read_pbs(path: str | PathLike[str], skip_bad_lines: bool = False) -> Trace:
    """Read accounting of PBS or Torque, plain or ``.gz``.

    Parameters
    ----------
    path
        The file; the files of several days may be concatenated.
    skip_bad_lines
        Whether to continue without the lines that cannot be read, and list them in ``bad_lines``.

    Returns
    -------
    Trace
        The columns of :func:`~windlass.io.traces.logs.record.trace_of`.

    Raises
    ------
    InputError
        The file cannot be read, has no job that ended, or has a bad line and ``skip_bad_lines`` is False.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "20240423"
    >>> _ = path.write_text("04/23/2024 12:02:00;E;12.srv;user=ann queue=batch ctime=1713873600 start=1713873630 "
    ...     "end=1713873720 Resource_List.nodes=2:ppn=8 Resource_List.walltime=01:00:00 "
    ...     "resources_used.walltime=00:01:30\\n")
    >>> read_pbs(path).records.select("job", "wait", "run", "procs_requested", "request").row(0)
    (12, 30.0, 90.0, 16, 3600.0)
    """
    file = Path(path)
    reading = LogReading()
    running: set[str] = set()
    for count, line in enumerate(read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            reading.take(_found(line.strip(), running))
        except UnreadableError as error:
            reading.bad.append(BadLine(count, str(error)))
    if running:
        reading.omitted[STILL_RUNS] += len(running)
        reading.omitted[_EVENT] -= len(running)
        reading.omitted = +reading.omitted
    return trace_of(str(file), stem(file), reading, skip_bad_lines)


def _found(line: str, running: set[str]) -> LoggedJob | Omission:
    match = _RECORD.fullmatch(line)
    if match is None:
        raise UnreadableError.of("the record", line, "one such as 04/23/2024 12:00:00;E;12.server;user=ann …")
    kind, job_id, text = match.groups()
    if kind == "S":
        running.add(job_id)
    elif kind in ("E", "R", "D", "A"):
        running.discard(job_id)
    if kind != "E":
        return _EVENT
    found = _JOB.match(job_id)
    if found is None:
        raise UnreadableError.of("the job", job_id, "one such as 12.server or 12[3].server")
    if found[2] is not None and not found[3]:
        return _PARENT
    return _logged(job_id, found, _row(text))


def _row(text: str) -> Row:
    pairs = _VALUE.findall(text)
    return Row(
        {name: place for place, (name, _) in enumerate(pairs)}, [value.strip('"') for _, value in pairs]
    )


def _logged(job_id: str, found: re.Match[str], row: Row) -> LoggedJob:
    submit = next((at for at in (row.instant("ctime"), row.instant("qtime")) if at is not None), None)
    if submit is None:
        raise UnreadableError("ctime is missing, expected the time of submission")
    start, end = row.instant("start"), row.instant("end")
    run = row.duration("resources_used.walltime")
    if run is None:
        if start is None or end is None:
            raise UnreadableError("resources_used.walltime is missing, expected it, or start and end")
        if end < start:
            raise UnreadableError.of("end", row.text("end") or "", "a time that is not before start")
        run = end - start
    select, nodes = row.text("Resource_List.select"), row.text("Resource_List.nodes")
    # Torque writes its default ncpus=1 together with nodes=2:ppn=4, so the largest amount is what the job requests.
    amounts = (
        row.whole("Resource_List.ncpus"),
        row.whole("Resource_List.procs"),
        _chunks("Resource_List.select", select, "ncpus"),
        _chunks("Resource_List.nodes", nodes, "ppn"),
    )
    requested = max((amount for amount in amounts if amount), default=None)
    gpus = row.whole("Resource_List.ngpus")
    if gpus is None:
        gpus = _chunks("Resource_List.select", select, "ngpus", 0) or _chunks(
            "Resource_List.nodes", nodes, "gpus", 0
        )
    memory = row.text("Resource_List.mem")
    return LoggedJob(
        submit=submit,
        run=run,
        start=start,
        job=int(found[1]) if found[2] is None and len(found[1]) < 17 else None,
        job_id=job_id,
        procs_allocated=_hosts(row.text("exec_host")),
        procs_requested=requested,
        request=row.duration("Resource_List.walltime"),
        user=row.text("user"),
        group=row.text("account", "group"),
        queue=row.text("queue"),
        state=row.text("Exit_status"),
        gpus=None if gpus is None else float(gpus),
        memory=None if memory is None else fields.memory("Resource_List.mem", memory, unit=""),
        nodes=row.whole("Resource_List.nodect"),
    )


def _chunks(field: str, text: str | None, each: str, default: int = 1) -> int | None:
    """Return the amount of a resource in chunks such as 2:ncpus=8+1:ncpus=4; a chunk without a number counts once."""
    if text is None:
        return None
    total = 0
    for chunk in text.split("+"):
        head, *others = chunk.split(":")
        amounts: Mapping[str, str] = dict(other.partition("=")[::2] for other in [head, *others])
        count = fields.whole(field, head) if head.isdecimal() else 1
        total += count * (fields.whole(f"{field}, {each}", amounts[each]) if each in amounts else default)
    return total


def _hosts(text: str | None) -> int | None:
    """Return the processors of exec_host: host/0+host/1, host/0*8 or host/0-7,9."""
    if text is None:
        return None
    total = 0
    for entry in text.split("+"):
        _, _, slots = entry.partition("/")
        slots, star, times = slots.partition("*")
        if star:
            total += fields.whole("exec_host", times)
            continue
        for part in slots.split(","):
            first, dash, last = part.partition("-")
            total += fields.whole("exec_host", last) - fields.whole("exec_host", first) + 1 if dash else 1
    return total if total > 0 else None
