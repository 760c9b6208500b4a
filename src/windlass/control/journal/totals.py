"""Numbers of rows: those written so far, and those kept by engine, site and topic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

#: The tables of rows.
TABLES = ("decisions", "events", "acts", "actions", "views", "predictions")


@dataclass(frozen=True, slots=True)
class ScopeCount:
    """The kept rows of an engine, a site, and a decision or a kind of event."""

    engine: str
    site: str
    topic: str
    count: int


class TotalQueries:
    """Counts the rows of a journal.

    Parameters
    ----------
    rows
        Returns the rows of a query with its values.
    """

    def __init__(self, rows: Callable[[str, Sequence[object]], list[tuple[Any, ...]]]) -> None:
        self._rows = rows

    def written(self) -> tuple[tuple[str, int], ...]:
        """Return the number of rows that were ever written to each table; old rows may have been deleted since."""
        found = []
        for table in TABLES:
            # The last identifier is no smaller after rows were deleted: those are the oldest.
            row = self._rows(f"select ifnull(max(id), 0) from {table}", ())[0]
            found.append((table, int(row[0])))
        return tuple(found)

    def decisions(self) -> tuple[ScopeCount, ...]:
        """Return the number of kept decisions by engine, site and decision."""
        return self._by_scope("decisions", "")

    def errors(self) -> tuple[ScopeCount, ...]:
        """Return the number of kept errors that engines reported, by engine and site."""
        return self._by_scope("events", "and topic = 'error'")

    def _by_scope(self, table: str, some: str) -> tuple[ScopeCount, ...]:
        # The writer counts, because millions of rows take long to count.
        rows = self._rows(
            f"select engine, site, topic, {table} from scopes where {table} > 0 {some} order by engine, site, topic",
            (),
        )
        return tuple(ScopeCount(*row) for row in rows)
