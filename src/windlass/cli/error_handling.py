"""Errors of a command, each printed as one line with an exit status."""

from __future__ import annotations

import errno
import os
import sys
import tempfile
import traceback
from types import TracebackType
from typing import NoReturn

from windlass.model import BatchError, InputError, PolicyError, TaskError
from windlass.model.errors import ParameterError
from windlass.model.pipe_copies import as_named
from windlass.model.text import printable
from windlass.policy.user_code import describe_failure, message_of

#: The environment variable that turns on tracebacks.
TRACEBACK = "WINDLASS_TRACEBACK"
#: Error numbers of a full disk: no space left, quota exceeded, file too large.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
#: Options whose names differ from the parameter of the library.
_OPTIONS = {"live": "--engine", "job": "JOB"}


def run_app() -> None:
    """Run the command that the arguments name, and end with a status (:mod:`windlass.cli`).

    Raises
    ------
    KeyboardInterrupt
        The command was interrupted, and no message has been printed.
    SystemExit
        In all other cases.
    """
    try:
        try:
            from windlass.cli.app import commands

            commands()(standalone_mode=True)
        finally:
            # Errors of writing are raised here, and not while Python exits.
            if sys.stdout is not None:
                sys.stdout.flush()
    except KeyboardInterrupt:
        raise
    except SystemExit as stop:
        if describe_failure(stop) is not None:
            sys.exit(status_of(stop))
        # Typer turns an interrupt into a status without a message; a status after a message has no cause.
        if stop.__context__ is not None and isinstance(stop.__context__.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from stop
        # Rich and Typer turn a closed pipe into a status.
        if isinstance(stop.__context__, BrokenPipeError):
            _end_unread()
        raise
    except BrokenPipeError as error:
        if describe_failure(error) is not None:
            sys.exit(status_of(error))
        _end_unread()
    except BaseException as error:
        status = status_of(error)
        _close_output()
        sys.exit(status)


def option_of(parameter: str) -> str:
    """Return the option that sets a parameter of the library; an option is returned unchanged.

    >>> option_of("out"), option_of("live"), option_of("--report")
    ('--out', '--engine', '--report')
    """
    if parameter.startswith("--"):
        return parameter
    return _OPTIONS.get(parameter, f"--{parameter.replace('_', '-')}")


def status_of(error: BaseException) -> int:
    """Print an error in one line on standard error, and return the exit status.

    Parameters
    ----------
    error
        Any error other than an interrupt or a closed standard output.

    Returns
    -------
    int
        1 if a task failed or a batch system could not be reached, 2 if the input or a policy is wrong, 3 for a bug in
        Windlass.
    """
    shows = bool(os.environ.get(TRACEBACK))
    if shows:
        traceback.print_exception(error)
    by_policy = describe_failure(error)
    if by_policy is not None:
        return _report(2, by_policy if shows else f"{by_policy}; {TRACEBACK}=1 shows the traceback")
    if isinstance(error, BatchError | TaskError):
        return _report(1, str(error))
    if isinstance(error, ParameterError):
        return _report(2, error.formatted(option_of, option_of))
    if isinstance(error, InputError | PolicyError):
        return _report(2, str(error))
    if isinstance(error, MemoryError):
        return _report(2, f"not enough memory{f': {error}' if str(error) else ''}")
    if isinstance(error, OSError) and error.strerror:
        return _report(2, f"{_place_of(error)}{error.strerror}")
    where = "is above" if shows else f"is in {_written(error)}"
    return _report(
        3,
        f"{message_of(error)}{_line(error.__traceback__)}; this is a bug in Windlass, its traceback {where}",
    )


def _end_unread() -> NoReturn:
    """End with status 0 after the reader of standard output closed it, as ``head`` does."""
    _close_output()
    sys.exit(0)


def _close_output() -> None:
    """Discard buffered output that cannot be written, or Python would report it again on exit."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


def _place_of(error: OSError) -> str:
    """Return the file that the system refused, as a prefix."""
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)}: "
    # All files are written under their names, so a full disk without a name is standard output.
    return "standard output: " if error.errno in _NO_ROOM else ""


def _report(status: int, line: str) -> int:
    print(f"windlass: {printable(as_named(line))}", file=sys.stderr)
    return status


def _line(trace: TracebackType | None) -> str:
    """Return the innermost line of Windlass in a traceback."""
    own = [
        f" ({frame.f_globals['__name__']}, line {line})"
        for frame, line in traceback.walk_tb(trace)
        if str(frame.f_globals.get("__name__", "")).startswith("windlass.")
    ]
    return own[-1] if own else ""


def _written(error: BaseException) -> str:
    """Write the traceback to a new file and return its name, or, if no file can be written, how to print it."""
    try:
        handle, name = tempfile.mkstemp(prefix="windlass-traceback-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            traceback.print_exception(error, file=file)
    except OSError:
        return f"the output of {TRACEBACK}=1"
    return name
