"""Running of a command whose output is passed on while it runs, so that long output is never in memory as a whole."""

from __future__ import annotations

import os
import selectors
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence

#: Bytes that are read at once.
_PIECE = 1 << 18


def stream_command(
    command: Sequence[str], environment: Mapping[str, str], timeout: float, take: Callable[[bytes], None]
) -> tuple[int, str]:
    """Run a command to its end; return its exit status and standard error.

    Parameters
    ----------
    command
        The program and its arguments.
    environment
        Its environment variables.
    timeout
        Time limit, s.
    take
        Called with each part of its standard output, in order.

    Raises
    ------
    subprocess.TimeoutExpired
        The command took longer; it was killed.

    Examples
    --------
    >>> parts = []
    >>> stream_command(["printf", "a b"], os.environ, 60.0, parts.append)
    (0, '')
    >>> b"".join(parts)
    b'a b'
    """
    until = time.monotonic() + timeout
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            list(command),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            # Ctrl-C must reach only the driver, which still calls Slurm's commands while it stops.
            start_new_session=True,
        ) as process,
        selectors.DefaultSelector() as selector,
    ):
        assert process.stdout is not None
        output = process.stdout.fileno()
        selector.register(output, selectors.EVENT_READ)
        try:
            while True:
                if not selector.select(max(0.0, until - time.monotonic())):
                    raise subprocess.TimeoutExpired(list(command), timeout)
                data = os.read(output, _PIECE)
                if not data:
                    break
                take(data)
            status = process.wait(max(0.0, until - time.monotonic()))
        except BaseException:
            process.kill()
            raise
        errors.seek(0)
        return status, errors.read().decode(errors="replace")
