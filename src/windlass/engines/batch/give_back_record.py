"""The journal of a give-back: that of the driver, or one that is only read where it cannot be written."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypeVar

from windlass.engines.batch.journal import DamagedJournalError
from windlass.engines.batch.journal_lock import journal_lock
from windlass.engines.batch.store import is_store
from windlass.model import InputError

_Record = TypeVar("_Record")
_Found = TypeVar("_Found")
_UNRECORDED = "giving the queue back without a journal entry"


@contextmanager
def last_record(
    path: Path,
    opened: Callable[[], AbstractContextManager[_Record]],
    unwritten: Callable[[], _Record],
    notify: Callable[[str], None],
) -> Iterator[_Record]:
    """Yield the journal of the last driver for a give-back by hand, so that the next driver knows what was released.

    A journal that is missing, damaged or in use is no obstacle: it is only read. A missing one is not made, because it
    would belong to another user than the driver's.

    Parameters
    ----------
    path
        The journal.
    opened
        Opens it to write.
    unwritten
        Opens it to read, and reports what cannot be read.
    notify
        Called with a line if it can be read, but not be written.
    """
    with contextlib.ExitStack() as stack:
        record = None
        if is_store(path):
            try:
                stack.enter_context(journal_lock(path))
                record = stack.enter_context(opened())
            except DamagedJournalError:
                pass  # The reader reports the damage.
            except InputError as error:
                notify(f"{error}; {_UNRECORDED}")
        yield unwritten() if record is None else record


def recorded_if_possible(
    give_back: Callable[[_Record], _Found],
    record: _Record,
    unwritten: Callable[[], _Record],
    notify: Callable[[str], None],
) -> _Found:
    """Give a queue back with a journal; on a full disk, without one: jobs that stay held for ever would be worse.

    Parameters
    ----------
    give_back
        Gives the queue back with a journal.
    record
        The journal.
    unwritten
        Opens it to read.
    notify
        Called with a line if the journal cannot be written.
    """
    try:
        return give_back(record)
    except InputError as error:
        notify(f"{error}; {_UNRECORDED}")
        return give_back(unwritten())


@contextmanager
def after_release(notify: Callable[[str], None]) -> Iterator[None]:
    """Record released jobs: an error is passed to ``notify``, as a second attempt would find and report no job."""
    try:
        yield
    except InputError as error:
        notify(f"{error}; the journal lacks the jobs that were given back")
