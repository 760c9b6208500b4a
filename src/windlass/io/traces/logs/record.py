"""Conversion of a log's jobs to a trace: origin of times, records left out, and peak number of processors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields

import polars as pl

from windlass.io.traces.columns import refuse_or_note
from windlass.io.traces.resources import most_at_once
from windlass.io.traces.trace import REQUIRED, BadLine, Trace
from windlass.model import InputError
from windlass.model.calendar import Calendar

#: Times from here on (1973) are dates; earlier ones are relative to an origin of the log's own.
_DATES = 1e8
#: Seconds from 1970 to the year 10000, the first that ``datetime`` does not support.
_NO_DATES = 253_402_300_800.0


@dataclass(frozen=True, slots=True)
class LoggedJob:
    """A job that ran; None for values that the log lacks.

    Parameters
    ----------
    submit, start
        Times, s, since 1970 or since an origin of the log's own.
    run
        Run time, s.
    job
        Its number in the log.
    job_id
        Its identifier in the log.
    procs_allocated, procs_requested
        Processors that it held and requested.
    request
        Requested run time, s.
    user, group, queue, partition, cluster, state
        Names in the log.
    gpus
        GPUs that it held, or otherwise requested.
    memory
        Memory that it held, or otherwise requested, bytes.
    nodes
        Nodes that it held.
    """

    submit: float
    run: float
    start: float | None = None
    job: int | None = None
    job_id: str | None = None
    procs_allocated: int | None = None
    procs_requested: int | None = None
    request: float | None = None
    user: str | None = None
    group: str | None = None
    queue: str | None = None
    partition: str | None = None
    cluster: str | None = None
    state: str | None = None
    gpus: float | None = None
    memory: float | None = None
    nodes: int | None = None


@dataclass(frozen=True, slots=True)
class Omission:
    """A reason to leave out a record, as the rest of the sentences "1 record …" and "3 records …"."""

    one: str
    many: str


NEVER_RAN = Omission("is of a job that never ran", "are of jobs that never ran")
STILL_RUNS = Omission("is of a job that still runs", "are of jobs that still run")
STEP = Omission("is of a step of a job", "are of steps of jobs")


@dataclass(slots=True)
class LogReading:
    """The result of reading a log, which a reader fills record by record.

    Parameters
    ----------
    jobs
        Jobs that ran.
    omitted
        Number of records left out, by reason.
    bad
        Lines that could not be read.
    """

    jobs: list[LoggedJob] = field(default_factory=list)
    omitted: Counter[Omission] = field(default_factory=Counter)
    bad: list[BadLine] = field(default_factory=list)

    def take(self, found: LoggedJob | Omission) -> None:
        """Add a job, or count a record that is left out."""
        if isinstance(found, LoggedJob):
            self.jobs.append(found)
        else:
            self.omitted[found] += 1


def trace_of(
    file: str,
    name: str,
    reading: LogReading,
    skip_bad_lines: bool,
    unit: str = "line",
    notes: Sequence[str] = (),
    zone: str | None = "UTC",
) -> Trace:
    """Convert the result of reading a log to a trace.

    Parameters
    ----------
    file, name
        Names of the file and of the trace in messages.
    reading
        Jobs, bad lines and numbers of records left out.
    skip_bad_lines
        Whether to continue without bad lines.
    unit
        Name of a line in messages.
    notes
        Further notes for the user.
    zone
        The zone of the log's dates; None if they have none.

    Returns
    -------
    Trace
        A trace with ``wait`` (s), and those columns of :class:`LoggedJob` of which at least one value is known. Its
        ``processors`` is the largest number that jobs held at once.

    Raises
    ------
    InputError
        A line is bad and ``skip_bad_lines`` is False, or no job ran.

    Examples
    --------
    >>> reading = LogReading()
    >>> reading.take(LoggedJob(submit=1.7e9, start=1.7e9 + 5, run=60, procs_allocated=4))
    >>> reading.take(NEVER_RAN)
    >>> trace = trace_of("a.log", "a", reading, False)
    >>> trace.records["wait"].to_list(), trace.processors
    ([5.0], 4)
    """
    all_notes = [*refuse_or_note(file, reading.bad, skip_bad_lines, unit)]
    for reason, count in reading.omitted.items():
        all_notes.append(
            f"1 record {reason.one} and is left out"
            if count == 1
            else f"{count:,} records {reason.many} and are left out"
        )
    if not reading.jobs:
        first = (
            f"{unit} {reading.bad[0].line}: {reading.bad[0].reason}" if reading.bad else "the log has none"
        )
        raise InputError(f"{file}: no jobs that ran: " + ("; ".join(all_notes) if reading.omitted else first))
    begin = min(job.submit for job in reading.jobs)
    if begin >= _NO_DATES:
        raise InputError(
            f"{file}: the first job is submitted {begin:g} s after 1970, expected a year of four digits"
        )
    calendar = Calendar(begin, zone) if begin >= _DATES else None
    if calendar is None:
        begin = 0.0
    else:
        all_notes.append(calendar.origin_note)
    records = _records(reading.jobs, begin)
    peak = peak_processors(records)
    if peak is not None:
        all_notes.append(peak_note(peak))
    return Trace(
        name,
        records,
        peak,
        (*all_notes, *notes),
        tuple(reading.bad),
        peak=peak is not None,
        calendar=calendar,
    )


def _records(jobs: Iterable[LoggedJob], begin: float) -> pl.DataFrame:
    kinds = {"job": pl.Int64, "procs_allocated": pl.Int64, "procs_requested": pl.Int64, "nodes": pl.Int64}
    floats = dict.fromkeys(("submit", "run", "start", "request", "gpus", "memory"), pl.Float64)
    jobs = list(jobs)
    table = pl.DataFrame(
        {
            each.name: pl.Series(
                [getattr(job, each.name) for job in jobs],
                dtype=kinds.get(each.name) or floats.get(each.name) or pl.String,
            )
            for each in fields(LoggedJob)
        }
    )
    # The clocks of two machines can differ, so that a start is a second before the submission.
    table = table.with_columns(
        wait=(pl.col("start") - pl.col("submit")).clip(0.0), submit=pl.col("submit") - begin
    ).drop("start")
    empty = [column for column in table.columns if table[column].null_count() == len(table)]
    return table.drop(set(empty) - set(REQUIRED)).select(*REQUIRED, pl.exclude(REQUIRED))


def peak_note(peak: int) -> str:
    """Return the note that a log does not state its processors, and that the peak of its jobs is used.

    >>> peak_note(1200)
    'the log does not state the number of processors; jobs held at most 1,200 at once'
    """
    return f"the log does not state the number of processors; jobs held at most {peak:,} at once"


def peak_processors(records: pl.DataFrame) -> int | None:
    """Return the peak number of processors in use, at least those of the largest job; None if no start is known.

    Parameters
    ----------
    records
        Records with the columns of :class:`~windlass.io.traces.trace.Trace`, and ``wait`` if the log has starts.

    Examples
    --------
    >>> procs = {"procs_allocated": [2, 3], "procs_requested": [2, 3]}
    >>> peak_processors(pl.DataFrame({"submit": [0.0, 5.0], "run": [9.0, 9.0], "wait": [0.0, 0.0], **procs}))
    5
    """
    if "wait" not in records.columns:
        return None
    held = records.with_columns(
        start=pl.col("submit") + pl.col("wait"),
        procs=pl.coalesce("procs_allocated", "procs_requested"),
        most=pl.max_horizontal("procs_allocated", "procs_requested"),
    ).drop_nulls(["start", "procs", "run"])
    if held.is_empty():
        return None
    start, run, procs = (held[name].to_numpy() for name in ("start", "run", "procs"))
    peak = max(int(most_at_once(start, run, procs)), int(held["most"].to_numpy().max()))
    return peak if peak >= 1 else None
