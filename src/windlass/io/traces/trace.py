"""The result of every reader: the unchanged records of a log."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import polars as pl

from windlass.model import InputError, JobTable
from windlass.model.calendar import Calendar
from windlass.model.nearest import did_you_mean

REQUIRED = ("job", "submit", "run", "procs_allocated", "procs_requested", "request")


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line that could not be read.

    Parameters
    ----------
    line
        Its number in the file, from 1.
    reason
        The wrong field and its value, and what was expected.
    """

    line: int
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """The records of a log, one row per job, in the order of the file.

    Parameters
    ----------
    name
        Name of the trace in messages and tables.
    records
        At least the columns ``job`` (number), ``submit`` (s), ``run`` (s), ``procs_allocated``,
        ``procs_requested`` and ``request`` (the requested run time, s), and further columns of the format.
        A missing value is null.
    processors
        Processors of the logged system; None if the log does not state them.
    notes
        Changes that the reader made, one sentence each.
    bad_lines
        The lines that were skipped.
    peak
        Whether ``processors`` is only the largest number that jobs held at once; the system may have had more.
    calendar
        The date of time 0, and the zone of the log; None if the log does not state them.

    Raises
    ------
    InputError
        A required column is missing.

    Examples
    --------
    >>> trace = Trace.of_jobs(JobTable.of(submit=[0, 5], run=[10, 20], procs=[4, 2]), name="two")
    >>> len(trace), trace.records["procs_requested"].to_list()
    (2, [4, 2])
    """

    name: str
    records: pl.DataFrame
    processors: int | None = None
    notes: tuple[str, ...] = ()
    bad_lines: tuple[BadLine, ...] = ()
    peak: bool = field(default=False, kw_only=True)
    calendar: Calendar | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_columns(self.name, self.records, REQUIRED)

    @classmethod
    def of_jobs(cls, jobs: JobTable, name: str, processors: int | None = None) -> Trace:
        """Return generated or simulated jobs as a trace, which any writer can write."""
        columns = {
            "job": jobs.job,
            "submit": jobs.submit,
            "run": jobs.run,
            "procs_allocated": jobs.procs,
            "procs_requested": jobs.procs,
            "request": jobs.request,
        }
        return cls(name, pl.DataFrame(columns), processors)

    def __len__(self) -> int:
        return self.records.height


def check_columns(name: str, records: pl.DataFrame, needed: Iterable[str]) -> None:
    """Check that the records have the needed columns.

    Raises
    ------
    InputError
        A column is missing; names it and lists those found.
    """
    for column in needed:
        if column not in records.columns:
            hint = did_you_mean(column, records.columns)
            raise InputError(f"{name}: no column {column!r}, found {', '.join(records.columns)}{hint}")
