"""What the writing thread does in one transaction."""

from __future__ import annotations

import hashlib
import sqlite3
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from windlass.control.journal.records import (
    ActionRecord,
    ActOutcome,
    ActRecord,
    DecisionRecord,
    EngineStatus,
    EventRecord,
    JobKey,
    JournalRow,
    PredictionRecord,
    PredictionsVoided,
    StartRecord,
    ViewRecord,
)
from windlass.control.journal.schema import PREDICTIONS


@dataclass(frozen=True, slots=True, eq=False)
class AppendRows:
    """Rows to append, without an acknowledgement."""

    rows: tuple[JournalRow, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Acknowledge:
    """A request to complete ``done`` once all earlier rows are on the disk."""

    done: Future[bool] = field(default_factory=Future)


@dataclass(frozen=True, slots=True, eq=False)
class Intend:
    """An act or an action to record before it is carried out; ``done`` receives False if its key is known."""

    act: ActRecord | ActionRecord
    done: Future[bool] = field(default_factory=Future)


@dataclass(frozen=True, slots=True, eq=False)
class Conclude:
    """The outcome of a recorded act, or of an action; ``done`` receives False if its key is unknown."""

    outcome: ActOutcome
    table: str = "acts"
    done: Future[bool] = field(default_factory=Future)


JournalRequest = AppendRows | Acknowledge | Intend | Conclude


class BatchWriter:
    """Writes requests in transactions. Only transactions that acknowledge something wait for the disk.

    Parameters
    ----------
    file
        The journal.
    view_every
        Least time between two stored views of a site, s of the engine's clock; the present view is always stored.
    clock
        Time of the wall clock, s.
    """

    def __init__(self, file: sqlite3.Connection, view_every: float, clock: Callable[[], float]) -> None:
        self._file, self._view_every, self._clock = file, view_every, clock
        #: By engine and site, the digest and the time of the latest stored view.
        self._views: dict[tuple[str, str], tuple[bytes, float]] = {}
        self._scopes: dict[tuple[str, str, str], int] = {}

    def write(self, requests: Sequence[JournalRequest]) -> tuple[int, list[tuple[Future[bool], bool]]]:
        """Write requests in one transaction.

        Returns
        -------
        int, list
            The number of appended rows, and the acknowledgements to give, now that the transaction is on the disk.

        Raises
        ------
        sqlite3.Error
            The journal cannot be written; nothing of the transaction was.
        """
        durable = any(not isinstance(each, AppendRows) for each in requests)
        self._file.execute(f"pragma synchronous = {'full' if durable else 'normal'}")
        self._file.execute("begin immediate")
        try:
            appended, done = self._carry_out(requests)
            self._file.execute("commit")
        except BaseException:
            if self._file.in_transaction:
                self._file.execute("rollback")
            raise
        return appended, done

    def _carry_out(self, requests: Sequence[JournalRequest]) -> tuple[int, list[tuple[Future[bool], bool]]]:
        appended, done, pending = 0, list[tuple[Future[bool], bool]](), list[JournalRow]()
        for each in requests:
            match each:
                case AppendRows(rows):
                    pending.extend(rows)
                    appended += len(rows)
                    continue
                case Acknowledge(future):
                    done.append((future, True))
                case Intend(act, future):
                    done.append((future, self._intend(act)))
                case Conclude(outcome, table, future):
                    done.append((future, self._conclude(outcome, table)))
        self._append(pending)
        return appended, done

    def _append(self, rows: list[JournalRow]) -> None:
        now = self._clock()
        decisions = [
            (
                now,
                row.time,
                self._scope(row.job, row.decision),
                *map(_stored, (row.job.id, row.policy, row.answer, row.reason)),
            )
            for row in rows
            if isinstance(row, DecisionRecord)
        ]
        self._file.executemany(
            "insert into decisions (recorded, time, scope, job, policy, answer, reason) values (?, ?, ?, ?, ?, ?, ?)",
            decisions,
        )
        events = [
            (now, row.time, self._scope(row.job, row.kind), _stored(row.job.id), _stored(row.text))
            for row in rows
            if isinstance(row, EventRecord)
        ]
        self._file.executemany(
            "insert into events (recorded, time, scope, job, text) values (?, ?, ?, ?, ?)", events
        )
        self._file.executemany(
            "insert or replace into engines (engine, recorded, time, state, about, error) values (?, ?, ?, ?, ?, ?)",
            (
                (
                    _stored(row.engine),
                    now,
                    row.time,
                    _stored(row.state),
                    _stored(row.about),
                    _stored(row.error),
                )
                for row in rows
                if isinstance(row, EngineStatus)
            ),
        )
        for table, rows_ in (("decisions", decisions), ("events", events)):
            self._file.executemany(
                f"update scopes set {table} = {table} + ? where scope = ?",
                ((count, scope) for scope, count in Counter(row[2] for row in rows_).items()),
            )
        # A job that was requeued may start and be predicted again within one transaction, so order matters.
        for row in rows:
            match row:
                case PredictionRecord():
                    self._predict(row, now)
                case StartRecord():
                    self._file.execute(
                        "update predictions set started = ?, open = 0 where scope = ? and job = ? and open = 1",
                        (row.time, self._scope(row.job, PREDICTIONS), _stored(row.job.id)),
                    )
                case PredictionsVoided(job=JobKey() as job):
                    self._file.execute(
                        "update predictions set open = 0 where scope = ? and job = ? and open = 1",
                        (self._scope(job, PREDICTIONS), _stored(job.id)),
                    )
                case PredictionsVoided():
                    self._file.execute(
                        "update predictions set open = 0 where open = 1 and scope in "
                        "(select scope from scopes where engine = ? and topic = ?)",
                        (_stored(row.engine), PREDICTIONS),
                    )
        # Of several views of a site in one transaction, the last one is the present.
        latest = {(row.engine, row.site): row for row in rows if isinstance(row, ViewRecord)}
        for view in latest.values():
            self._view(view, now)

    def _scope(self, job: JobKey, topic: str) -> int:
        """Return the number of an engine, a site and a topic, and add a new one to the journal."""
        names = _stored(job.engine), _stored(job.site), _stored(topic)
        found = self._scopes.get(names)
        if found is None:
            self._file.execute("insert or ignore into scopes (engine, site, topic) values (?, ?, ?)", names)
            found = int(
                self._file.execute(
                    "select scope from scopes where engine = ? and site = ? and topic = ?", names
                ).fetchone()[0]
            )
            self._scopes[names] = found
        return found

    def _predict(self, row: PredictionRecord, now: float) -> None:
        self._file.execute(
            "insert into predictions (recorded, time, scope, job, low, median, high, planned, level, scored, first, "
            "open, started) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                now,
                row.time,
                self._scope(row.job, PREDICTIONS),
                _stored(row.job.id),
                *(row.low, row.median, row.high, row.planned, row.level, row.scored, row.first),
                row.started is None,
                row.started,
            ),
        )

    def _view(self, view: ViewRecord, now: float) -> None:
        at = _stored(view.engine), _stored(view.site)
        data = _stored(view.content).encode("utf-8")
        digest, content = hashlib.blake2b(data, digest_size=16).digest(), zlib.compress(data, 1)
        self._file.execute(
            "insert or replace into present (engine, site, recorded, time, digest, content) values (?, ?, ?, ?, ?, ?)",
            (*at, now, view.time, digest, content),
        )
        before, stored = self._views.get(at, (b"", -float("inf")))
        if digest != before and view.time - stored >= self._view_every:
            self._file.execute(
                "insert into views (recorded, time, engine, site, digest, content) values (?, ?, ?, ?, ?, ?)",
                (now, view.time, *at, digest, content),
            )
            self._views[at] = digest, view.time

    def _intend(self, act: ActRecord | ActionRecord) -> bool:
        if isinstance(act, ActionRecord):
            return self._intend_action(act)
        added = self._file.execute(
            "insert or ignore into acts (recorded, time, engine, site, job, key, action) values (?, ?, ?, ?, ?, ?, ?)",
            (self._clock(), act.time, *_job(act.job), _stored(act.key), _stored(act.action)),
        )
        return added.rowcount == 1

    def _intend_action(self, action: ActionRecord) -> bool:
        texts = map(_stored, (action.key, action.action, action.by, action.reason))
        added = self._file.execute(
            "insert or ignore into actions (recorded, time, engine, site, job, key, action, by, reason, undoes) "
            "values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (self._clock(), action.time, *_job(action.job), *texts, action.undoes),
        )
        return added.rowcount == 1

    def _conclude(self, found: ActOutcome, table: str) -> bool:
        changed = self._file.execute(
            f"update {table} set outcome = ?, concluded = ? where key = ?",
            (_stored(found.outcome), found.time, _stored(found.key)),
        )
        return changed.rowcount == 1


def _job(job: JobKey) -> tuple[str, str, str]:
    return _stored(job.engine), _stored(job.site), _stored(job.id)


def _stored(text: str) -> str:
    """Return a text as SQLite can store it: names of jobs may have characters that are not valid Unicode."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
