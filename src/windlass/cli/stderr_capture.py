"""What libraries' compiled parts write to standard error, apart from what Windlass says there."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

#: Says where the log is if its standard input ends without a word, as it does with a process that is aborted.
_AFTER = 'read -r word || { [ -s "$1" ] && echo "$2" >&2 || rm -f "$1"; }'


@contextlib.contextmanager
def errors_apart(of: str, wanted: bool = True) -> Iterator[None]:
    """Have standard error as the system knows it lead to a file, for what libraries and their processes write there by
    themselves; ``sys.stderr`` leads where it led. One line says at the end where the file is, if there is anything in
    it, also where this process is aborted.

    Parameters
    ----------
    of
        Who writes there, for the line.
    wanted
        Whether to do so; nothing is done otherwise, nor where ``sys.stderr`` is something else already.
    """
    if not wanted or not _is_plain():
        yield
        return
    handle, name = tempfile.mkstemp(prefix="windlass.", suffix=".log")
    shown = os.dup(2)
    says = f"windlass: what {of} wrote by itself is in {name}"
    after = subprocess.Popen(
        ["sh", "-c", _AFTER, "sh", name, f"{says}; it may be why this command ended"],
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
                print(says, file=sys.stderr)
        else:
            Path(name).unlink(missing_ok=True)


def _is_plain() -> bool:
    try:
        return sys.stderr.fileno() == 2
    except (AttributeError, OSError, ValueError):
        return False
