r"""Reader of Slurm's accounting, printed by ``sacct --parsable2``, with any columns in any order.

A job needs JobID, Submit, one of ElapsedRaw, Elapsed, or Start and End, and one of AllocCPUS, NCPUS, ReqCPUS, AllocTRES
and ReqTRES. Optional columns: JobIDRaw, Cluster, Partition, User, Account, QOS, State, Timelimit, TimelimitRaw, ReqMem
and NNodes. A suitable command is::

    sacct -aPX -S 2024-01-01 -o JobIDRaw,JobID,Submit,Start,End,ElapsedRaw,State,Timelimit,ReqCPUS,AllocCPUS,\
        AllocTRES,User,Account,Partition,QOS

Source: the manual page of sacct.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike
from pathlib import Path

from windlass.io.traces.columns import quote
from windlass.io.traces.fields import UnreadableError
from windlass.io.traces.files import read_text, stem
from windlass.io.traces.logs.record import (
    NEVER_RAN,
    STEP,
    STILL_RUNS,
    LoggedJob,
    LogReading,
    Omission,
    trace_of,
)
from windlass.io.traces.logs.rows import Row, set_back_note
from windlass.io.traces.logs.slurm_job import (
    elapsed,
    limit,
    omission_of,
    requested_memory,
    resources,
    several_clusters,
)
from windlass.io.traces.trace import BadLine, Trace
from windlass.model import InputError
from windlass.model.calendar import HOUR

_JOB = re.compile(r"([0-9]+)(?:_(?:[0-9]+|\[[^\]]*\]?(?:\.\.\.)?)|\+[0-9]+)?")
_ZONE = re.compile(r"(?:Z|:[0-9]{2}[+-][0-9]{2}:?[0-9]{2}|^[0-9.]+)$")
_SIZES = ("AllocCPUS", "NCPUS", "ReqCPUS", "AllocTRES", "ReqTRES")
#: Only these columns can contain the separator.
_FREE = frozenset({"JobName", "Comment", "AdminComment", "SystemComment", "SubmitLine", "WorkDir", "Extra"})


def looks_like_sacct(head: str) -> bool:
    """Return whether the first line names columns of sacct.

    >>> looks_like_sacct("JobID|Submit|Elapsed\\n"), looks_like_sacct("a,b\\n")
    (True, False)
    """
    names = head.lstrip().partition("\n")[0].strip().split("|")
    return bool({"JobID", "JobIDRaw"} & set(names)) and len(names) > 1


def read_sacct(path: str | PathLike[str], skip_bad_lines: bool = False) -> Trace:
    """Read accounting of Slurm, plain or ``.gz``.

    Steps, pending and running jobs, and jobs that were cancelled before they started are left out; notes count them.
    A plain number in Timelimit or TimelimitRaw is in minutes, as in Slurm. A job without a limit of its own requests no
    run time.

    Parameters
    ----------
    path
        The file.
    skip_bad_lines
        Whether to continue without the lines that cannot be read, and list them in ``bad_lines``.

    Returns
    -------
    Trace
        The columns of :func:`~windlass.io.traces.logs.record.trace_of`: ``group`` is the account, ``queue`` the QOS.

    Raises
    ------
    InputError
        The file cannot be read, lacks a column or has no jobs that ran, or has a bad line and ``skip_bad_lines`` is
        False.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "sacct.txt"
    >>> _ = path.write_text("JobID|Submit|Start|Elapsed|Timelimit|AllocCPUS|State|User\\n"
    ...     "7|2024-05-01T12:00:00|2024-05-01T12:00:05|00:01:00|1-00:00:00|4|COMPLETED|ann\\n"
    ...     "7.batch|2024-05-01T12:00:05|2024-05-01T12:00:05|00:01:00||4|COMPLETED|\\n")
    >>> read_sacct(path).records.select("submit", "wait", "run", "request", "user").row(0)
    (0.0, 5.0, 60.0, 86400.0, 'ann')
    """
    file = Path(path)
    lines = read_text(file).split("\n")
    first = next(place for place, line in enumerate(lines) if line.strip())
    names = [name.strip() for name in lines[first].split("|")]
    _check_names(str(file), names)
    places = {name: place for place, name in reversed(list(enumerate(names)))}
    reading = LogReading()
    limitless = back = 0
    zoned = False
    clusters: set[str] = set()
    for count, line in enumerate(lines[first + 1 :], start=first + 2):
        if not line.strip():
            continue
        try:
            row = _row(line.rstrip("\r"), names, places)
            found = _job(row)
        except UnreadableError as error:
            reading.bad.append(BadLine(count, str(error)))
            continue
        reading.take(found)
        if isinstance(found, LoggedJob):
            back += _ends_before_start(row)
            limitless += found.request is None and _has_no_limit(row)
            zoned = zoned or _ZONE.search(row.text("Submit") or "") is not None
            if found.cluster is not None:
                clusters.add(found.cluster)
    notes = _notes(limitless, zoned, clusters)
    if back:
        notes.append(set_back_note(back))
    zone = "UTC" if zoned else None
    return trace_of(str(file), stem(file), reading, skip_bad_lines, notes=notes, zone=zone)


def _check_names(file: str, names: list[str]) -> None:
    for known, needed in (
        (("JobID", "JobIDRaw"), "JobID"),
        (("Submit",), "Submit"),
        (("ElapsedRaw", "Elapsed", "End"), "Elapsed"),
        (("Start", "ElapsedRaw", "Elapsed"), "Start"),
        (_SIZES, "AllocCPUS"),
    ):
        if not set(known) & set(names):
            others = f" (or {', '.join(name for name in known if name != needed)})" if len(known) > 1 else ""
            raise InputError(f"{file}: no column {needed!r}{others}, found {', '.join(map(quote, names))}")


def _row(line: str, names: list[str], places: Mapping[str, int]) -> Row:
    cells = line.split("|")
    surplus = len(cells) - len(names)
    free = [place for place, name in enumerate(names) if name in _FREE]
    if surplus > 0 and len(free) == 1:
        # The separator is not quoted, and a job's name may contain it.
        end = free[0] + surplus + 1
        cells[free[0] : end] = ["|".join(cells[free[0] : end])]
        surplus = 0
    if surplus:
        raise UnreadableError(f"{len(cells)} field{'s' * (len(cells) != 1)}, expected {len(names)}")
    return Row(places, cells)


def _job(row: Row) -> LoggedJob | Omission:
    job_id = row.text("JobID", "JobIDRaw") or ""
    if "." in job_id.partition("_[")[0]:
        return STEP
    match = _JOB.fullmatch(job_id)
    if match is None:
        name = "JobID" if "JobID" in row.places else "JobIDRaw"
        raise UnreadableError.of(name, job_id, "a job such as 123, 123_4 or 123.batch")
    raw = row.text("JobIDRaw")
    start, end = row.instant("Start"), row.instant("End")
    given = row.text("ElapsedRaw", "Elapsed")
    name = "ElapsedRaw" if row.text("ElapsedRaw") else "Elapsed"
    run = None if given is None else elapsed(name, given)
    if run is None and start is not None and end is not None:
        run = end - start
    held = resources("AllocTRES", row.text("AllocTRES"))
    request = resources("ReqTRES", row.text("ReqTRES"))
    allocated = next(
        (n for n in (row.whole("AllocCPUS"), row.whole("NCPUS"), held.cpus) if n is not None), None
    )
    requested = row.whole("ReqCPUS") or request.cpus
    state = row.text("State") or ""
    # Without a column of start or end times, only the state shows whether a job ran.
    known_start = start if "Start" in row.places else 0.0
    known_end = end if "End" in row.places else 0.0
    omission = NEVER_RAN if "[" in job_id else omission_of(state, known_start, known_end, run, allocated)
    if omission is not None:
        return omission
    submit = row.instant("Submit")
    if submit is None:
        raise UnreadableError.of("Submit", "", "a time such as 2024-05-01T12:00:00")
    if start is not None and end is not None and end < start and not _set_back(start, end, run):
        raise UnreadableError.of("End", row.text("End") or "", "a time that is not before Start")
    if run is None:
        return NEVER_RAN if start is None else STILL_RUNS
    nodes = row.whole("NNodes")
    memory = requested_memory("ReqMem", row.text("ReqMem"), requested or allocated, nodes)
    text = row.text("TimelimitRaw")
    name = "Timelimit" if text is None else "TimelimitRaw"
    return LoggedJob(
        submit=submit,
        run=run,
        start=start,
        job=int(raw)
        if raw is not None and raw.isascii() and raw.isdecimal() and len(raw) < 17
        else _number(match[1]),
        job_id=job_id,
        procs_allocated=allocated,
        procs_requested=requested,
        request=limit(name, row.text(name)),
        user=row.text("User"),
        group=row.text("Account", "Group"),
        queue=row.text("QOS"),
        partition=row.text("Partition"),
        cluster=row.text("Cluster"),
        state=state.split()[0] if state else None,
        gpus=held.gpus if held.gpus is not None else request.gpus,
        memory=held.memory or request.memory or memory,
        nodes=nodes,
    )


def _set_back(start: float, end: float, run: float | None) -> bool:
    """Return whether a job ended before its start by the clock because that was set back by an hour meanwhile."""
    return run is not None and run > 0 and abs(end + HOUR - start - run) <= 1.0


def _number(text: str) -> int | None:
    return int(text) if len(text) < 17 else None


def _ends_before_start(row: Row) -> bool:
    start, end = row.instant("Start"), row.instant("End")
    return start is not None and end is not None and end < start


def _has_no_limit(row: Row) -> bool:
    return (row.text("TimelimitRaw", "Timelimit") or "").upper() in ("UNLIMITED", "PARTITION_LIMIT")


def _notes(limitless: int, zoned: bool, clusters: set[str]) -> list[str]:
    notes = (
        []
        if zoned
        else ["times have no time zone and are used unchanged, also across daylight saving changes"]
    )
    if limitless:
        jobs, its = ("1 job has", "its") if limitless == 1 else (f"{limitless:,} jobs have", "their")
        notes.append(f"{jobs} no time limit of {its} own (UNLIMITED or Partition_Limit)")
    if len(clusters) > 1:
        notes.append(several_clusters(clusters))
    return notes
