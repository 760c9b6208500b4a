"""Reader of LSF's accounting file ``lsb.acct``: its JOB_FINISH records.

Fields are separated by blanks; text is quoted, with quotes inside doubled. The position of a field depends on the
number of hosts before it. The file does not contain the run time limit; a job's request is its estimated run time, if
there is one.

Source: the manual page lsb.acct(5).
"""

from __future__ import annotations

import csv
from os import PathLike
from pathlib import Path

from windlass.io.traces import fields
from windlass.io.traces.fields import UnreadableError
from windlass.io.traces.files import read_text, stem
from windlass.io.traces.logs.record import NEVER_RAN, LoggedJob, LogReading, Omission, trace_of
from windlass.io.traces.trace import BadLine, Trace

_EVENT = Omission(
    "is of something other than the end of a job", "are of something other than the end of a job"
)
#: Positions of the fields before the hosts.
_TIME, _JOB, _PROCESSORS, _SUBMIT, _START, _USER, _QUEUE, _ASKED_HOSTS = 2, 3, 6, 7, 10, 11, 12, 22
#: Positions of the fields after the hosts, relative to the status; resource usage takes 19 fields.
_PROJECT, _INDEX, _ESTIMATE = 24, 29, 45
_STATES = {32: "EXIT", 64: "DONE"}


def looks_like_lsf(head: str) -> bool:
    """Return whether the first line is a record of lsb.acct.

    >>> looks_like_lsf('"JOB_FINISH" "10.1" 1527327585 7610\\n')
    True
    """
    first = head.lstrip()
    return first.startswith(('"JOB_FINISH" "', '"EVENT_ADRSV_FINISH" "', '"JOB_RESIZE" "'))


def read_lsf(path: str | PathLike[str], skip_bad_lines: bool = False) -> Trace:
    """Read accounting of LSF, plain or ``.gz``.

    Parameters
    ----------
    path
        The file.
    skip_bad_lines
        Whether to continue without the lines that cannot be read, and list them in ``bad_lines``.

    Returns
    -------
    Trace
        The columns of :func:`~windlass.io.traces.logs.record.trace_of`: ``group`` is the project.

    Raises
    ------
    InputError
        The file cannot be read, has no job that ran, or has a bad line and ``skip_bad_lines`` is False.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "lsb.acct"
    >>> _ = path.write_text('"JOB_FINISH" "10.1" 1714564865 7 1000 0 2 1714564800 0 0 1714564805 "ann" "normal" '
    ...     '"" "" "" "m" "" "" "" "" "f" 0 1 "2*h1" 64 60.0 "say ""hi"" to" "sleep 60"\\n')
    >>> read_lsf(path).records.select("job", "wait", "run", "procs_allocated", "state").row(0)
    (7, 5.0, 60.0, 2, 'DONE')
    """
    file = Path(path)
    reading = LogReading()
    for count, line in enumerate(read_text(file).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            reading.take(_found(_cells(line)))
        except UnreadableError as error:
            reading.bad.append(BadLine(count, str(error)))
    return trace_of(str(file), stem(file), reading, skip_bad_lines)


def _cells(line: str) -> list[str]:
    try:
        return next(csv.reader([line.rstrip()], delimiter=" ", strict=True, skipinitialspace=True))
    except (csv.Error, StopIteration) as error:
        raise UnreadableError(f"the record is truncated or wrongly quoted: {error}") from error


def _found(cells: list[str]) -> LoggedJob | Omission:
    if cells[0] != "JOB_FINISH":
        if cells[0].isascii() and cells[0].replace("_", "").isupper():
            return _EVENT
        raise UnreadableError.of("the record", cells[0], "JOB_FINISH")
    start = _whole(cells, _START, "startTime")
    if start == 0:
        return NEVER_RAN
    end = _whole(cells, _TIME, "event time")
    if end < start:
        raise UnreadableError.of("event time", str(end), "a time that is not before startTime")
    count_at = _ASKED_HOSTS + 1 + _whole(cells, _ASKED_HOSTS, "numAskedHosts")
    hosts = _whole(cells, count_at, "numExHosts")
    held = sum(_slots(_cell(cells, place, "execHosts")) for place in _range(cells, count_at + 1, hosts))
    status = count_at + 1 + hosts
    estimate = _later(cells, status + _ESTIMATE)
    index = _later(cells, status + _INDEX)
    job = _whole(cells, _JOB, "jobId")
    state = _whole(cells, status, "jStatus")
    return LoggedJob(
        submit=_whole(cells, _SUBMIT, "submitTime"),
        run=float(end - start),
        start=start,
        job=None if index else job,
        job_id=f"{job}[{index:.0f}]" if index else str(job),
        procs_allocated=held or None,
        procs_requested=_whole(cells, _PROCESSORS, "numProcessors") or None,
        request=estimate or None,
        user=_cell(cells, _USER, "userName") or None,
        group=cells[status + _PROJECT] or None if len(cells) > status + _PROJECT else None,
        queue=_cell(cells, _QUEUE, "queue") or None,
        state=_STATES.get(state, str(state)),
    )


def _cell(cells: list[str], place: int, field: str) -> str:
    if place >= len(cells):
        raise UnreadableError(f"{field} is missing, the record ends after {len(cells)} fields")
    return cells[place]


def _whole(cells: list[str], place: int, field: str) -> int:
    return fields.whole(field, _cell(cells, place, field))


def _range(cells: list[str], first: int, count: int) -> range:
    _cell(cells, first + count, "execHosts")
    return range(first, first + count)


def _slots(host: str) -> int:
    """Return the processors of an entry: one for host, eight for 8*host."""
    times, star, _ = host.partition("*")
    return fields.whole("execHosts", times) if star else 1


def _later(cells: list[str], place: int) -> float | None:
    """Return a field that only newer releases write; None if it is missing or not a number, such as -1."""
    if place >= len(cells) or not cells[place].isdecimal():
        return None
    return float(fields.whole(f"field {place + 1}", cells[place]))
