"""``windlass agent``: record what this machine measures of itself, and say whether it may take one more task."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated

import typer

from windlass.agent.default import POLICY
from windlass.cli.option_checks import check_needs
from windlass.cli.terminal import say

if TYPE_CHECKING:
    from windlass.agent.options import Above
    from windlass.agent.stop import Stop
    from windlass.engines.linux.telemetry.observer import Observation, Observer
    from windlass.engines.linux.telemetry.source import Roots

agent_app = typer.Typer(
    help="This machine, by itself: record its telemetry; say whether it may take one more task now.",
    no_args_is_help=True,
)

_Every = Annotated[float, typer.Option("--every", help="Seconds of a step.")]
_Proc = Annotated[Path, typer.Option("--proc", help="Where the kernel shows processes.")]
_Groups = Annotated[Path, typer.Option("--cgroup", help="Where control groups are.")]
_Join = Annotated[
    str | None, typer.Option("--join", help="URL of an aggregator.", show_default="nobody is joined")
]
_JoinEvery = Annotated[
    float, typer.Option("--join-every", help="How often what was learned is sent, if it has moved, s.")
]
_SaveEvery = Annotated[float, typer.Option("--save-every", help="How often what was learned is saved, s.")]
_Name = Annotated[
    str | None, typer.Option("--name", help="What the tree calls this one.", show_default="the host's name")
]
_TokenFile = Annotated[
    Path | None,
    typer.Option("--token-file", help="File with the token of the tree.", show_default="$WINDLASS_TOKEN"),
]

_NEEDS = (("--save-every", "--state"), ("--join-every", "--join"), ("--name", "--join"))


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
    from windlass.engines.linux.telemetry.observer import Observer
    from windlass.engines.linux.telemetry.recorder import Pace
    from windlass.engines.linux.telemetry.recorder import record as record_for
    from windlass.engines.linux.telemetry.recording import Recording
    from windlass.engines.linux.telemetry.source import Roots
    from windlass.model import InputError

    if out.exists():
        raise InputError(f"--out: {out} is there already, expected a new file")
    pace = Pace(math.inf if seconds is None else seconds, every)
    roots = Roots(proc, cgroup)
    check_kernel(roots)
    observer = Observer(time.monotonic, time.time, roots, tuple(group or ()))
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


@agent_app.command()
def run(
    context: typer.Context,
    listen: Annotated[
        str, typer.Option("--listen", help="Where HTTP is answered: /accept, /healthz, /metrics.")
    ] = "127.0.0.1:9090",
    check: Annotated[
        str | None,
        typer.Option(
            "--check", help="Where HAProxy's agent-check is answered.", show_default="the next port"
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option("--policy", help="Who decides; `windlass list` shows all.", show_default=POLICY),
    ] = None,
    downtime: Annotated[
        float | None,
        typer.Option(
            "--downtime", help="Share of the time in which the policy may reject.", show_default="its own"
        ),
    ] = None,
    guard: Annotated[
        float,
        typer.Option(
            "--guard", help="Reject from this CPU Ready on, whatever the policy foresees; 0 for never."
        ),
    ] = 0.5,
    state: Annotated[
        Path | None,
        typer.Option("--state", help="File in which it keeps what it learns.", show_default="none"),
    ] = None,
    save_every: _SaveEvery = 60.0,
    every: _Every = 1.0,
    haproxy_by: Annotated[
        str, typer.Option("--haproxy-by", help="How HAProxy is told: state (drain), or weight (0%).")
    ] = "state",
    join: _Join = None,
    join_every: _JoinEvery = 30.0,
    name: _Name = None,
    token_file: _TokenFile = None,
    kubernetes: Annotated[
        str,
        typer.Option("--kubernetes", help="What is done to the node while it rejects: off, label, taint."),
    ] = "off",
    node: Annotated[
        str | None, typer.Option("--node", help="Kubernetes' name of the node.", show_default="$NODE_NAME")
    ] = None,
    proc: _Proc = Path("/proc"),
    cgroup: _Groups = Path("/sys/fs/cgroup"),
) -> None:
    """Observe this machine, and answer whether it may take one more task now."""
    import os

    import numpy as np

    from windlass.agent.options import Address, AgentOptions
    from windlass.agent.token import read_token
    from windlass.engines.linux.telemetry.source import Roots

    check_needs(context, *_NEEDS, ("--token-file", "--join"), ("--node", "--kubernetes"))
    where = Address.of("--listen", listen)
    # Port 0 is any that is free, and so is the one beside it.
    beside = Address(where.host, where.port + 1 if where.port else 0)
    options = AgentOptions(
        listen=where,
        check=beside if check is None else Address.of("--check", check),
        policy=policy or POLICY,
        downtime=downtime,
        guard=guard,
        every=every,
        state=state,
        save_every=save_every,
        drain=haproxy_by,
        above=_above(join, name, join_every),
        mark=kubernetes,
        node=node or os.environ.get("NODE_NAME", ""),
        roots=Roots(proc, cgroup),
    )
    check_kernel(options.roots)
    token = read_token(token_file) if join is not None else None
    run_agent = _needs_extra().run_agent
    with _stopping() as stop:
        run_agent(options, token, np.random.default_rng(), stop, say)


@agent_app.command()
def aggregate(
    context: typer.Context,
    listen: Annotated[str, typer.Option("--listen", help="Where agents come.")] = "127.0.0.1:9092",
    rank: Annotated[int, typer.Option("--rank", help="Directions of what is merged.")] = 4,
    forget_after: Annotated[
        float, typer.Option("--forget-after", help="Seconds until an agent that is silent is forgotten.")
    ] = 3600.0,
    state: Annotated[
        Path | None,
        typer.Option("--state", help="File in which it keeps what agents sent.", show_default="none"),
    ] = None,
    save_every: _SaveEvery = 10.0,
    join: _Join = None,
    join_every: _JoinEvery = 30.0,
    name: _Name = None,
    token_file: _TokenFile = None,
) -> None:
    """Merge what agents have learned, and hand it to newcomers."""
    import numpy as np

    from windlass.agent.options import Address, AggregatorOptions
    from windlass.agent.token import VARIABLE, read_token
    from windlass.model import InputError

    check_needs(context, *_NEEDS)
    above = _above(join, name, join_every)
    options = AggregatorOptions(
        Address.of("--listen", listen), rank, forget_after, state, save_every, above=above
    )
    token = read_token(token_file)
    if token is None:
        raise InputError(f"there is no token, expected --token-file or {VARIABLE}: whoever has it may send")
    run_aggregator = _needs_extra().run_aggregator
    with _stopping() as stop:
        run_aggregator(options, token, np.random.default_rng(), stop, say)


def _above(join: str | None, name: str | None, every: float) -> Above | None:
    import socket

    from windlass.agent.options import Above

    return None if join is None else Above(join, name or socket.gethostname(), every)


def _needs_extra() -> ModuleType:
    """The agent's parts, or one line that says what to install."""
    import importlib

    from windlass.model import InputError

    try:
        return importlib.import_module("windlass.agent.agent")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("windlass"):
            raise
        raise InputError(
            f"{error.name} is not installed, expected the extra: pip install 'windlass[agent]'"
        ) from error


@contextlib.contextmanager
def _stopping() -> Iterator[Stop]:
    """A stop that Ctrl-C and a request to terminate tell; a second one ends the process."""
    import signal
    import threading

    from windlass.agent.stop import Stop

    stop = Stop()

    def told(*_: object) -> None:
        for each in before:
            signal.signal(each, before[each])
        # Not from here: this may run while the same thread waits for the stop, and holds its lock.
        threading.Thread(target=stop.tell, daemon=True).start()

    before = {each: signal.signal(each, told) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for each in before:
            signal.signal(each, before[each])
    say("stopped")


def check_kernel(roots: Roots) -> None:
    """That there is something to observe.

    Raises
    ------
    InputError
        The kernel shows nothing there.
    """
    from windlass.model import InputError

    if not (roots.proc / "stat").exists():
        raise InputError(f"--proc: {roots.proc}/stat: there is no such file, expected that of a Linux kernel")


def _say_missing(observer: Observer, seen: Observation) -> None:
    missing = observer.missing(seen)
    if missing:
        _progress("")
        print(f"windlass: {len(missing)} not on this machine: {'; '.join(missing)}", file=sys.stderr)


def _progress(text: str) -> None:
    """One line that is written over, where somebody can see it."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)
