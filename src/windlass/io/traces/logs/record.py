"""From the jobs of a log to a trace: where time begins, what is left out and how many processors were at work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime

import polars as pl

from windlass.io.traces.columns import refuse_or_note
from windlass.io.traces.resources import most_at_once
from windlass.io.traces.trace import REQUIRED, BadLine, Trace
from windlass.model import InputError

#: Times from here on (1973) are dates; those before count from some beginning of the log's own.
_DATES = 1e8
#: Seconds from 1970 to the year 10000, of which calendars have no dates.
_NO_DATES = 253_402_300_800.0


@dataclass(frozen=True, slots=True)
class LoggedJob:
    """A job that ran; None for values that the log lacks.

    Parameters
    ----------
    submit, start, end
        s, since 1970 or since some beginning of the log's own.
    run
        How long it ran, s.
    job
        The number that it has in the log.
    job_id
        Its identifier in the log.
    procs_allocated, procs_requested
        Processors that it held and requested.
    request
        Requested run time, s.
    user, group, queue, partition, cluster, state
        Names in the log.
    gpus
        GPUs that it held, or else requested.
    memory
        Memory that it held, or else requested, bytes.
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
class Left:
    """A record that is no job to schedule: why, as ends the sentences "1 record …" and "3 records …"."""

    one: str
    many: str


NEVER_RAN = Left("is of a job that never ran", "are of jobs that never ran")
STILL_RUNS = Left("is of a job that still runs", "are of jobs that still run")
STEP = Left("is of a step of a job", "are of steps of jobs")


@dataclass(slots=True)
class LogReading:
    """What was found so far; a reader fills it, record by record.

    Parameters
    ----------
    jobs
        Those that ran.
    left
        How often a record was left out, by why.
    bad
        Lines that could not be read.
    """

    jobs: list[LoggedJob] = field(default_factory=list)
    left: Counter[Left] = field(default_factory=Counter)
    bad: list[BadLine] = field(default_factory=list)

    def take(self, found: LoggedJob | Left) -> None:
        """A job, or why there is none."""
        if isinstance(found, LoggedJob):
            self.jobs.append(found)
        else:
            self.left[found] += 1


def trace_of(
    file: str,
    name: str,
    reading: LogReading,
    skip_bad_lines: bool,
    unit: str = "line",
    notes: Sequence[str] = (),
) -> Trace:
    """The trace of what was read.

    Parameters
    ----------
    file, name
        How messages call the file, and how they call the trace.
    reading
        Jobs, bad lines and what was left out.
    skip_bad_lines
        Whether to go on without bad lines.
    unit
        What a line is called.
    notes
        More that a user should know.

    Returns
    -------
    Trace
        With ``wait`` (s), and those columns of :class:`LoggedJob` of which at least one value is known. Its processors
        are the most that were at work at once.

    Raises
    ------
    InputError
        A line was bad, or there are no jobs that ran.

    Examples
    --------
    >>> reading = LogReading()
    >>> reading.take(LoggedJob(submit=1.7e9, start=1.7e9 + 5, run=60, procs_allocated=4))
    >>> reading.take(NEVER_RAN)
    >>> trace = trace_of("a.log", "a", reading, False)
    >>> trace.records["wait"].to_list(), trace.processors
    ([5.0], 4)
    """
    said = [*refuse_or_note(file, reading.bad, skip_bad_lines, unit)]
    for why, count in reading.left.items():
        said.append(
            f"1 record {why.one} and is left out"
            if count == 1
            else f"{count:,} records {why.many} and are left out"
        )
    if not reading.jobs:
        first = (
            f"{unit} {reading.bad[0].line}: {reading.bad[0].reason}" if reading.bad else "the log has none"
        )
        raise InputError(f"{file}: no jobs that ran: " + ("; ".join(said) if reading.left else first))
    begin = min(job.submit for job in reading.jobs)
    if begin >= _NO_DATES:
        raise InputError(
            f"{file}: the first job is submitted {begin:g} s after 1970, expected a year of four digits"
        )
    if begin >= _DATES:
        date = datetime.fromtimestamp(begin, UTC).isoformat().replace("+00:00", "Z")
        said.append(f"times count from {date}, the first submission")
    else:
        begin = 0.0
    records = _records(reading.jobs, begin)
    peak = _most_at_once(records)
    if peak is not None:
        said.append(f"the log names no number of processors; {peak:,} at once is the most that jobs held")
    return Trace(name, records, peak, (*said, *notes), tuple(reading.bad), peak=peak is not None)


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
    # Clocks of two machines may put a start a second ahead of the submission.
    table = table.with_columns(
        wait=(pl.col("start") - pl.col("submit")).clip(0.0), submit=pl.col("submit") - begin
    ).drop("start")
    empty = [column for column in table.columns if table[column].null_count() == len(table)]
    return table.drop(set(empty) - set(REQUIRED)).select(*REQUIRED, pl.exclude(REQUIRED))


def _most_at_once(records: pl.DataFrame) -> int | None:
    """The most processors that jobs held at once, at least those of the largest; None where no start is known."""
    if "wait" not in records.columns:
        return None
    held = records.with_columns(
        start=pl.col("submit") + pl.col("wait"),
        procs=pl.coalesce("procs_allocated", "procs_requested"),
        most=pl.max_horizontal("procs_allocated", "procs_requested"),
    ).drop_nulls(["start", "procs"])
    if held.is_empty():
        return None
    start, run, procs = (held[name].to_numpy() for name in ("start", "run", "procs"))
    peak = max(int(most_at_once(start, run, procs)), int(held["most"].to_numpy().max()))
    return peak if peak >= 1 else None
