"""The reader of a journal: queries by page, while another process writes."""

from __future__ import annotations

import heapq
import itertools
import sqlite3
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from windlass.control.journal.actions import ActionQueries
from windlass.control.journal.predictions import PredictionQueries
from windlass.control.journal.records import (
    ActRecord,
    DecisionRecord,
    EngineStatus,
    EventRecord,
    JobKey,
    ViewRecord,
)
from windlass.control.journal.schema import EXPORTED, open_for_reading
from windlass.control.journal.totals import TABLES, TotalQueries
from windlass.model import InputError

_Row = TypeVar("_Row")
#: Most rows of one page.
MOST = 500
#: The largest id in SQLite.
_LAST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Values that a row must have; None for any value. ``topic`` is the decision, or the kind of an event."""

    engine: str | None = None
    site: str | None = None
    topic: str | None = None
    job: str | None = None


@dataclass(frozen=True, slots=True)
class RowPage(Generic[_Row]):
    """A page of rows, the latest first.

    Parameters
    ----------
    rows
        The rows.
    older
        The ``before`` of the next page; None if no row is older.
    """

    rows: tuple[_Row, ...]
    older: int | None


@dataclass(frozen=True, slots=True)
class SeenStatus:
    """The condition of an engine, with the time of the wall clock at which it was recorded, s since 1970."""

    status: EngineStatus
    recorded: float


class JournalReader:
    """Reads a journal; nothing in it can be changed.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InputError
        There is no such file, it cannot be read, is not a journal, or has a newer version. Each query raises it too, if
        the file cannot be read any more.

    Examples
    --------
    >>> JournalReader(Path("journal.db"))
    Traceback (most recent call last):
    windlass.model.errors.InputError: journal.db: no such file, expected a journal that `windlass serve` has written
    """

    def __init__(self, path: Path) -> None:
        self.path, self._file = path, open_for_reading(path)
        #: Queries of predictions and their scores.
        self.predictions = PredictionQueries(self._rows)
        #: Queries of actions.
        self.actions = ActionQueries(self._rows)
        #: Numbers of rows.
        self.totals = TotalQueries(self._rows)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def decisions(
        self, where: RowFilter | None = None, *, before: int | None = None, limit: int = 50
    ) -> RowPage[DecisionRecord]:
        """Return decisions, the latest first.

        Parameters
        ----------
        where
            What the rows must have.
        before
            The ``older`` of the page before; None for the latest rows.
        limit
            The most rows, 1 to 500.
        """
        found = self._page("decisions", "time, scope, job, policy, answer, reason", where, before, limit)
        scopes = self._scopes()
        rows = []
        for _, time, scope, job, *rest in found.rows:
            engine, site, decision = scopes[scope]
            rows.append(DecisionRecord(time, JobKey(engine, site, job), decision, *rest))
        return RowPage(tuple(rows), found.older)

    def events(
        self, where: RowFilter | None = None, *, before: int | None = None, limit: int = 50
    ) -> RowPage[EventRecord]:
        """Return events, the latest first; parameters as of :meth:`decisions`."""
        found = self._page("events", "time, scope, job, text", where, before, limit)
        scopes = self._scopes()
        rows = []
        for _, time, scope, job, text in found.rows:
            engine, site, kind = scopes[scope]
            rows.append(EventRecord(time, JobKey(engine, site, job), kind, text))
        return RowPage(tuple(rows), found.older)

    def acts(self, *, before: int | None = None, limit: int = 50) -> RowPage[ActRecord]:
        """Return acts, the latest first; parameters as of :meth:`decisions`."""
        found = self._page("acts", "time, engine, site, job, key, action, outcome", None, before, limit)
        return RowPage(tuple(_act(row[1:]) for row in found.rows), found.older)

    def open_acts(self) -> tuple[ActRecord, ...]:
        """Return the acts without an outcome, in the order of their intents."""
        rows = self._rows(
            "select time, engine, site, job, key, action, outcome from acts where outcome is null order by id"
        )
        return tuple(map(_act, rows))

    def views(self) -> tuple[ViewRecord, ...]:
        """Return the latest view of each site of each engine, by their names."""
        rows = self._rows("select time, engine, site, content from present order by engine, site")
        return tuple(
            ViewRecord(row[0], row[1], row[2], zlib.decompress(row[3]).decode("utf-8")) for row in rows
        )

    def view_before(self, engine: str, site: str, time: float) -> ViewRecord | None:
        """Return the stored view of a site at a time of the engine's clock (s), or the last one before it."""
        rows = self._rows(
            "select time, content from views where engine = ? and site = ? and time <= ? order by id desc limit 1",
            (engine, site, time),
        )
        for at, content in rows:
            return ViewRecord(at, engine, site, zlib.decompress(content).decode("utf-8"))
        return None

    def view_times(self, engine: str, site: str, most: int) -> tuple[tuple[int, float], ...]:
        """Return the numbers and the times (s) of the latest stored views of a site, at most ``most``, latest first."""
        rows = self._rows(
            "select id, time from views where engine = ? and site = ? order by id desc limit ?",
            (engine, site, most),
        )
        return tuple((row[0], row[1]) for row in rows)

    def view_numbered(self, number: int) -> ViewRecord:
        """Return the stored view of a number.

        Raises
        ------
        InputError
            There is none, because it was deleted meanwhile.
        """
        for at, engine, site, content in self._rows(
            "select time, engine, site, content from views where id = ?", (number,)
        ):
            return ViewRecord(at, engine, site, zlib.decompress(content).decode("utf-8"))
        raise InputError(f"{self.path}: view {number} was deleted meanwhile, try again")

    def engines(self) -> tuple[SeenStatus, ...]:
        """Return the latest condition of each engine, by name."""
        rows = self._rows("select recorded, engine, state, time, about, error from engines order by engine")
        return tuple(SeenStatus(EngineStatus(*row[1:]), row[0]) for row in rows)

    def decision_scopes(self) -> tuple[tuple[str, str, str], ...]:
        """Return each engine, site and decision of which there is a row, sorted."""
        rows = self._rows(
            "select engine, site, topic from scopes where decisions > 0 order by engine, site, topic"
        )
        return tuple((row[0], row[1], row[2]) for row in rows)

    def counts(self) -> tuple[tuple[str, int], ...]:
        """Return the number of rows in each table, from its ids."""
        found = []
        for table in TABLES:
            first, last = self._rows(f"select (select min(id) from {table}), (select max(id) from {table})")[
                0
            ]
            found.append((table, 0 if first is None else last - first + 1))
        return tuple(found)

    def change(self) -> tuple[float, ...]:
        """Return numbers that differ if decisions, events, actions, engines or present views have changed."""
        row = self._rows(
            "select (select ifnull(max(id), 0) from decisions), (select ifnull(max(id), 0) from events), "
            "(select ifnull(max(id), 0) from actions), "
            "max(ifnull((select max(recorded) from present), 0.0), ifnull((select max(recorded) from engines), 0.0))"
        )[0]
        return row[0], row[1], row[2], row[3]

    def table(self, name: str, size: int = 100_000) -> Iterator[list[tuple[Any, ...]]]:
        """Yield all rows of a table in chunks of at most ``size``, in the order of their ids."""
        last = -1
        while True:
            text = f"select {EXPORTED[name]} where id > ? order by id limit ?"
            rows = self._rows(text, (last, size))
            if not rows:
                return
            yield rows
            last = rows[-1][0]

    def _page(
        self, table: str, columns: str, where: RowFilter | None, before: int | None, limit: int
    ) -> RowPage[tuple[Any, ...]]:
        if not 1 <= limit <= MOST:
            raise InputError(f"limit is {limit}, expected 1 to {MOST}")
        where, first = where or RowFilter(), _LAST if before is None else before
        select = f"select id, {columns} from {table} where id < ?"
        latest = "order by id desc"
        found: Iterator[tuple[Any, ...]]
        if where == RowFilter():
            found = self._lazy(f"{select} {latest}", (first,))
        else:
            scopes = [
                number
                for number, (engine, site, topic) in self._scopes().items()
                if where.engine in (None, engine)
                and where.site in (None, site)
                and where.topic in (None, topic)
            ]
            if not scopes:
                # SQLite would read the whole table for an empty list.
                return RowPage((), None)
            if where.job is not None:
                some = ", ".join(map(str, scopes))
                text = f"{select} and job = ? and job <> '' and scope in ({some}) {latest}"
                found = self._lazy(text, (first, where.job))
            else:
                each = [self._lazy(f"{select} and scope = ? {latest}", (first, scope)) for scope in scopes]
                # Rows are read one by one, so that of each scope only those of the page are.
                found = heapq.merge(*each, key=lambda row: -row[0])
        rows = list(itertools.islice(found, limit + 1))
        return RowPage(tuple(rows[:limit]), rows[limit - 1][0] if len(rows) > limit else None)

    def _scopes(self) -> dict[int, tuple[str, str, str]]:
        return {row[0]: row[1:] for row in self._rows("select scope, engine, site, topic from scopes")}

    def _lazy(self, text: str, values: Sequence[object] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query as they are read."""
        try:
            yield from self._file.execute(text, values)
        except (sqlite3.Error, OverflowError, UnicodeError) as error:
            raise InputError(f"{self.path}: the journal cannot be read: {error}") from error

    def _rows(self, text: str, values: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return list(self._lazy(text, values))


def _act(row: tuple[Any, ...]) -> ActRecord:
    time, engine, site, job, key, action, outcome = row
    return ActRecord(key, time, JobKey(engine, site, job), action, outcome)
