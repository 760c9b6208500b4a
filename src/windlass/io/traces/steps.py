"""Conversion of records to jobs: the remaining records, and notes on the records left out or changed."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from windlass.model import InputError


@dataclass(frozen=True, slots=True)
class LogRecords:
    """Records during the conversion, with the notes so far.

    Examples
    --------
    >>> step = LogRecords(pl.DataFrame({"record": [1, 2], "job": [7, 8], "run": [5.0, -3.0]}), ())
    >>> step.without(pl.col("run") < 0, "runs backwards", "run backwards", "run").notes
    ('1 job runs backwards and is left out: job 8 (-3)',)
    """

    records: pl.DataFrame
    notes: tuple[str, ...]

    def with_notes(self, *notes: str) -> LogRecords:
        """Return the same records with further notes."""
        return LogRecords(self.records, self.notes + notes)

    def with_note_on(self, which: pl.Expr, one: str, many: str, value: str | None = None) -> LogRecords:
        """Return the same records with a note on some of them: their number, and the first with one of its values."""
        found = self.records.filter(which)
        if found.is_empty():
            return self
        note = f"1 job {one}: " if len(found) == 1 else f"{len(found):,} jobs {many}, the first: "
        return self.with_notes(note + describe(found, value))

    def without(self, which: pl.Expr, one: str, many: str, value: str | None = None) -> LogRecords:
        """Return the records without some of them, with a note on those."""
        noted = self.with_note_on(which, f"{one} and is left out", f"{many} and are left out", value)
        return LogRecords(self.records.filter(~which), noted.notes)


def describe(found: pl.DataFrame, value: str | None) -> str:
    """Describe the first of some records, with the value of one column."""
    number = found["job_id"][0] if "job_id" in found.columns else None
    number = found["job"][0] if number is None else number
    name = f"record {found['record'][0]}" if number is None else f"job {number}"
    return name if value is None else f"{name} ({found[value][0]:.15g})"


def require_jobs(name: str, step: LogRecords) -> None:
    """Check that there are records left.

    Raises
    ------
    InputError
        No records are left; the message has all notes.
    """
    if step.records.is_empty():
        raise InputError(f"{name}: no jobs are left: " + ("; ".join(step.notes) or "the log has none"))
