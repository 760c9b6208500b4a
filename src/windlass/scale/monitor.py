"""Keeps on disk how many instances were needed, so that an autoscaler that starts again knows the days before."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.values import number, whole

_Floats = NDArray[np.float64]
#: Of the file's layout.
_VERSION = 1
_TABLE = (
    "create table if not exists needed (bucket integer, type text, count real, primary key (bucket, type))"
)


class Monitor:
    """A history in one file (SQLite): a row a period and type, each on disk before :meth:`add` returns.

    A period's row is what was added in it last. Periods in which nothing was added have what was known before. Where
    the clock is put back, rows of later times are not shown, and are written over as their time comes again. A type
    that is new was needed by nobody before; one that is no more is kept, and not shown.

    Parameters
    ----------
    path
        The file; made where there is none.
    types
        Names of types, in the order of the columns.
    period
        Seconds.
    keep
        How many periods are kept; older ones are removed, and the file grows no further.

    Raises
    ------
    InputError
        The file is none of these, or of another period; or it cannot be used.

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

    def __init__(self, path: Path, types: Sequence[str], *, period: float, keep: int = 50_000) -> None:
        self._types, self._keep = list(types), whole("keep", keep, 1)
        self._period = number("period", period, 0.0, open_below=True)
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = sqlite3.connect(path)
            try:
                self._open()
            except BaseException:
                # With what SQLite has beside the file for as long as it is open.
                self._file.close()
                raise
        except (OSError, sqlite3.Error) as error:
            raise InputError(f"{path}: cannot be used as a history: {error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, at: float, counts: _Floats) -> None:
        """(k,) how many instances of each type are needed at an instant, in seconds since 1970.

        Raises
        ------
        InputError
            Not one finite number of at least 0 for each type; or the file cannot be written.
        """
        if len(counts) != len(self._types) or not np.isfinite(counts).all() or (counts < 0).any():
            raise InputError(f"counts are {counts}, expected {len(self._types)} finite ones of at least 0")
        bucket = self._bucket(at)
        rows = [(bucket, name, float(count)) for name, count in zip(self._types, counts, strict=True)]
        try:
            with self._file:
                self._file.executemany("insert or replace into needed values (?, ?, ?)", rows)
                self._file.execute("delete from needed where bucket <= ?", (bucket - self._keep,))
        except sqlite3.Error as error:
            raise InputError(f"{self._path}: cannot be written: {error}") from error

    def rows(self, at: float) -> _Floats:
        """(t, k) of all periods from the first that is known to that of an instant."""
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
        """Close the file; more than once does no harm."""
        self._file.close()

    def _bucket(self, at: float) -> int:
        return int(np.floor(at / self._period))

    def _open(self) -> None:
        # Written ahead, and synced with each row: a kill or a power cut loses nothing that was added.
        self._file.execute("pragma journal_mode = wal")
        self._file.execute("pragma synchronous = full")
        with self._file:
            version = self._file.execute("pragma user_version").fetchone()[0]
            if version not in (0, _VERSION):
                raise InputError(f"{self._path}: is a history of version {version}, expected {_VERSION}")
            self._file.execute(f"pragma user_version = {_VERSION}")
            self._file.execute(_TABLE)
            self._file.execute("create table if not exists settings (period real)")
            known = self._file.execute("select period from settings").fetchone()
            if known is None:
                self._file.execute("insert into settings values (?)", (self._period,))
            elif known[0] != self._period:
                raise InputError(f"{self._path}: has a row each {known[0]:g} s, expected {self._period:g} s")
