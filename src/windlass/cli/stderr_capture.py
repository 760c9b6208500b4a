"""Capture of what libraries write to standard error, apart from Windlass's own messages."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

#: Prints the path of the log if its standard input closes before a line arrives, as when this process is aborted.
_AFTER = 'read -r word || { [ -s "$1" ] && echo "$2" >&2 || rm -f "$1"; }'


@contextlib.contextmanager
def errors_apart(of: str, wanted: bool = True) -> Iterator[None]:
    """Redirect file descriptor 2 to a log file, for libraries and their processes; ``sys.stderr`` is not redirected.

    At the end, one line names the file if anything was written to it, also if this process is aborted.

    Parameters
    ----------
    of
        The library that writes there, for the line.
    wanted
        False to do nothing. Nothing is done either if ``sys.stderr`` is redirected already.
    """
    if not wanted or not _is_plain():
        yield
        return
    handle, name = tempfile.mkstemp(prefix="windlass.", suffix=".log")
    shown = os.dup(2)
    message = f"windlass: output of {of} on standard error is in {name}"
    after = subprocess.Popen(
        ["sh", "-c", _AFTER, "sh", name, f"{message}; it may explain why this command ended"],
        stdin=subprocess.PIPE,
        stderr=shown,
        start_new_session=True,
    )
    before = sys.stderr
    before.flush()
    os.dup2(handle, 2)
    os.close(handle)
    sys.stderr = os.fdopen(shown, "w", buffering=1, encoding=before.encoding, errors=before.errors)
    try:
        yield
    finally:
        own, sys.stderr = sys.stderr, before
        own.flush()
        os.dup2(own.fileno(), 2)
        own.close()
        after.communicate(b"done\n")
        if os.path.getsize(name):
            with contextlib.suppress(OSError):
                print(message, file=sys.stderr)
        else:
            Path(name).unlink(missing_ok=True)


def _is_plain() -> bool:
    try:
        return sys.stderr.fileno() == 2
    except (AttributeError, OSError, ValueError):
        return False
