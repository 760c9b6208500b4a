"""Logs from standard input or a named pipe, which can be read once: they are copied to a temporary file."""

from __future__ import annotations

import atexit
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import IO

from windlass.model import InputError
from windlass.model.pipe_copies import FOLDER, STDIN

STANDARD_INPUT = "-"


def is_pipe(target: str | os.PathLike[str]) -> bool:
    """Return whether a target is standard input (``-``) or a named pipe.

    >>> is_pipe("-"), is_pipe("jobs.swf")
    (True, False)
    """
    if str(target) == STANDARD_INPUT:
        return True
    try:
        mode = os.stat(target).st_mode
    except (OSError, ValueError):
        return False
    return stat.S_ISFIFO(mode)


def as_file(target: str | os.PathLike[str]) -> Path:
    """Return the file of a target; what comes through a pipe is copied to a file that is removed when Python exits.

    Parameters
    ----------
    target
        A path, or ``-`` for standard input.

    Raises
    ------
    InputError
        The pipe cannot be read, or standard input is a terminal.

    Examples
    --------
    >>> as_file("jobs.swf").name
    'jobs.swf'
    """
    if not is_pipe(target):
        return Path(target)
    own = str(target) == STANDARD_INPUT
    if own and sys.stdin is not None and sys.stdin.isatty():
        raise InputError(
            "-: standard input is a terminal, expected a log, as in: zcat log.gz | windlass run -"
        )
    folder = Path(tempfile.mkdtemp(prefix=FOLDER))
    # Worker processes of the run are forks, which do not remove it.
    atexit.register(_remove, folder, os.getpid())
    copy = folder / (STDIN if own else Path(target).name)
    try:
        with _opened(target, own) as source, copy.open("wb") as to:
            shutil.copyfileobj(source, to)
    except OSError as error:
        raise InputError(f"{target}: cannot be read: {error.strerror or error}") from error
    return copy


def _opened(target: str | os.PathLike[str], own: bool) -> IO[bytes]:
    return os.fdopen(os.dup(0), "rb") if own else Path(target).open("rb")


def _remove(folder: Path, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
