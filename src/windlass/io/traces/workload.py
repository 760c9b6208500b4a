"""Conversion of a log's records to jobs that can be scheduled, with a note on each change."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from windlass.io.traces.groups import KINDS, Belongings, belongings_of
from windlass.io.traces.identifiers import ID, ids_of, numbered
from windlass.io.traces.logs.record import peak_processors
from windlass.io.traces.resources import ResourceRequest, gpus_of, memory_of, resource_columns
from windlass.io.traces.steps import LogRecords, describe, require_jobs
from windlass.io.traces.trace import REQUIRED, Trace
from windlass.io.traces.where import matching, shortened
from windlass.model import InputError, JobTable
from windlass.model.calendar import Calendar

_WAIT = "wait"


@dataclass(frozen=True, slots=True)
class Workload:
    """Jobs, and the system on which they are scheduled.

    Parameters
    ----------
    jobs
        At least one job, each with at most ``processors`` processors.
    processors
        Number of processors of the system.
    notes
        Notes on changes and on jobs left out, one sentence each.
    of
        Owners of the jobs: users, groups, queues and partitions.
    wait
        (n,) wait of each job in the log, s; NaN if unknown. None if the log has no waits.
    logged_processors
        Processors of the logged system, from the log or otherwise from the caller; None if neither states them.
    gpus, memory
        Requests other than processors, memory in bytes; None if the log has none.
    ids
        (n,) identifier of each job in the log, as text; None if these are the numbers ``jobs.job``.
    calendar
        The date of time 0, and the zone of the log; None if they are unknown, or if arrivals were changed.
    """

    jobs: JobTable
    processors: int
    notes: tuple[str, ...] = ()
    of: Belongings = field(default_factory=Belongings)
    wait: NDArray[np.float64] | None = None
    logged_processors: int | None = None
    gpus: ResourceRequest | None = None
    memory: ResourceRequest | None = None
    ids: pl.Series | None = None
    calendar: Calendar | None = None

    def name_of(self, row: int) -> str:
        """Return the identifier of a job in the log, or else its number.

        >>> Workload(JobTable.of(submit=[0], run=[5], procs=[1]), 4, ids=pl.Series(["102_7"])).name_of(0)
        '102_7'
        """
        found = None if self.ids is None else self.ids[row]
        return str(self.jobs.job[row]) if found is None else str(found)

    @property
    def users(self) -> NDArray[np.int64] | None:
        """(n,) the user of each job, numbered by :meth:`Members.logged`; None if the log has no users."""
        return None if self.of.user is None else self.of.user.logged()

    def take(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Workload:
        """Return the workload with only the selected jobs.

        >>> of = belongings_of(pl.DataFrame({"user": [7, 8]}))
        >>> whole = Workload(JobTable.of(submit=[0, 1], run=[5, 6], procs=[1, 1]), 4, of=of)
        >>> part = whole.take(np.array([False, True]))
        >>> part.jobs.run.tolist(), part.users.tolist(), part.processors
        ([6.0], [8], 4)
        """
        return dataclasses.replace(
            self,
            jobs=self.jobs.take(rows),
            of=self.of.take(rows),
            wait=None if self.wait is None else np.ascontiguousarray(self.wait[rows]),
            gpus=None if self.gpus is None else self.gpus.take(rows),
            memory=None if self.memory is None else self.memory.take(rows),
            ids=None if self.ids is None else self.ids.gather(_places(rows)),
        )


def to_workload(
    trace: Trace, processors: int | None = None, where: str | None = None, widest: int | None = None
) -> Workload:
    """Convert a trace to jobs by the following rules, in this order; each rule that applies adds a note.

    1. Only records for which ``where`` is true are used.
    2. A job is left out if it has no time of submission, no run time, or a negative one.
    3. A job's processors are the requested ones, or otherwise the allocated ones; without either it is left out.
    4. A job that needs more processors than there are, or than ``widest``, is left out.
    5. For a job that requests no run time, the request is its actual run time.
    6. Jobs are sorted by submission; jobs submitted at the same instant stay in the order of the log.
    7. If a job number is missing or appears twice, all jobs are renumbered 1, 2, … in that order. Their identifiers in
       the log are in ``Workload.ids``.

    A request of less than one processor, or of a run time of 0 or less, counts as none.

    Parameters
    ----------
    trace
        The records.
    processors
        Processors of the system; by default those of the trace, or otherwise those of its largest job.
    where
        An SQL expression over the columns of the records, such as ``"procs_requested > 0"`` or
        ``"user == 17 AND run < 3600"``.
    widest
        Maximum number of processors of a job; with it, systems of different sizes run the same jobs.

    Returns
    -------
    Workload
        Jobs (times in s), processors, and the notes of the trace followed by those of the rules.

    Raises
    ------
    InputError
        ``processors`` is below 1, ``where`` is not a condition over the columns, a job is submitted before
        time 0, or no jobs are left.

    Examples
    --------
    >>> trace = Trace.of_jobs(JobTable.of(submit=[0, 5], run=[10, 20], procs=[4, 200]), name="log")
    >>> workload = to_workload(trace, processors=100)
    >>> len(workload.jobs), workload.notes
    (1, ('1 job requests more than 100 processors and is left out: job 2 (200)',))
    """
    if processors is not None and processors < 1:
        raise InputError(f"{trace.name}: processors is {processors}, expected at least 1")
    complete = _complete(_chosen(trace, where))
    require_jobs(trace.name, complete)
    system, logged = processors or trace.processors, trace.processors
    if trace.peak and where is not None and not _is_stretch(trace, where):
        logged = peak_processors(complete.records)
        if processors is None and logged is not None and logged != system:
            complete = complete.with_notes(
                f"the jobs that are used held at most {logged:,} processors at once; if they had a site of their own, "
                f"set its number of processors ({system:,} here, those of all jobs)"
            )
    if system is None:
        system = _largest(complete)
        complete = complete.with_notes(
            f"the log does not state the number of processors; its largest job has {system}"
        )
    fitting = _fitting(complete, system, widest)
    require_jobs(trace.name, fitting)
    final = numbered(_sorted(_with_requests(fitting)))
    records = final.records
    return Workload(
        _job_table(trace.name, records),
        system,
        final.notes,
        belongings_of(records.select(pl.col(f"^of_({'|'.join(KINDS)})$").name.map(_without_of))),
        _waits(records),
        # The caller's number is more reliable than the peak use in the log.
        processors or logged if trace.peak else logged or processors,
        gpus_of(records),
        memory_of(records),
        ids_of(records),
        trace.calendar,
    )


def _is_stretch(trace: Trace, where: str) -> bool:
    """Return whether a condition selects neighbouring submissions, as one on the time does, and not a group."""
    # Some logs are in the order of ends.
    ordered = trace.records.sort("submit", maintain_order=True, nulls_last=True).with_row_index("row_of_log")
    rows = matching(trace.name, ordered, where)["row_of_log"].sort()
    return len(rows) > 0 and int(rows[-1]) - int(rows[0]) + 1 == len(rows)


def _places(rows: NDArray[np.bool_] | NDArray[np.int64]) -> NDArray[np.int64]:
    return np.flatnonzero(rows) if rows.dtype == np.bool_ else rows.astype(np.int64, copy=False)


def _without_of(name: str) -> str:
    return name.removeprefix("of_")


def _chosen(trace: Trace, where: str | None) -> LogRecords:
    records = trace.records if where is None else matching(trace.name, trace.records, where)
    step = LogRecords(_standard(trace.name, records), trace.notes)
    if where is not None:
        step = step.with_notes(
            f"{len(records):,} of {len(trace):,} jobs are used, those where {shortened(where)}"
        )
    early = step.records.filter(pl.col("submit") < 0)
    if len(early):
        message = f"submit is {early['submit'][0]:.15g}, expected a time of 0 s or more"
        raise InputError(f"{trace.name}: {describe(early, None)}, {message}")
    return step


def _standard(name: str, records: pl.DataFrame) -> pl.DataFrame:
    types = {"submit": pl.Float64, "run": pl.Float64, "request": pl.Float64}
    columns = [pl.col(column).cast(types.get(column, pl.Int64)) for column in REQUIRED]
    try:
        standard = records.select(columns)
    except pl.exceptions.PolarsError as error:
        reason = next(iter(str(error).splitlines()), "")
        raise InputError(f"{name}: expected columns of numbers: {reason}") from error
    if _WAIT in records.columns:
        standard = standard.with_columns(records[_WAIT].cast(pl.Float64, strict=False))
    kept = [records[kind].alias(f"of_{kind}") for kind in KINDS if kind in records.columns]
    if ID in records.columns:
        kept.append(records[ID].cast(pl.String, strict=False))
    standard = standard.with_columns(*kept, *resource_columns(records))
    return standard.with_columns(pl.col(*types).fill_nan(None)).with_row_index("record", offset=1)


def _complete(step: LogRecords) -> LogRecords:
    step = step.without(pl.col("submit").is_null(), "has no time of submission", "have no time of submission")
    step = step.without(pl.col("run").is_null(), "has no run time", "have no run time")
    step = step.without(pl.col("run") < 0, "has a negative run time", "have negative run times", "run")
    requested, allocated = pl.col("procs_requested"), pl.col("procs_allocated")
    with_procs = step.records.with_columns(
        lacks=(requested < 1).fill_null(True),
        procs=pl.when(requested >= 1).then(requested).when(allocated >= 1).then(allocated),
    )
    step = LogRecords(with_procs, step.notes).without(
        pl.col("procs").is_null(), "has no processors", "have no processors"
    )
    return step.with_note_on(
        pl.col("lacks"),
        "requests no processors, so the allocated ones are used",
        "request no processors, so the allocated ones are used",
        "procs",
    )


def _largest(step: LogRecords) -> int:
    return int(step.records["procs"].to_numpy().max())


def _fitting(step: LogRecords, system: int, widest: int | None) -> LogRecords:
    if widest is None:
        more = f"more than {system} processors"
        return step.without(pl.col("procs") > system, f"requests {more}", f"request {more}", "procs")
    # The note is the same for all compared systems.
    more = f"more than {widest} processors, the size of the smallest compared site,"
    wide = pl.col("procs") > min(widest, system)
    fitting = step.without(wide, f"requests {more}", f"request {more}", "procs")
    if fitting is step or len(fitting.records) == len(step.records):
        return fitting
    work = step.records.select(wide=wide, work=pl.col("procs") * pl.col("run"))
    whole, lost = (float(part["work"].sum() or 0.0) for part in (work, work.filter("wide")))
    left = f"so all sites run the same {len(fitting.records):,} jobs"
    return fitting.with_notes(
        f"{left}, without {100 * lost / whole:.2g} % of the work" if whole > 0 else left
    )


def _with_requests(step: LogRecords) -> LogRecords:
    # Logs write 0 for an unknown request, too; a job with a limit of 0 s would be stopped before it runs.
    lacks = (pl.col("request") <= 0).fill_null(True)
    step = step.with_note_on(
        lacks,
        "requests no run time, so its actual one is used",
        "request no run time, so their actual ones are used",
        "run",
    )
    request = pl.when(lacks).then(pl.col("run")).otherwise(pl.col("request"))
    return LogRecords(step.records.with_columns(request=request), step.notes)


def _sorted(step: LogRecords) -> LogRecords:
    early = pl.col("submit") < pl.col("submit").shift(1)
    step = step.with_note_on(
        early,
        "is submitted before the preceding one, so jobs are sorted by submission",
        "are submitted before the preceding one, so jobs are sorted by submission",
    )
    return LogRecords(step.records.sort("submit", maintain_order=True), step.notes)


def _waits(records: pl.DataFrame) -> NDArray[np.float64] | None:
    if _WAIT not in records.columns:
        return None
    waits = records[_WAIT].fill_null(np.nan).to_numpy(writable=True)
    known = np.isfinite(waits) & (waits >= 0)
    return np.where(known, waits, np.nan) if known.any() else None


def _job_table(name: str, records: pl.DataFrame) -> JobTable:
    # Writable copies, because kernels would be compiled again for read-only arrays.
    names = ("job", "submit", "run", "procs", "request")
    columns = {column: records[column].to_numpy(writable=True) for column in names}
    try:
        return JobTable(**columns)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
