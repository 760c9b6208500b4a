"""A table of a journal as a Parquet file."""

from __future__ import annotations

import zlib
from pathlib import Path

import polars as pl

from windlass.control.journal.reader import JournalReader
from windlass.io import check_file, parquet, write_bytes
from windlass.model.errors import ParameterError


def _schema(
    *texts: str, times: tuple[str, ...] = (), counts: tuple[str, ...] = (), other: tuple[str, ...] = ()
) -> pl.Schema:
    """Return the columns of an exported table: those of all tables, and its own."""
    return pl.Schema(
        {"id": pl.Int64(), "recorded": pl.Float64(), "time": pl.Float64()}
        | {"engine": pl.String(), "site": pl.String()}
        | {name: pl.String() for name in texts}
        | {name: pl.Float64() for name in times}
        | {name: pl.Int64() for name in counts}
        | {name: pl.Binary() for name in other}
    )


_SCHEMAS = {
    "decisions": _schema("job", "decision", "policy", "answer", "reason"),
    "events": _schema("job", "kind", "text"),
    "acts": _schema("job", "key", "action", "outcome", times=("concluded",)),
    "actions": _schema(
        "job", "key", "action", "by", "reason", "outcome", times=("concluded",), counts=("undoes",)
    ),
    "views": _schema(other=("content",)),
    "predictions": _schema(
        "job", times=("low", "median", "high", "planned", "level", "started"), counts=("scored", "first")
    ),
}
#: The tables that can be exported.
TABLES = tuple(_SCHEMAS)


def export_journal(journal: Path, out: Path, table: str = "decisions") -> int:
    """Write a table of a journal as Parquet, and return the number of rows.

    Parameters
    ----------
    journal
        The journal, which another process may write meanwhile.
    out
        The file to write or replace.
    table
        One of :data:`TABLES`.

    Raises
    ------
    InputError
        The journal cannot be read, there is no such table, or the file cannot be written.

    Examples
    --------
    >>> export_journal(Path("a"), Path("b"), "jobs")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    windlass.model.errors.ParameterError: table: no table 'jobs', expected one of decisions, events, ...
    """
    if table not in TABLES:
        raise ParameterError("table", f"no table {table!r}, expected one of {', '.join(TABLES)}")
    check_file("OUT", out, [journal], begins=b"PAR1")
    with JournalReader(journal) as reader:
        schema = _SCHEMAS[table]
        chunks = [pl.DataFrame(rows, schema=schema, orient="row") for rows in reader.table(table)]
    found = pl.concat(chunks) if chunks else pl.DataFrame(schema=schema)
    if "content" in schema:
        # Views are compressed in the journal, and Parquet compresses its columns again.
        text = pl.Series(
            "content", [zlib.decompress(each).decode("utf-8") for each in found["content"]], pl.String
        )
        found = found.with_columns(text)
    write_bytes(parquet(found), out)
    return len(found)
