"""Identifiers of jobs in a log, such as ``102_7`` or the name of a pod, and the numbers that stand for them."""

from __future__ import annotations

import polars as pl

from windlass.io.traces.steps import LogRecords

#: The column of a log's identifiers, next to ``job``, the numbers.
ID = "job_id"


def numbered(step: LogRecords) -> LogRecords:
    """Return the records with a unique number of each job, and its identifier if that is another one.

    If a number is missing or appears twice, all jobs are renumbered 1, 2, … in their order. A note reports this unless
    each job has an identifier of its own, which then names it everywhere.

    Examples
    --------
    >>> records = pl.DataFrame({"record": [1, 2], "job": [102, 102], "job_id": ["102_1", "102_2"]})
    >>> found = numbered(LogRecords(records, ()))
    >>> found.records["job"].to_list(), found.records["job_id"].to_list(), found.notes
    ([1, 2], ['102_1', '102_2'], ())
    """
    records = step.records
    if ID in records.columns:
        repeated = pl.col(ID).is_duplicated() & pl.col(ID).is_not_null()
        step = step.with_note_on(
            repeated,
            "has a repeated identifier",
            "share an identifier with another one, so only their numbers are unique",
        )
        lacks_number = records["job"].is_null() | records["job"].is_duplicated()
        if not lacks_number.any():
            return step
        lacks_both = pl.col(ID).is_null() & pl.col("job").is_null()
        step = step.with_note_on(
            lacks_both, "has no identifier, so it has a number alone", "have no identifier, but numbers alone"
        )
        records = step.records.with_columns(pl.col(ID).fill_null(pl.col("job").cast(pl.String)))
        return LogRecords(records.with_columns(_in_order()), step.notes)
    unclear = pl.col("job").is_null() | pl.col("job").is_duplicated()
    noted = step.with_note_on(
        unclear,
        "has no number, so all are renumbered",
        "have no number or a repeated one, so all are renumbered",
    )
    if noted is step:
        return step
    records = step.records.with_columns(pl.col("job").cast(pl.String).alias(ID))
    return LogRecords(records.with_columns(_in_order()), noted.notes)


def ids_of(records: pl.DataFrame) -> pl.Series | None:
    """Return the identifiers of jobs; None if the log has none, or if they are the numbers of the jobs.

    >>> ids_of(pl.DataFrame({"job": [7, 8], "job_id": ["7", "8"]})) is None
    True
    """
    if ID not in records.columns:
        return None
    same = (pl.col(ID) == pl.col("job").cast(pl.String)).fill_null(False)
    if records[ID].null_count() == len(records) or bool(records.select(same.all()).item()):
        return None
    return records[ID]


def with_identifiers(records: pl.DataFrame) -> pl.DataFrame:
    """Return a table whose column ``job`` has whole numbers alone, with the text of other identifiers in ``job_id``.

    Examples
    --------
    >>> found = with_identifiers(pl.DataFrame({"job": ["102_7", "8"]}))
    >>> found["job"].to_list(), found["job_id"].to_list()
    ([None, '8'], ['102_7', '8'])
    """
    if records.schema.get("job") != pl.String:
        return records
    text = pl.col("job")
    # Tables that were written from floating-point columns have 7.0.
    number = text.str.strip_suffix(".0").cast(pl.Int64, strict=False)
    same = (number.cast(pl.String) == text.str.strip_suffix(".0")) & (number >= 0)
    if bool(records.select((same | text.is_null()).fill_null(False).all()).item()):
        return records.with_columns(text.str.strip_suffix(".0"))
    plain = pl.when(same).then(text.str.strip_suffix(".0"))
    return records.with_columns(text.alias(ID), plain.alias("job"))


def _in_order() -> pl.Expr:
    return pl.int_range(1, pl.len() + 1, dtype=pl.Int64).alias("job")
