"""``windlass agent``: record a machine's telemetry, and decide whether the machine accepts more tasks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from windlass.agent.default import POLICY
from windlass.cli import completion
from windlass.cli.agent_process import above, agent_module, check_kernel, record_telemetry, stopping
from windlass.cli.option_checks import check_needs
from windlass.cli.output import log_line

agent_app = typer.Typer(
    help="Record this node's telemetry, and decide whether the node accepts more tasks.",
    no_args_is_help=True,
)

_Every = Annotated[float, typer.Option("--every", help="Sampling interval (s).")]
_Proc = Annotated[Path, typer.Option("--proc", help="Folder of processes (procfs).")]
_Groups = Annotated[Path, typer.Option("--cgroup", help="Folder of control groups (cgroup v2).")]
_Join = Annotated[
    str | None, typer.Option("--join", help="URL of an aggregator to join.", show_default="none")
]
_JoinEvery = Annotated[
    float, typer.Option("--join-every", help="Interval for sending what changed to the aggregator (s).")
]
_SaveEvery = Annotated[float, typer.Option("--save-every", help="Interval for saving the state (s).")]
_Name = Annotated[
    str | None,
    typer.Option("--name", help="Name of this agent at the aggregator.", show_default="host name"),
]
_TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        help="File with the token that agents and aggregators share.",
        show_default="$WINDLASS_TOKEN",
    ),
]

_NEEDS = (("--save-every", "--state"), ("--join-every", "--join"), ("--name", "--join"))


@agent_app.callback()
def _agent() -> None:
    pass


@agent_app.command()
def record(
    out: Annotated[Path, typer.Option("--out", help="Parquet file to write.")],
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="Duration (s).", show_default="until Ctrl-C")
    ] = None,
    every: _Every = 1.0,
    group: Annotated[
        list[str] | None,
        typer.Option("--group", help="Control group to measure separately; repeatable."),
    ] = None,
    proc: _Proc = Path("/proc"),
    cgroup: _Groups = Path("/sys/fs/cgroup"),
) -> None:
    """Record this machine's telemetry in a file; Ctrl-C saves the steps so far."""
    from windlass.cli.output import print_lines
    from windlass.engines.linux.telemetry.source import Roots

    print_lines([record_telemetry(out, seconds, every, tuple(group or ()), Roots(proc, cgroup))])


@agent_app.command()
def run(
    context: typer.Context,
    listen: Annotated[
        str, typer.Option("--listen", help="Address for HTTP: /accept, /healthz, /metrics.")
    ] = "127.0.0.1:9090",
    check: Annotated[
        str | None,
        typer.Option("--check", help="Address for HAProxy's agent-check.", show_default="the next port"),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            help="Admission policy; see windlass list --decision admit.",
            show_default=POLICY,
            autocompletion=completion.admit_policies,
        ),
    ] = None,
    downtime: Annotated[
        float | None,
        typer.Option(
            "--downtime",
            help="Share of the time in which the policy may reject tasks.",
            show_default="the policy's own",
        ),
    ] = None,
    guard: Annotated[
        float,
        typer.Option("--guard", help="CPU Ready from which tasks are always rejected; 0 for never."),
    ] = 0.5,
    state: Annotated[
        Path | None,
        typer.Option("--state", help="File in which the learned state is saved.", show_default="none"),
    ] = None,
    save_every: _SaveEvery = 60.0,
    every: _Every = 1.0,
    haproxy_by: Annotated[
        str, typer.Option("--haproxy-by", help="Answer to HAProxy: state (drain), or weight (0%).")
    ] = "state",
    join: _Join = None,
    join_every: _JoinEvery = 30.0,
    name: _Name = None,
    token_file: _TokenFile = None,
    kubernetes: Annotated[
        str,
        typer.Option("--kubernetes", help="Mark on the node while it rejects tasks: off, label, taint."),
    ] = "off",
    node: Annotated[
        str | None, typer.Option("--node", help="Name of the Kubernetes node.", show_default="$NODE_NAME")
    ] = None,
    proc: _Proc = Path("/proc"),
    cgroup: _Groups = Path("/sys/fs/cgroup"),
) -> None:
    """Observe this machine, and report over HTTP whether it accepts more tasks."""
    import os

    import numpy as np

    from windlass.agent.options import Address, AgentOptions
    from windlass.agent.token import read_token
    from windlass.engines.linux.telemetry.source import Roots

    check_needs(context, *_NEEDS, ("--token-file", "--join"), ("--node", "--kubernetes"))
    where = Address.of("--listen", listen)
    # Port 0 is any free port, and so is the next one.
    following = Address(where.host, where.port + 1 if where.port else 0)
    options = AgentOptions(
        listen=where,
        check=following if check is None else Address.of("--check", check),
        policy=policy or POLICY,
        downtime=downtime,
        guard=guard,
        every=every,
        state=state,
        save_every=save_every,
        drain=haproxy_by,
        above=above(join, name, join_every),
        mark=kubernetes,
        node=node or os.environ.get("NODE_NAME", ""),
        roots=Roots(proc, cgroup),
    )
    check_kernel(options.roots)
    token = read_token(token_file) if join is not None else None
    run_agent = agent_module().run_agent
    with stopping() as stop:
        run_agent(options, token, np.random.default_rng(), stop, log_line)


@agent_app.command()
def aggregate(
    context: typer.Context,
    listen: Annotated[str, typer.Option("--listen", help="Address for agents.")] = "127.0.0.1:9092",
    rank: Annotated[int, typer.Option("--rank", help="Rank of the merged subspace.")] = 4,
    forget_after: Annotated[
        float, typer.Option("--forget-after", help="Time after which a silent agent is forgotten (s).")
    ] = 3600.0,
    state: Annotated[
        Path | None,
        typer.Option("--state", help="File in which the agents' states are saved.", show_default="none"),
    ] = None,
    save_every: _SaveEvery = 10.0,
    join: _Join = None,
    join_every: _JoinEvery = 30.0,
    name: _Name = None,
    token_file: _TokenFile = None,
) -> None:
    """Merge the learned states of agents, and send the result to new agents."""
    import numpy as np

    from windlass.agent.options import Address, AggregatorOptions
    from windlass.agent.token import VARIABLE, read_token
    from windlass.model import InputError

    check_needs(context, *_NEEDS)
    parent = above(join, name, join_every)
    options = AggregatorOptions(
        Address.of("--listen", listen), rank, forget_after, state, save_every, above=parent
    )
    token = read_token(token_file)
    if token is None:
        raise InputError(f"no token, expected --token-file or {VARIABLE}: it authenticates agents")
    run_aggregator = agent_module().run_aggregator
    with stopping() as stop:
        run_aggregator(options, token, np.random.default_rng(), stop, log_line)
