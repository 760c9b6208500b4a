"""The age and the number of rows that a journal keeps."""

from __future__ import annotations

import sqlite3
from collections import Counter
from dataclasses import dataclass

from windlass.model.values import number, whole

#: Tables that grow, each with the condition under which a row may be deleted.
_TABLES = (
    ("decisions", "1"),
    ("events", "1"),
    ("views", "1"),
    ("acts", "outcome is not null"),
    # The last one of each engine and kind stays: after a restart, an engine that was paused is paused.
    ("actions", "outcome is not null and id not in (select max(id) from actions group by engine, action)"),
    ("predictions", "1"),
)
#: Most rows that one statement deletes, so that a transaction stays short.
_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class Retention:
    """Limits of a journal. Acts without an outcome are kept for ever.

    Parameters
    ----------
    rows
        The most rows of each table.
    age
        Time after which a row is deleted, s of the wall clock.

    Raises
    ------
    InputError
        A limit is not positive.

    Examples
    --------
    >>> Retention().rows, Retention(age=86400.0).age
    (2000000, 86400.0)
    """

    rows: int = 2_000_000
    age: float = 90 * 86_400.0

    def __post_init__(self) -> None:
        whole("rows", self.rows, 1)
        number("age", self.age, 0.0, open_below=True)

    @property
    def every(self) -> int:
        """Number of appended rows after which old ones are deleted."""
        return min(10_000, 1 + self.rows // 20)

    def prune(self, file: sqlite3.Connection, now: float) -> int:
        """Delete rows beyond the limits, and return their number.

        Parameters
        ----------
        file
            The journal, in a transaction.
        now
            Time of the wall clock, s.
        """
        deleted = 0
        for table, allowed in _TABLES:
            first, last = file.execute(
                f"select (select min(id) from {table}), (select max(id) from {table})"
            ).fetchone()
            if first is None:
                continue
            young = max(last - self.rows + 1, _first_since(file, table, first, last, now - self.age))
            # Rows that may not be deleted can be anywhere, so the search goes on to the first young row.
            while first is not None and first < young:
                end = min(first + _AT_ONCE, young)
                scoped = table in ("decisions", "events")
                rows = file.execute(
                    f"delete from {table} where id >= ? and id < ? and ({allowed}) and (id <= ? or recorded < ?) "
                    f"returning {'scope' if scoped else 'id'}",
                    (first, end, last - self.rows, now - self.age),
                ).fetchall()
                deleted += len(rows)
                if scoped:
                    file.executemany(
                        f"update scopes set {table} = {table} - ? where scope = ?",
                        ((count, scope) for (scope,), count in Counter(rows).items()),
                    )
                (first,) = file.execute(f"select min(id) from {table} where id >= ?", (end,)).fetchone()
        return deleted


def _first_since(file: sqlite3.Connection, table: str, first: int, last: int, time: float) -> int:
    """Return the first id from ``first`` on whose row was recorded at ``time`` (s) or later.

    Rows are in order of time.
    """
    low, high = first, last + 1
    while low < high:
        middle = (low + high) // 2
        row = file.execute(
            f"select id, recorded from {table} where id >= ? order by id limit 1", (middle,)
        ).fetchone()
        if row is None or row[1] >= time:
            high = middle
        else:
            low = row[0] + 1
    return low
