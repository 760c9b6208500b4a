"""``windlass k8s`` and ``windlass ray``: nodes of a real cluster, requested before they are needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from windlass.cli import completion
from windlass.cli.as_file import AsFile, print_file, scaling_fields
from windlass.cli.k8s_jobs import Context, Kubeconfig, Lease, drive, give_back
from windlass.cli.metrics import Metrics, metrics_address, metrics_served
from windlass.cli.option_checks import RUN, check_apart
from windlass.cli.output import log_line, print_lines

if TYPE_CHECKING:
    from windlass.control.scaling.engine import Connect
    from windlass.experiment.worlds.policy import PolicySpec

k8s_app = typer.Typer(
    help="Order a queue of Kubernetes Jobs, and request nodes before jobs need them.",
    no_args_is_help=True,
)
ray_app = typer.Typer(help="Request Ray nodes before tasks need them.", no_args_is_help=True)

_Types = Annotated[
    Path,
    typer.Option(
        "--types", help="Types of instances (.yaml), with cores, memory, gpus, price, launch, most."
    ),
]
_Policy = Annotated[
    str,
    typer.Option(
        "--policy",
        help="Scaling policy: a name, ./mine.py, or with parameters, as in '{predictive: {quantile: 0.9}}'.",
        autocompletion=completion.scale_policies,
    ),
]
_DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print the nodes that would be requested now, and change nothing.")
]
_Period = Annotated[float, typer.Option("--period", help="Interval between decisions (s).")]
_History = Annotated[
    Path | None,
    typer.Option("--history", help="File of past demand.", show_default="in the state folder of the user"),
]
_Namespace = Annotated[str, typer.Option("--namespace", help="Namespace for Windlass's objects.")]


k8s_app.command("drive")(drive)
k8s_app.command("give-back")(give_back)


@k8s_app.command("autoscale")
def k8s_autoscale(
    words: typer.Context,
    types: _Types,
    policy: _Policy = "thrifty",
    dry_run: _DryRun = False,
    period: _Period = 300.0,
    history: _History = None,
    kubeconfig: Kubeconfig = None,
    context: Context = None,
    namespace: _Namespace = "windlass",
    label: Annotated[
        str, typer.Option("--label", help="Label of nodes that names the type.")
    ] = "node.kubernetes.io/instance-type",
    lease: Lease = 0.0,
    metrics: Metrics = None,
    as_file: AsFile = False,
) -> None:
    """Keep spare instances as a policy decides, with CapacityBuffers, or with placeholder pods on older clusters."""
    from windlass.control.scaling import clusters
    from windlass.engines.elastic.types import read_types

    check_apart(words, "--dry-run", ("--lease", "--metrics"), RUN)
    if as_file:
        own = {"kubeconfig": kubeconfig, "context": context, "namespace": namespace, "label": label}
        without, shared = (
            ("--dry-run", "--lease", "--metrics"),
            scaling_fields(types, policy, period, history),
        )
        print_file(words, without, engine="kubernetes", **shared, **own)
        return
    connect = clusters.kubernetes(
        read_types(types), kubeconfig, context, namespace, label, lease, report=log_line
    )
    past, site = f"k8s-{namespace}", context or "cluster"
    _scale(connect, "Kubernetes", site, policy, history, past, period, dry_run, metrics)


@k8s_app.command("remove")
def k8s_remove(
    kubeconfig: Kubeconfig = None, context: Context = None, namespace: _Namespace = "windlass"
) -> None:
    """Delete all objects that autoscale created; nothing else is changed."""
    from windlass.engines.kubernetes.headroom import SpareNodes
    from windlass.engines.kubernetes.server import ApiServer

    with _one_line():
        gone = SpareNodes(ApiServer(kubeconfig, context), namespace, "").remove()
    print_lines([f"deleted {each}" for each in gone] or ["no objects of Windlass found"])


@ray_app.command("autoscale")
def ray_autoscale(
    words: typer.Context,
    types: _Types,
    address: Annotated[
        str, typer.Option("--address", help="Address of the cluster's head, as in 127.0.0.1:6379.")
    ],
    policy: _Policy = "thrifty",
    dry_run: _DryRun = False,
    period: _Period = 60.0,
    history: _History = None,
    metrics: Metrics = None,
    as_file: AsFile = False,
) -> None:
    """Request nodes from Ray's autoscaler as a policy decides; no other program may call request_resources."""
    from windlass.engines.address import host_and_port

    check_apart(words, "--dry-run", ("--metrics",), RUN)
    host_and_port("--address", address)
    if as_file:
        shared = scaling_fields(types, policy, period, history)
        print_file(words, ("--dry-run", "--metrics"), engine="ray", **shared, address=address)
        return
    from windlass.control.scaling import clusters
    from windlass.engines.elastic.types import read_types

    connect = clusters.ray(read_types(types), address)
    _scale(connect, "Ray", address, policy, history, f"ray-{address}", period, dry_run, metrics)


def _scale(
    connect: Connect,
    kind: str,
    site: str,
    policy: str,
    history: Path | None,
    past: str,
    period: float,
    dry_run: bool,
    metrics: str | None = None,
) -> None:
    """Scale a cluster as under ``windlass serve``; ``past`` names the default file of its past demand."""
    from windlass.cli.one_engine import run_engine
    from windlass.control.scaling.engine import ScalingEngine, ScalingSettings
    from windlass.engines.elastic.metrics import ScaleStatus, scale_metrics
    from windlass.scale.monitor import default_history

    where, status = metrics_address(metrics), ScaleStatus()
    file = history or default_history(past)
    settings = ScalingSettings("scale", site, kind, _policy(policy), file, period, gives_up=True)
    engine = ScalingEngine(settings, connect, acts=not dry_run, report=log_line, status=status)
    with _one_line():
        if dry_run:
            print_lines([*engine.plan(), "Nothing was changed."])
            return
        with metrics_served(where, scale_metrics(status)):
            run_engine(engine, "interrupted; the requests remain", log_line)


def _policy(text: str) -> PolicySpec:
    """Return a scaling policy, read as in a scenario."""
    from pydantic import TypeAdapter, ValidationError

    from windlass.experiment.worlds.policy import Policy
    from windlass.io import parse_yaml
    from windlass.model import InputError

    try:
        spec: PolicySpec = TypeAdapter(Policy).validate_python(parse_yaml(text, "--policy"))
    except ValidationError as error:
        raise InputError(f"--policy: {text!r} is not a policy, expected a name or {{name: {{…}}}}") from error
    return spec


@contextmanager
def _one_line() -> Iterator[None]:
    """Turn the error of a cluster that does not answer into an input error, which is one line without a traceback."""
    from windlass.engines.elastic.system import ClusterError
    from windlass.model import InputError

    try:
        yield
    except ClusterError as error:
        raise InputError(str(error)) from error
