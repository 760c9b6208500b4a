"""Processes that Windlass started and may stop: known by id and by when they began, so that nobody else is hit."""

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

#: How often something that is waited for is looked at, s.
_LOOK_S = 0.05
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Daemon:
    """A process.

    Parameters
    ----------
    name
        What it is, as messages call it.
    pid
        Its id, which the system gives to another process some day.
    began
        When it began, in the kernel's ticks since boot; with ``pid`` and ``boot`` it names one process for ever.
    boot
        Which boot of the machine that was.
    """

    name: str
    pid: int
    began: int
    boot: str

    @classmethod
    def of(cls, name: str, pid: int) -> Daemon | None:
        """The process that has this id now; None where there is none.

        >>> Daemon.of("this one", os.getpid()).alive, Daemon.of("none", 2**22 + 1)
        (True, None)
        """
        began = _began(pid)
        return None if began is None else cls(name, pid, began, _BOOT.read_text().strip())

    @property
    def alive(self) -> bool:
        """Whether this very process is there still."""
        return self.boot == _BOOT.read_text().strip() and _began(self.pid) == self.began

    def end(self, patience: float = 10.0) -> bool:
        """Ask it to end, and kill it after so many seconds; whether it was there."""
        if not self.alive:
            return False
        for ask in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, ask)
            if wait_until(lambda: not self.alive, patience):
                return True
        raise BatchError(f"{self.name} (process {self.pid}) does not end")


def _began(pid: int) -> int | None:
    """Ticks since boot; a process that has ended and was not waited for is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    # The second field is the name, in brackets, and may have spaces and brackets of its own.
    fields = text.rpartition(")")[2].split()
    return None if fields[0] in "ZX" else int(fields[19])


def wait_until(done: Callable[[], bool], patience: float) -> bool:
    """Look again and again, for so many seconds at most, whether something is done; whether it is."""
    end = time.monotonic() + patience
    while not done():
        if time.monotonic() > end:
            return False
        time.sleep(_LOOK_S)
    return True


def launch(name: str, command: Sequence[str], pid_file: Path, environment: Mapping[str, str]) -> Daemon:
    """Start what puts itself into the background and writes its id into a file.

    Raises
    ------
    BatchError
        It did not start; with what it said.
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
        said = (
            " ".join((done.stderr or done.stdout).split()) or f"status {done.returncode}, and it says nothing"
        )
        raise BatchError(f"{name} does not start: {said}")
    return found[0]
