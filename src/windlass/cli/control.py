"""The control plane: ``windlass serve``, ``ui``, ``top`` and ``mcp``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windlass.cli.output import log_line

#: Lines of output that is not a terminal: as many as there are jobs.
_UNLIMITED = 10_000
_Listen = Annotated[str, typer.Option("--listen", help="Address of the pages.")]
_TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        help="File with the token that browsers must send as the password.",
        show_default="$WINDLASS_TOKEN",
    ),
]
_Host = Annotated[
    list[str] | None,
    typer.Option("--host", help="Further name under which the pages are requested; repeatable."),
]


def serve(
    context: typer.Context,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Engines of a live cluster (.yaml), or with --demo a scenario of the world cluster.",
            show_default="with --demo, a bundled one",
        ),
    ] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Run a simulated cluster.")] = False,
    act: Annotated[
        bool,
        typer.Option("--act", help="Carry decisions out; without it, nothing on the cluster is changed."),
    ] = False,
    act_tokens: Annotated[
        Path | None,
        typer.Option(
            "--act-tokens",
            help="File of names and tokens that may act on the pages (mode 600).",
            show_default="actions by windlass act only",
        ),
    ] = None,
    speed: Annotated[
        str, typer.Option("--speed", help="Simulated seconds per second, or max for as fast as possible.")
    ] = "60",
    variant: Annotated[
        str | None, typer.Option("--variant", help="Variant to run.", show_default="the first")
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="Random seed.", show_default="the scenario's first")
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(
            "--journal",
            help="File to write; with --demo, the default is a temporary one.",
            show_default="journal in the file, or ~/.local/state/windlass/control.db",
        ),
    ] = None,
    listen: _Listen = "127.0.0.1:8090",
    token_file: _TokenFile = None,
    host: _Host = None,
    until_done: Annotated[
        bool, typer.Option("--until-done", help="Exit when all engines have ended.")
    ] = False,
) -> None:
    """Run the control plane: engines, the journal of what they decide, and pages that show it."""
    import time

    from windlass.agent.options import Address
    from windlass.cli.agent_process import stopping
    from windlass.cli.option_checks import check_apart, check_needs
    from windlass.cli.progress import run_progress
    from windlass.control.cluster_file import default_control_journal, read_cluster
    from windlass.control.demo.engine import DemoEngine, load_demo
    from windlass.control.demo.pace import speed_of
    from windlass.control.engine import ControlledEngine
    from windlass.control.serve import HURRIED, Reload, ServeOptions, journal_file, serve
    from windlass.model import InputError

    check_needs(context, *((option, "--demo") for option in ("--speed", "--variant", "--seed")))
    check_needs(context, ("--act-tokens", "--act"))
    check_apart(context, "--demo", ("--act",), "a live cluster")
    where, engines = Address.of("--listen", listen), list[ControlledEngine]()
    reload: Reload | None = None
    if demo:
        pace = speed_of(speed)
        engines.append(
            DemoEngine(load_demo(file), variant=variant, seed=seed, speed=pace, clock=time.monotonic)
        )
    elif file is None:
        raise InputError(
            "serve: no file given, expected a list of engines such as cluster.yaml; or pass --demo"
        )
    else:
        found = read_cluster(file, acts=act, report=log_line)
        engines.extend(found.engines)
        journal = journal or found.journal or default_control_journal()
        reload = Reload(lambda: read_cluster(file, acts=act, report=log_line).engines)
    # The progress display ends before the first line of the log.
    with run_progress() as shown:
        for each in engines:
            each.prepare(shown.compiling)
    on_hangup = None if reload is None else reload.requested.set
    with journal_file(journal) as path, stopping(on_hangup, on_second=lambda: log_line(HURRIED)) as stop:
        options = ServeOptions(
            path, where, token_file, tuple(host or ()), until_done, acts=act, act_tokens=act_tokens
        )
        serve(engines, options, stop, log_line, reload=reload)


def ui(
    journal: Annotated[Path, typer.Argument(help="Journal that windlass serve writes or has written.")],
    listen: _Listen = "127.0.0.1:8090",
    token_file: _TokenFile = None,
    host: _Host = None,
) -> None:
    """Show a journal in the browser; nothing can be changed there."""
    from windlass.agent.options import Address
    from windlass.cli.agent_process import stopping
    from windlass.control.web.process import show_at

    where = Address.of("--listen", listen)
    with stopping() as stop:
        show_at(where, journal, token_file, tuple(host or ()), stop, log_line)


def top(
    journal: Annotated[Path, typer.Argument(help="Journal that windlass serve writes or has written.")],
) -> None:
    """Print what runs, what waits and why; on a terminal, again at each change until Ctrl-C."""
    from rich.live import Live

    from windlass.cli.agent_process import stopping
    from windlass.cli.terminal import terminal
    from windlass.control.journal import JournalReader
    from windlass.control.top import now_tables, watch

    console = terminal()
    with JournalReader(journal) as reader:
        if not console.is_terminal:
            console.print(now_tables(reader, _UNLIMITED))
            return
        with stopping() as stop, Live(console=console, screen=True, auto_refresh=False) as live:
            watch(reader, lambda: console.height, lambda each: live.update(each, refresh=True), stop)


def mcp(
    journal: Annotated[Path, typer.Argument(help="Journal that windlass serve writes or has written.")],
) -> None:
    """Offer read-only tools to a language model on standard input and output (Model Context Protocol)."""
    import sys

    from windlass.control.journal import JournalReader
    from windlass.control.mcp.protocol import McpServer
    from windlass.control.mcp.stdio import serve_lines

    with JournalReader(journal) as reader:
        serve_lines(McpServer(reader), sys.stdin.buffer, sys.stdout.buffer)
