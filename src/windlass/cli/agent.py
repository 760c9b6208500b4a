"""``windlass agent``: record what this machine measures of itself, and say whether it may take one more task."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from windlass.engines.linux.telemetry.observer import Observation, Observer
    from windlass.engines.linux.telemetry.source import Roots

agent_app = typer.Typer(
    help="This machine, by itself: record its telemetry; say whether it may take one more task now.",
    no_args_is_help=True,
)

_Every = Annotated[float, typer.Option("--every", help="Seconds of a step.")]
_Proc = Annotated[Path, typer.Option("--proc", help="Where the kernel shows processes.")]
_Groups = Annotated[Path, typer.Option("--cgroup", help="Where control groups are.")]


@agent_app.callback()
def _agent() -> None:
    pass


@agent_app.command()
def record(
    out: Annotated[Path, typer.Option("--out", help="The Parquet file to write.")],
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="How long.", show_default="until Ctrl-C")
    ] = None,
    every: _Every = 1.0,
    group: Annotated[
        list[str] | None,
        typer.Option("--group", help="A control group that gets metrics of its own; may be given again."),
    ] = None,
    proc: _Proc = Path("/proc"),
    cgroup: _Groups = Path("/sys/fs/cgroup"),
) -> None:
    """Write what this machine measures of itself to a file; Ctrl-C saves what there is."""
    import time

    from windlass.cli.signals import stopped_by_signals
    from windlass.engines.linux.telemetry.recorder import Pace
    from windlass.engines.linux.telemetry.recorder import record as record_for
    from windlass.engines.linux.telemetry.recording import Recording
    from windlass.engines.linux.telemetry.source import Roots
    from windlass.model import InputError

    if out.exists():
        raise InputError(f"--out: {out} is there already, expected a new file")
    pace = Pace(math.inf if seconds is None else seconds, every)
    observer = observer_of(Roots(proc, cgroup), tuple(group or ()))
    recording = Recording(out, observer.names, time.monotonic)

    def tell(seen: Observation) -> None:
        if recording.rows == 1:
            _say_missing(observer, seen)
        _progress(f"{recording.rows} steps; busy {seen.busy:.0%}, CPU Ready {seen.ready:.1%}")

    try:
        with stopped_by_signals(True, f"interrupted; {out} has what there was"):
            record_for(observer, recording, pace, time.monotonic, time.sleep, tell)
    finally:
        _progress("")
    print(f"{out}: {recording.rows} steps of {len(observer.names)} metrics")


def observer_of(roots: Roots, groups: tuple[str, ...] = ()) -> Observer:
    """What measures this machine.

    Raises
    ------
    InputError
        The kernel shows nothing there.
    """
    import time

    from windlass.engines.linux.telemetry.observer import Observer
    from windlass.model import InputError

    if not (roots.proc / "stat").exists():
        raise InputError(f"--proc: {roots.proc}/stat: there is no such file, expected that of a Linux kernel")
    return Observer(time.monotonic, time.time, roots, groups)


def _say_missing(observer: Observer, seen: Observation) -> None:
    missing = observer.missing(seen)
    if missing:
        _progress("")
        print(f"windlass: {len(missing)} not on this machine: {'; '.join(missing)}", file=sys.stderr)


def _progress(text: str) -> None:
    """One line that is written over, where somebody can see it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
