"""The lock of a journal that a driver writes: otherwise each of two drivers would delete what is open for the other."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from windlass.io.writer_lock import lock_for_writing
from windlass.model import InputError


@contextmanager
def journal_lock(path: Path) -> Iterator[None]:
    """Hold the lock of a journal's only driver; it also ends with the process.

    See :func:`windlass.io.writer_lock.lock_for_writing`; a link and its target have one lock.

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
    try:
        handle = lock_for_writing(path.resolve())
    except BlockingIOError:
        raise InputError(
            f"journal: {path}: another driver writes it; stop it, or name another file"
        ) from None
    except OSError as error:
        raise InputError(f"journal: {path}: {error.strerror}") from error
    try:
        yield
    finally:
        os.close(handle)
