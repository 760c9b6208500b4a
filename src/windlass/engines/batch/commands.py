"""A batch system's commands as processes."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from typing import Protocol


class CommandRunner(Protocol):
    """Runs a command to its end; returns its exit status, standard output and standard error."""

    def __call__(self, command: Sequence[str], timeout: float) -> tuple[int, str, str]:
        """Run a command; raise ``TimeoutExpired`` if it takes longer than ``timeout``, s."""
        ...


def run_command(
    command: Sequence[str], environment: Mapping[str, str], timeout: float
) -> tuple[int, str, str]:
    """Run a command to its end; bytes that are not UTF-8 are replaced.

    Parameters
    ----------
    command
        The program and its arguments.
    environment
        Its environment variables.
    timeout
        Time limit, s.

    Raises
    ------
    FileNotFoundError
        There is no such program.
    subprocess.TimeoutExpired
        The command took longer; it was killed.

    Examples
    --------
    >>> import os
    >>> run_command(["printf", "a b"], os.environ, 60.0)
    (0, 'a b', '')
    """
    done = subprocess.run(
        list(command),
        env=dict(environment),
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        # Ctrl-C must reach only the driver, which still calls the commands while it stops.
        start_new_session=True,
    )
    return done.returncode, done.stdout, done.stderr
