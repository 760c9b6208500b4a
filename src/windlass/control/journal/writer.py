"""The writer of a journal: one thread, fed by a bounded queue."""

from __future__ import annotations

import math
import os
import queue
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Self

from windlass.control.journal.batch import (
    Acknowledge,
    AppendRows,
    BatchWriter,
    Conclude,
    Intend,
    JournalRequest,
)
from windlass.control.journal.records import (
    ActionRecord,
    ActOutcome,
    ActRecord,
    JournalRow,
    PredictionRecord,
)
from windlass.control.journal.retention import Retention
from windlass.control.journal.schema import open_for_writing
from windlass.io.writer_lock import lock_for_writing
from windlass.model import InputError

#: Most requests in the queue, and in one transaction; a full queue blocks its callers.
_QUEUED, _AT_ONCE = 4_096, 512


class JournalWriter:
    """Appends rows to a journal. Any thread may call it; one thread of its own writes.

    Rows of :meth:`append` are on the disk after :meth:`flush` or :meth:`close`. An act is on the disk when
    :meth:`intend` or :meth:`conclude` returns, with all rows that were appended before it.

    Parameters
    ----------
    path
        The file; it is created if it does not exist. A lock in ``<path>.lock`` refuses a second writer.
    retention
        The rows that are kept.
    view_every
        Least time between two stored views of a site, s of the engine's clock.
    clock
        Time of the wall clock, s.

    Raises
    ------
    InputError
        The file cannot be opened, is not a journal, has a newer version, or another process writes it.

    Examples
    --------
    >>> import tempfile
    >>> from windlass.control.journal import DecisionRecord, JobKey, JournalReader
    >>> file = Path(tempfile.mkdtemp()) / "journal.db"
    >>> job = JobKey("demo", "iowa", "17")
    >>> with JournalWriter(file) as journal:
    ...     journal.append(DecisionRecord(5.0, job, "order", "easy", "start", "head of the queue"))
    ...     journal.intend(ActRecord("release 17", 5.0, job, "release"))
    ...     journal.intend(ActRecord("release 17", 6.0, job, "release"))
    True
    False
    >>> with JournalReader(file) as journal:
    ...     [row.reason for row in journal.decisions().rows], [act.key for act in journal.open_acts()]
    (['head of the queue'], ['release 17'])
    """

    def __init__(
        self,
        path: Path,
        *,
        retention: Retention | None = None,
        view_every: float = 60.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.path, self._retention, self._clock = path, retention or Retention(), clock
        self._lock = _lock(path)
        try:
            self._file = open_for_writing(path)
        except BaseException:
            os.close(self._lock)
            raise
        self._batches = BatchWriter(self._file, view_every, clock)
        self._queue: queue.Queue[JournalRequest | None] = queue.Queue(_QUEUED)
        self._failure: InputError | None = None
        self._appended = 0
        self._gate, self._closed = threading.Lock(), False
        self._thread = threading.Thread(target=self._write, name="journal", daemon=True)
        self._thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def failed(self) -> bool:
        """True once the journal could not be written; nothing further is accepted."""
        return self._failure is not None

    def append(self, *rows: JournalRow) -> None:
        """Append rows, in order; wait while the queue is full.

        Raises
        ------
        InputError
            A time is not finite, or the journal could not be written.
        """
        for row in rows:
            _check_time(row.time)
            if isinstance(row, PredictionRecord):
                for each in (row.low, row.median, row.high, row.planned):
                    _check_time(each)
        self._put(AppendRows(rows))

    def flush(self) -> None:
        """Return when all rows that were appended before are on the disk.

        Raises
        ------
        InputError
            They could not be written.
        """
        request = Acknowledge()
        self._put(request)
        request.done.result()

    def intend(self, act: ActRecord) -> bool:
        """Record an act before it is carried out.

        Returns
        -------
        bool
            False if an act of this key is known: it must not be carried out again before its outcome was checked.

        Raises
        ------
        InputError
            The act could not be written, and must not be carried out.
        """
        return self.intend_all([act])[0]

    def intend_all(self, acts: Sequence[ActRecord]) -> list[bool]:
        """Record several acts before they are carried out, as :meth:`intend` does; all are on the disk at the end."""
        for act in acts:
            _check_time(act.time)
        requests = [Intend(act) for act in acts]
        for request in requests:
            self._put(request)
        return [request.done.result() for request in requests]

    def conclude(self, key: str, time: float, outcome: str) -> bool:
        """Record the outcome of an act.

        Parameters
        ----------
        key
            The act's key.
        time
            Time of the engine's clock, s.
        outcome
            The outcome in words.

        Returns
        -------
        bool
            False if no act has this key.

        Raises
        ------
        InputError
            The outcome could not be written.
        """
        return self.conclude_all([ActOutcome(key, time, outcome)])[0]

    def conclude_all(self, outcomes: Sequence[ActOutcome]) -> list[bool]:
        """Record the outcomes of several acts, as :meth:`conclude` does; all are on the disk at the end."""
        for each in outcomes:
            _check_time(each.time)
        requests = [Conclude(each) for each in outcomes]
        for request in requests:
            self._put(request)
        return [request.done.result() for request in requests]

    def intend_action(self, action: ActionRecord) -> bool:
        """Record an action before it is carried out, as :meth:`intend` does an act."""
        _check_time(action.time)
        request = Intend(action)
        self._put(request)
        return request.done.result()

    def conclude_action(self, key: str, time: float, outcome: str) -> bool:
        """Record the outcome of an action, as :meth:`conclude` does that of an act."""
        _check_time(time)
        request = Conclude(ActOutcome(key, time, outcome), "actions")
        self._put(request)
        return request.done.result()

    def close(self) -> None:
        """Write all appended rows and close the file; further calls have no effect.

        Raises
        ------
        InputError
            Rows could not be written.
        """
        with self._gate:
            if self._closed:
                return
            self._closed = True
            self._queue.put(None)
        self._thread.join()
        self._file.close()
        os.close(self._lock)
        if self._failure is not None:
            raise self._failure

    def _put(self, request: JournalRequest) -> None:
        # Nothing may be queued after the end, because nothing would complete it.
        with self._gate:
            if self._failure is not None:
                raise self._failure
            if self._closed:
                raise InputError(f"{self.path}: the journal is closed")
            self._queue.put(request)

    def _write(self) -> None:
        ended = False
        while not ended:
            requests, ended = self._next()
            if self._failure is None:
                self._write_batch(requests)
            else:
                # The queue is still emptied, or callers would wait for room in it.
                _reject(requests, self._failure)

    def _next(self) -> tuple[list[JournalRequest], bool]:
        """Return the waiting requests, at least one, and whether the writer was closed after them."""
        requests: list[JournalRequest] = []
        request = self._queue.get()
        while request is not None:
            requests.append(request)
            if len(requests) == _AT_ONCE:
                return requests, False
            try:
                request = self._queue.get_nowait()
            except queue.Empty:
                return requests, False
        return requests, True

    def _write_batch(self, requests: list[JournalRequest]) -> None:
        try:
            appended, done = self._batches.write(requests)
            for future, value in done:
                future.set_result(value)
            self._prune(appended)
        except Exception as error:
            # If this thread ended by an unexpected error, callers would wait for ever.
            self._failure = InputError(f"{self.path}: the journal cannot be written: {error}")
            _reject(requests, self._failure)

    def _prune(self, appended: int) -> None:
        self._appended += appended
        if self._appended >= self._retention.every:
            self._appended = 0
            self._file.execute("begin immediate")
            self._retention.prune(self._file, self._clock())
            self._file.execute("commit")


def _reject(requests: list[JournalRequest], error: InputError) -> None:
    for each in requests:
        if isinstance(each, AppendRows):
            continue
        future: Future[bool] = each.done
        if not future.done():
            future.set_exception(error)


def _check_time(time: float) -> None:
    if not math.isfinite(time):
        raise InputError(f"journal: a record has the time {time}, expected a finite number of seconds")


def _lock(path: Path) -> int:
    """Lock the journal for one writer."""
    try:
        return lock_for_writing(path)
    except BlockingIOError:
        raise InputError(
            f"{path}: another process writes this journal; stop it, or use another file"
        ) from None
    except OSError as error:
        raise InputError(f"{path}: the journal cannot be opened: {error.strerror}") from error
