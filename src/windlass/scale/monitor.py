"""Storage of past demand on disk, from which a restarted autoscaler reads its history."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.state_folder import state_folder
from windlass.model.values import number, whole

_Floats = NDArray[np.float64]
#: Version of the file's layout.
_VERSION = 1
_TABLE = (
    "create table if not exists needed (bucket integer, type text, count real, primary key (bucket, type))"
)


class Monitor:
    """History of the demand in one SQLite file: one row per period and type, on disk before :meth:`add` returns.

    A period has the values that were added last in it; a period without any has those of the period before. If the
    clock is set back, rows of later times are not returned, and are overwritten once their time comes again. The demand
    for a new type is 0 before its first row. Rows of a type that is no longer configured stay in the file and are not
    returned. A file of another period is converted: each of its rows counts from the beginning of its period on.

    Parameters
    ----------
    path
        The file, which is created if it does not exist.
    types
        Names of types, in the order of the columns.
    period
        Length of a period, s.
    keep
        Number of periods to keep. Older ones are deleted, so the file stops growing.
    writes
        False to change no file, for a dry run: a missing file is an empty history, and rows are added in memory.

    Raises
    ------
    InputError
        The file is not a history, has another version, or cannot be read or written.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "history.db"
    >>> with Monitor(file, ["small", "large"], period=300.0) as monitor:
    ...     monitor.add(1000.0, np.array([1.0, 0.0]))
    ...     monitor.add(1900.0, np.array([2.5, 1.0]))
    >>> with Monitor(file, ["small", "large"], period=300.0) as again:
    ...     again.rows(1900.0).tolist()
    [[1.0, 0.0], [1.0, 0.0], [1.0, 0.0], [2.5, 1.0]]
    """

    def __init__(
        self,
        path: Path,
        types: Sequence[str],
        *,
        period: float,
        keep: int = 50_000,
        writes: bool = True,
    ) -> None:
        self._types, self._keep = list(types), whole("keep", keep, 1)
        self._period = number("period", period, 0.0, open_below=True)
        self._path = path
        try:
            if writes:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(path) if writes else _copied(path)
            try:
                self._open()
            except BaseException:
                # SQLite removes its auxiliary files (-wal, -shm) when the database is closed.
                self._file.close()
                raise
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"{path}: cannot be used as a history: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, at: float, counts: _Floats) -> None:
        """Store the demand of a period.

        Parameters
        ----------
        at
            A time in the period, in seconds since 1970.
        counts
            (k,) number of instances of each type that are needed.

        Raises
        ------
        InputError
            Not one finite number of at least 0 for each type; or the file cannot be written, or another process has
            changed its period.
        """
        if len(counts) != len(self._types) or not np.isfinite(counts).all() or (counts < 0).any():
            raise InputError(f"counts are {counts}, expected {len(self._types)} finite numbers of at least 0")
        bucket = self._bucket(at)
        rows = [(bucket, name, float(count)) for name, count in zip(self._types, counts, strict=True)]
        try:
            with self._file:
                self._file.execute("begin immediate")
                if (known := self._known_period()) != self._period:
                    raise InputError(f"{self._path}: another process has changed the period to {known:g} s")
                self._file.executemany("insert or replace into needed values (?, ?, ?)", rows)
                self._file.execute("delete from needed where bucket <= ?", (bucket - self._keep,))
        except sqlite3.Error as error:
            raise InputError(f"{self._path}: cannot be written: {error}") from error

    def rows(self, at: float) -> _Floats:
        """Return (t, k) the demand of all periods, from the first stored one to that of the time ``at``."""
        last = self._bucket(at)
        with closing(self._file.cursor()) as cursor:
            known = cursor.execute(
                "select bucket, type, count from needed where bucket > ? and bucket <= ? order by bucket",
                (last - self._keep, last),
            ).fetchall()
        if not known:
            return np.empty((0, len(self._types)))
        first = known[0][0]
        column = {name: at for at, name in enumerate(self._types)}
        found = np.full((last - first + 1, len(self._types)), np.nan)
        found[0] = 0.0
        for bucket, name, count in known:
            if name in column:
                found[bucket - first, column[name]] = count
        filled = np.maximum.accumulate(np.where(np.isnan(found), -1, np.arange(len(found))[:, None]), axis=0)
        return np.take_along_axis(found, filled, axis=0)

    def close(self) -> None:
        """Close the file; closing it again has no effect."""
        self._file.close()

    def _bucket(self, at: float) -> int:
        return int(np.floor(at / self._period))

    def _open(self) -> None:
        # Write-ahead log, synced at each commit: a kill or a power failure loses no added row.
        self._file.execute("pragma journal_mode = wal")
        self._file.execute("pragma synchronous = full")
        with self._file:
            # No other process adds a row, or changes the period, while the rows are converted.
            self._file.execute("begin immediate")
            version = self._file.execute("pragma user_version").fetchone()[0]
            if version not in (0, _VERSION):
                raise InputError(f"{self._path}: history has version {version}, expected {_VERSION}")
            self._file.execute(f"pragma user_version = {_VERSION}")
            self._file.execute(_TABLE)
            self._file.execute("create table if not exists settings (period real)")
            known = self._known_period()
            if known is None:
                self._file.execute("insert into settings values (?)", (self._period,))
            elif known != self._period:
                self._convert(known)

    def _known_period(self) -> float | None:
        known = self._file.execute("select period from settings").fetchone()
        return None if known is None else float(known[0])

    def _convert(self, before: float) -> None:
        """Number the rows by the periods of this length, which are longer or shorter than before."""
        rows = self._file.execute("select bucket, type, count from needed order by bucket").fetchall()
        # The last row of a period stays, as with rows that are added. A small share of a period is rounding.
        moved = {(int(np.floor(at * before / self._period + 1e-9)), name): count for at, name, count in rows}
        self._file.execute("delete from needed")
        self._file.executemany(
            "insert into needed values (?, ?, ?)", [(*place, count) for place, count in moved.items()]
        )
        self._file.execute("update settings set period = ?", (self._period,))


def default_history(name: str) -> Path:
    """Return the default path of a cluster's history, in the user's state folder.

    Parameters
    ----------
    name
        Name of the cluster, as in ``k8s-windlass``.
    """
    clean = "".join(sign if sign.isalnum() else "-" for sign in name)
    return state_folder() / f"scale-{clean}.db"


def _copied(path: Path) -> sqlite3.Connection:
    """Return a copy of a history in memory; an empty one if there is no file."""
    copy = sqlite3.connect(":memory:")
    if path.exists():
        # Without another process that uses it, SQLite would create auxiliary files even to read it.
        how = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "immutable=1"
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True)) as file:
            file.backup(copy)
    return copy
