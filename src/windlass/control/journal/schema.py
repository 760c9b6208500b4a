"""The tables of a journal, and the checks of a file that is opened as one."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path
from urllib.parse import quote

from windlass.model import InputError

#: Marks an SQLite file as a journal: "WLJ1" in ASCII.
APPLICATION = 0x574C4A31
#: The first bytes of an SQLite file.
_SQLITE = b"SQLite format 3\0"
#: Version of the tables. A journal of version 1 has no table of predictions, and one of version 2 none of actions; a
#: writer adds them.
VERSION = 3

#: `id` grows with each row, so a page of rows continues below the last id of the page before it. `recorded` is the time
#: of writing in seconds since 1970; `time` is the engine's own clock. A scope is an engine, a site, and a decision or a
#: kind of event: there are few, and a query with any filter reads the latest rows of the scopes that match.
_TABLES = """
create table scopes (
    scope integer primary key, engine text not null, site text not null, topic text not null,
    unique (engine, site, topic));
create table decisions (
    id integer primary key autoincrement, recorded real not null, time real not null,
    scope integer not null, job text not null, policy text not null, answer text not null, reason text not null);
create index decisions_by_scope on decisions (scope, id);
create index decisions_by_job on decisions (job, id) where job <> '';
create table events (
    id integer primary key autoincrement, recorded real not null, time real not null,
    scope integer not null, job text not null, text text not null);
create index events_by_scope on events (scope, id);
create index events_by_job on events (job, id) where job <> '';
create table views (
    id integer primary key autoincrement, recorded real not null, time real not null,
    engine text not null, site text not null, digest blob not null, content blob not null);
create index views_by_site on views (engine, site, id);
create table present (
    engine text not null, site text not null, recorded real not null, time real not null,
    digest blob not null, content blob not null, primary key (engine, site)) without rowid;
create table acts (
    id integer primary key autoincrement, recorded real not null, time real not null,
    engine text not null, site text not null, job text not null,
    key text not null unique, action text not null, outcome text, concluded real);
create index acts_open on acts (id) where outcome is null;
create table engines (
    engine text primary key, recorded real not null, time real not null,
    state text not null, about text not null, error text not null) without rowid;
"""
#: The columns of predictions. A row is open until the job has started. The scope's topic is :data:`PREDICTIONS`.
_PREDICTIONS = """predictions (
    id integer primary key autoincrement, recorded real not null, time real not null,
    scope integer not null, job text not null, low real not null, median real not null, high real not null,
    planned real not null, level real not null, scored integer not null, first integer not null,
    open integer not null default 1, started real)"""
#: The columns of actions: what a person requested, with the name of the token or of the user, and the reason.
_ACTIONS = """actions (
    id integer primary key autoincrement, recorded real not null, time real not null,
    engine text not null, site text not null, job text not null, key text not null unique, action text not null,
    by text not null, reason text not null, undoes integer, outcome text, concluded real)"""
_COUNT = "(select count(*) from main.{0} where main.{0}.scope = scopes.scope)"
#: What each version adds. Version 2: predictions, with an index of those of waiting jobs, of those of a job, and of
#: those scored. Version 3: actions, with an index of those of an engine; and the numbers of rows of each scope, because
#: millions of rows take long to count.
_ADDED = {
    2: f"""
create table {_PREDICTIONS};
create index predictions_open on predictions (scope, job, id) where open = 1;
create index predictions_by_job on predictions (job, id);
create index predictions_scored on predictions (scope, id) where first = 1 and started is not null;
""",
    3: f"""
