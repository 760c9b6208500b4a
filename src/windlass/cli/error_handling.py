"""Whatever ends a command with an error, as one line and a status."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import traceback
from types import TracebackType
from typing import NoReturn

from windlass.model import BatchError, InputError, PolicyError, TaskError
from windlass.model.text import printable
from windlass.policy.user_code import blamed, said_by

#: The environment variable that has tracebacks printed.
TRACEBACK = "WINDLASS_TRACEBACK"
#: How systems say that there is no room for what is written: the disk is full, or what one may have of it is.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def run_app() -> None:
    """Run the command that the arguments name, and end as :mod:`windlass.cli` says.

    Raises
    ------
    KeyboardInterrupt
        It was interrupted, and that is still to be said.
    SystemExit
        In all other cases.
    """
    try:
        try:
            from windlass.cli.app import app

            app(standalone_mode=True)
        finally:
            # What cannot be written is to be said here, and not by Python on its way out.
            if sys.stdout is not None:
                sys.stdout.flush()
    except KeyboardInterrupt:
        raise
    except SystemExit as stop:
        if blamed(stop) is not None:
            sys.exit(status_of(stop))
        # Typer makes a status of an interrupt, and says nothing; that of one who has said something has no cause.
        if stop.__context__ is not None and isinstance(stop.__context__.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from stop
        # Rich and Typer make a status of a reader who has gone, too.
        if isinstance(stop.__context__, BrokenPipeError):
            _end_unread()
        raise
    except BrokenPipeError as error:
        if blamed(error) is not None:
            sys.exit(status_of(error))
        _end_unread()
    except BaseException as error:
        status = status_of(error)
        _close_output()
        sys.exit(status)


def _end_unread() -> NoReturn:
    """End where the reader of our output has gone, as he does who has read enough.

    Raises
    ------
    SystemExit
        With status 0. Python would complain again while it flushes on exit.
    """
    _close_output()
    sys.exit(0)


def _close_output() -> None:
    """Have what is still to be written to standard output go nowhere, where it cannot be written."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


def status_of(error: BaseException) -> int:
    """Say an error in one line on standard error; with which status the command ends.

    Parameters
    ----------
    error
        Any but that of an interrupt, or of a reader of our output that has gone.

    Returns
    -------
    int
        1 where a task failed or a batch system stayed away, 2 where the input or a policy is wrong, 3 where it is a
        mistake of ours.
    """
    shows = bool(os.environ.get(TRACEBACK))
    if shows:
        traceback.print_exception(error)
    by_policy = blamed(error)
    if by_policy is not None:
        return _say(2, by_policy if shows else f"{by_policy}; {TRACEBACK}=1 shows how it came there")
    if isinstance(error, BatchError | TaskError):
        return _say(1, str(error))
    if isinstance(error, InputError | PolicyError):
        return _say(2, str(error))
    if isinstance(error, MemoryError):
        return _say(2, f"there is not enough memory{f': {error}' if str(error) else ''}")
    if isinstance(error, OSError) and error.strerror:
        return _say(2, f"{_place_of(error)}{error.strerror}")
    where = "is above" if shows else f"is in {_written(error)}"
    return _say(
        3,
        f"{said_by(error)}{_line(error.__traceback__)}; this is a mistake of Windlass, its traceback {where}",
    )


def _place_of(error: OSError) -> str:
    """What the system could not use, where that is known."""
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)}: "
    # Whoever writes a file names it, so that what found no room and has no name is what we print.
    return "standard output: " if error.errno in _NO_ROOM else ""


def _say(status: int, line: str) -> int:
    print(f"windlass: {printable(line)}", file=sys.stderr)
    return status


def _line(trace: TracebackType | None) -> str:
    """The last line of ours that an error came through."""
    ours = [
        f" ({frame.f_globals['__name__']}, line {line})"
        for frame, line in traceback.walk_tb(trace)
        if str(frame.f_globals.get("__name__", "")).startswith("windlass.")
    ]
    return ours[-1] if ours else ""


def _written(error: BaseException) -> str:
    """A new file with the traceback, or how to have it where none can be written."""
    try:
        handle, name = tempfile.mkstemp(prefix="windlass-traceback-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            traceback.print_exception(error, file=file)
    except OSError:
        return f"what {TRACEBACK}=1 shows"
    return name
