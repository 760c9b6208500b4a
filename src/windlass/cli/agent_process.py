"""The process of a node agent: recordings, optional packages, and its end by signals."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from windlass.cli.output import log_line, note

if TYPE_CHECKING:
    from windlass.agent.options import Above
    from windlass.agent.stop import Stop
    from windlass.engines.linux.telemetry.observer import Observation
    from windlass.engines.linux.telemetry.source import Roots


def above(join: str | None, name: str | None, every: float) -> Above | None:
    """Return the aggregator that an agent joins, or None; the name is by default that of the host."""
    import socket

    from windlass.agent.options import Above

    return None if join is None else Above(join, name or socket.gethostname(), every)


def agent_module() -> ModuleType:
    """Return the module that runs agents.

    Raises
    ------
    InputError
        Packages of the extra ``agent`` are not installed.
    """
    import importlib

    from windlass.model import InputError

    try:
        return importlib.import_module("windlass.agent.agent")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("windlass"):
            raise
        raise InputError(f"{error.name} is not installed; run: pip install 'windlass[agent]'") from error


@contextlib.contextmanager
def stopping(
    on_hangup: Callable[[], None] | None = None, *, on_second: Callable[[], None] | None = None
) -> Iterator[Stop]:
    """Yield a stop that Ctrl-C, SIGTERM and SIGHUP set; a further signal ends the process.

    Parameters
    ----------
    on_hangup, on_second
        As of :func:`~windlass.cli.signals.stop_on_signals`.
    """
    from windlass.cli.signals import stop_on_signals

    with stop_on_signals(on_hangup, on_second=on_second) as signals:
        yield signals.stop
    log_line("stopped")


def check_kernel(roots: Roots) -> None:
    """Raise an error on a machine without the files of a Linux kernel.

    Raises
    ------
    InputError
        There is no ``stat`` in the folder of processes.
    """
    from windlass.model import InputError

    if not (roots.proc / "stat").exists():
        raise InputError(f"--proc: {roots.proc}/stat: no such file, expected that of a Linux kernel")


def record_telemetry(
    out: Path, seconds: float | None, every: float, groups: tuple[str, ...], roots: Roots
) -> str:
    """Record this machine's telemetry until the time is over or Ctrl-C, and return a sentence on the recording.

    Parameters
    ----------
    out
        The Parquet file to write.
    seconds
        Duration, s; None for until Ctrl-C.
    every
        Sampling interval, s.
    groups
        Control groups that are measured separately.
    roots
        Folders of the kernel.

    Raises
    ------
    InputError
        The file exists already, or the machine lacks the kernel's files.
    """
    import time

    from windlass.cli.progress import status_line
    from windlass.cli.signals import stopped_by_signals
    from windlass.engines.linux.telemetry.observer import Observer
    from windlass.engines.linux.telemetry.recorder import Pace, record
    from windlass.engines.linux.telemetry.recording import Recording
    from windlass.model import InputError

    if out.exists():
        raise InputError(f"--out: {out} exists already, expected a new file")
    pace = Pace(math.inf if seconds is None else seconds, every)
    check_kernel(roots)
    observer = Observer(time.monotonic, time.time, roots, groups)
    recording = Recording(out, observer.names, time.monotonic)

    def on_step(seen: Observation) -> None:
        missing = observer.missing(seen) if recording.rows == 1 else ()
        if missing:
            status_line("")
            note(f"windlass: not available on this machine: {'; '.join(missing)}")
        status_line(f"{recording.rows} steps; busy {seen.busy:.0%}, CPU Ready {seen.ready:.1%}")

    try:
        with stopped_by_signals(True, f"interrupted; the steps so far are in {out}"):
            record(observer, recording, pace, time.monotonic, time.sleep, on_step)
    finally:
        status_line("")
    return f"{out}: {recording.rows} steps of {len(observer.names)} metrics"
