"""The process of the pages: started, restarted if it ends, and ended by the process of the engines.

The listening socket belongs to the parent, so that the address stays the same and connections wait during a restart.
The process also holds the end of a pipe, and ends when the parent does, however that happens.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

#: Time before the first restart, s; it doubles with each further one, up to the longest.
_FIRST, _LONGEST = 0.5, 30.0
#: A process that ran this long is restarted after the first delay again, s.
_SETTLED = 60.0
#: Time for the process to end after SIGTERM, s.
_PATIENCE = 5.0


class PagesProcess:
    """Keeps a process with the pages running.

    Parameters
    ----------
    listening
        A listening socket.
    journal
        The journal to show.
    options
        Further arguments of :mod:`windlass.control.web.process`.
    clock
        Time that only grows, s.
    report
        Called with a line when the process is restarted.
    """

    def __init__(
        self,
        listening: socket.socket,
        journal: Path,
        options: Sequence[str],
        clock: Callable[[], float],
        report: Callable[[str], None],
    ) -> None:
        self._socket, self._clock, self._report = listening, clock, report
        self._read, self._write = os.pipe()
        self._command = [
            *(sys.executable, "-m", "windlass.control.web.process", str(journal)),
            *("--socket", str(listening.fileno()), "--parent", str(self._read)),
            *options,
        ]
        self._delay, self._due, self._started = _FIRST, 0.0, clock()
        self._process: subprocess.Popen[bytes] | None = self._start()

    @property
    def pid(self) -> int | None:
        """The process id; None while the process waits to be restarted."""
        return None if self._process is None else self._process.pid

    def poll(self) -> None:
        """Start the process again if it has ended and the delay is over."""
        now = self._clock()
        if self._process is not None:
            status = self._process.poll()
            if status is None:
                return
            self._process = None
            self._delay = _FIRST if now - self._started > _SETTLED else min(2.0 * self._delay, _LONGEST)
            self._due = now + self._delay
            self._report(
                f"pages: the process ended with status {status}; it is restarted in {self._delay:g} s"
            )
        if now < self._due:
            return
        try:
            self._process, self._started = self._start(), now
        except OSError as error:
            # The host is short of memory or processes. The engines go on without pages meanwhile.
            self._delay = min(2.0 * self._delay, _LONGEST)
            self._due = now + self._delay
            self._report(
                f"pages: the process cannot be started: {error}; the next attempt is in {self._delay:g} s"
            )

    def close(self) -> None:
        """End the process, and close the socket."""
        os.close(self._write)
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        os.close(self._read)
        self._socket.close()

    def _start(self) -> subprocess.Popen[bytes]:
        # In a session of its own, the process does not receive the terminal's Ctrl-C, which the parent handles.
        return subprocess.Popen(
            self._command,
            pass_fds=(self._socket.fileno(), self._read),
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
