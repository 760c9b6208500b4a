"""Conversion of records to jobs: the records that are left, and the notes on those that are not."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from windlass.model import InputError


@dataclass(frozen=True, slots=True)
class LogRecords:
    """Records in conversion, with the notes so far.

    Examples
    --------
    >>> step = LogRecords(pl.DataFrame({"record": [1, 2], "job": [7, 8], "run": [5.0, -3.0]}), ())
    >>> step.without(pl.col("run") < 0, "runs backwards", "run backwards", "run").notes
    ('1 job runs backwards and is left out: job 8 (-3)',)
    """

    records: pl.DataFrame
    notes: tuple[str, ...]

    def saying(self, *notes: str) -> LogRecords:
        """Return the same with more notes."""
        return LogRecords(self.records, self.notes + notes)

    def noting(self, which: pl.Expr, one: str, many: str, value: str | None = None) -> LogRecords:
        """The same with a word on some of the records: how many they are, and the first, with a value of its."""
        found = self.records.filter(which)
        if found.is_empty():
            return self
        told = f"1 job {one}: " if len(found) == 1 else f"{len(found):,} jobs {many}, the first: "
        return self.saying(told + described(found, value))

    def without(self, which: pl.Expr, one: str, many: str, value: str | None = None) -> LogRecords:
        """Some of the records left out, and a word on them."""
        noted = self.noting(which, f"{one} and is left out", f"{many} and are left out", value)
        return LogRecords(self.records.filter(~which), noted.notes)


def described(found: pl.DataFrame, value: str | None) -> str:
    """Describe the first of some records, with a value of it."""
    number = found["job"][0]
    who = f"record {found['record'][0]}" if number is None else f"job {number}"
    return who if value is None else f"{who} ({found[value][0]:.15g})"


def require_jobs(name: str, step: LogRecords) -> None:
    """Refuse to go on without records.

    Raises
    ------
    InputError
        No records are left; the message has all notes.
    """
    if step.records.is_empty():
        raise InputError(f"{name}: no jobs are left: " + ("; ".join(step.notes) or "the log has none"))
