"""Names of the copies of logs that come through a pipe, in messages."""

from __future__ import annotations

import os
import re
import tempfile

#: Beginning of the name of a copy's temporary folder.
FOLDER = "windlass-"
#: Name of a copy of standard input.
STDIN = "stdin"


def as_named(message: str) -> str:
    """Return a message in which copies of pipes have the names of the pipes, without the temporary folder.

    Examples
    --------
    >>> as_named(f"{tempfile.gettempdir()}/windlass-1a_b/stdin, line 2: procs is 'x'")
    "standard input, line 2: procs is 'x'"
    >>> as_named(f"{tempfile.gettempdir()}/windlass-1a_b/jobs.csv, line 2: procs is 'x'")
    "jobs.csv, line 2: procs is 'x'"
    >>> as_named(f"{tempfile.gettempdir()}/windlass-1a_b/stdin.swf, line 2: procs is 'x'")
    "stdin.swf, line 2: procs is 'x'"
    """
    folder = re.escape(os.path.join(tempfile.gettempdir(), FOLDER)) + r"\w+" + re.escape(os.sep)
    return re.sub(folder, "", re.sub(rf"{folder}{STDIN}(?!\.?\w)", "standard input", message))
