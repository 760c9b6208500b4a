"""Processes that Windlass started and may stop, identified by id and start time so that no other process is hit."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from windlass.model import BatchError

#: Polling interval of :func:`wait_until`, s.
_LOOK_S = 0.05
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Daemon:
    """A running or ended process.

    Parameters
    ----------
    name
        Its name in messages.
    pid
        Its process id, which the system may reuse.
    began
        Its start time, in kernel ticks since boot; together with ``pid`` and ``boot`` it is unique.
    boot
        The boot id of the machine.
    """

    name: str
    pid: int
    began: int
    boot: str

    @classmethod
    def of(cls, name: str, pid: int) -> Daemon | None:
        """Return the process that has this id now; None if there is none.

        >>> Daemon.of("this one", os.getpid()).alive, Daemon.of("none", 2**22 + 1)
        (True, None)
        """
        began = _began(pid)
        return None if began is None else cls(name, pid, began, _BOOT.read_text().strip())

    @property
    def alive(self) -> bool:
        """True if this very process still runs."""
        return self.boot == _BOOT.read_text().strip() and _began(self.pid) == self.began

    def end(self, patience: float = 10.0) -> bool:
        """Terminate the process, and kill it after ``patience`` (s); return whether it ran."""
        if not self.alive:
            return False
        for signum in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signum)
            if wait_until(lambda: not self.alive, patience):
                return True
        raise BatchError(f"{self.name} (process {self.pid}) does not end")


def _began(pid: int) -> int | None:
    """Return the start time in ticks since boot; None for a missing process or a zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The second field is the name, in brackets, and may have spaces and brackets of its own.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])


def wait_until(done: Callable[[], bool], patience: float) -> bool:
    """Poll until ``done`` returns true, for at most ``patience`` (s); return whether it did."""
    end = time.monotonic() + patience
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(_LOOK_S)
    return True


def launch(name: str, command: Sequence[str], pid_file: Path, environment: Mapping[str, str]) -> Daemon:
    """Start a program that daemonizes and writes its id into a file.

    Raises
    ------
    BatchError
        It did not start; the message has its output.
    """
    pid_file.unlink(missing_ok=True)
    done = subprocess.run(
        list(command),
        env=dict(environment),
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    found: list[Daemon] = []

    def is_there() -> bool:
        with contextlib.suppress(OSError, ValueError):
            found.extend(filter(None, [Daemon.of(name, int(pid_file.read_text()))]))
        return bool(found)

    if done.returncode != 0 or not wait_until(is_there, 20.0):
        output = " ".join((done.stderr or done.stdout).split()) or f"status {done.returncode}, no output"
        raise BatchError(f"{name} does not start: {output}")
    return found[0]
