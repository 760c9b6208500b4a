"""The lock of a journal that a driver writes: otherwise each of two drivers would delete what is open for the other."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from windlass.model import InputError


@contextmanager
def journal_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a journal's only driver; it also ends with the process.

    It is in a file of its own, ``<path>.lock``, since SQLite locks the database itself. Only its owner may open it: a
    user that may read a file may lock it. The file stays, as another process may have just opened it.

    Parameters
    ----------
    path
        The journal, which need not exist.

    Raises
    ------
    InputError
        Another driver has the lock, or the file cannot be opened.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "journal"
    >>> with journal_lock(file):
    ...     file.with_name("journal.lock").exists()
    True
    """
    place = path.resolve()
    try:
        handle = os.open(place.with_name(f"{place.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise InputError(f"journal: {path}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise InputError(
                f"journal: {path}: another driver writes it; stop it, or name another file"
            ) from None
        yield
    finally:
        os.close(handle)