create table {_ACTIONS};
create index actions_by_engine on actions (engine, action, id);
create index actions_undone on actions (undoes) where undoes is not null;
create index actions_open on actions (id) where outcome is null;
alter table scopes add column decisions integer not null default 0;
alter table scopes add column events integer not null default 0;
update scopes set decisions = {_COUNT.format("decisions")}, events = {_COUNT.format("events")};
""",
}
#: The topic of the scopes of predictions.
PREDICTIONS = "start"
#: What is exported of each table.
EXPORTED = {
    "decisions": "id, recorded, time, engine, site, job, topic as decision, policy, answer, reason "
    "from decisions join scopes using (scope)",
    "events": "id, recorded, time, engine, site, job, topic as kind, text from events join scopes using (scope)",
    "acts": "id, recorded, time, engine, site, job, key, action, outcome, concluded from acts",
    "actions": "id, recorded, time, engine, site, job, key, action, by, reason, outcome, concluded, undoes "
    "from actions",
    "views": "id, recorded, time, engine, site, content from views",
    "predictions": "id, recorded, time, engine, site, job, low, median, high, planned, level, started, scored, first "
    "from predictions join scopes using (scope)",
}


def open_for_writing(path: Path) -> sqlite3.Connection:
    """Open or create a journal, for the thread that writes; one of an older version is upgraded in place.

    Raises
    ------
    InputError
        The file cannot be created, is not a journal, or has a newer version.
    """
    expected = "expected a new file or a journal of Windlass"
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: the folder does not exist, expected an existing one for the journal")
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: not a regular file, {expected}")
    try:
        file = sqlite3.connect(path, isolation_level=None, check_same_thread=False, timeout=10.0)
        try:
            if _number(file, "schema_version") == 0:
                _create(file)
            else:
                _upgrade(file, _check(file, path, expected))
            file.execute("pragma journal_mode = wal")
            file.execute("pragma journal_size_limit = 16777216")
        except BaseException:
            # SQLite removes its auxiliary files (-wal, -shm) when the database is closed.
            file.close()
            raise
    except sqlite3.Error as error:
        raise _unreadable(path, error, expected) from error
    return file


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open a journal that another process may write; nothing can be changed through the connection.

    A journal of an older version is read as one without predictions or actions, and is not upgraded.

    Raises
    ------
    InputError
        There is no such file, it cannot be read, is not a journal, or has a newer version.
    """
    expected = "expected a journal that `windlass serve` has written"
    if not path.is_file():
        raise InputError(f"{path}: {'is a directory' if path.is_dir() else 'no such file'}, {expected}")
    try:
        try:
            return _checked(path, "mode=ro", expected)
        except sqlite3.OperationalError:
            # Even to read, SQLite needs a file for its lock, unless no other process can write.
            if path.with_name(f"{path.name}-wal").exists() or os.access(path.parent, os.W_OK):
                raise
            return _checked(path, "mode=ro&immutable=1", expected)
    except sqlite3.Error as error:
        raise _unreadable(path, error, expected) from error


def is_journal(path: Path) -> bool:
    """Return whether a file is an SQLite database, as a journal is.

    >>> is_journal(Path("no such file"))
    False
    """
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_SQLITE)) == _SQLITE


def _checked(path: Path, how: str, expected: str) -> sqlite3.Connection:
    uri = f"file:{quote(str(path.absolute()))}?{how}"
    file = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=2.0)
    try:
        found = _check(file, path, expected)
        # Temporary tables and views of a connection are not in the file, and hide those of the file.
        missing = [f"table {_PREDICTIONS}"] if found < 2 else []
        if found < 3:
            counts = f"{_COUNT.format('decisions')} as decisions, {_COUNT.format('events')} as events"
            missing += [
                f"table {_ACTIONS}",
                f"view scopes as select scope, engine, site, topic, {counts} from main.scopes",
            ]
        if missing:
            made = " ".join(f"create temp {each};" for each in missing)
            file.executescript(f"pragma temp_store = memory; {made}")
    except BaseException:
        file.close()
        raise
    return file


def _create(file: sqlite3.Connection) -> None:
    """Create the tables in one transaction, so that a killed process leaves an empty file or a journal."""
    file.executescript(
        f"begin immediate; {_TABLES} {''.join(_ADDED.values())} pragma application_id = {APPLICATION}; "
        f"pragma user_version = {VERSION}; commit;"
    )


def _upgrade(file: sqlite3.Connection, found: int) -> None:
    """Add the tables of later versions in one transaction, so that a killed process leaves either version."""
    if found < VERSION:
        added = "".join(text for version, text in _ADDED.items() if version > found)
        file.executescript(f"begin immediate; {added} pragma user_version = {VERSION}; commit;")


def _check(file: sqlite3.Connection, path: Path, expected: str) -> int:
    """Return the version of a journal; raise an error for another file or a newer version."""
    if _number(file, "application_id") != APPLICATION:
        raise InputError(f"{path}: not a journal of Windlass, {expected}")
    found = _number(file, "user_version")
    if found > VERSION:
        raise InputError(
            f"{path}: version {found} of the journal, expected at most {VERSION}; use a newer Windlass"
        )
    return found


def _number(file: sqlite3.Connection, name: str) -> int:
    return int(file.execute(f"pragma {name}").fetchone()[0])


def _unreadable(path: Path, error: sqlite3.Error, expected: str) -> InputError:
    if "not a database" in str(error):
        return InputError(f"{path}: not a journal of Windlass, {expected}")
    return InputError(f"{path}: the journal cannot be opened: {error}")
