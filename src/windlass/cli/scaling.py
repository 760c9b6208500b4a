"""Machines before they are needed, on a real cluster: `windlass k8s …` and `windlass ray …`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from windlass.cli.terminal import say
from windlass.model.text import printable

if TYPE_CHECKING:
    from windlass.engines.elastic.system import ElasticSystem
    from windlass.engines.kubernetes.system import KubernetesScale

k8s_app = typer.Typer(
    help="Kubernetes: ask for nodes before jobs need them; or take back what was asked for.",
    no_args_is_help=True,
)
ray_app = typer.Typer(help="Ray: ask for nodes before tasks need them.", no_args_is_help=True)

_Types = Annotated[
    Path,
    typer.Option("--types", help="YAML: types of instances, with cores, memory, gpus, price, launch, most."),
]
_Policy = Annotated[
    str, typer.Option("--policy", help="A name, ./mine.py, or as in '{predictive: {quantile: 0.9}}'.")
]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be asked for now; change nothing.")]
_Period = Annotated[float, typer.Option("--period", help="Seconds between decisions.")]
_History = Annotated[
    Path | None,
    typer.Option("--history", help="File of what was needed before.", show_default="in the folder for state"),
]
_Config = Annotated[
    str | None,
    typer.Option("--kubeconfig", help="File.", show_default="the pod's account, or the user's file"),
]
_Context = Annotated[str | None, typer.Option("--context", help="Of that file.")]
_Namespace = Annotated[str, typer.Option("--namespace", help="Where objects of ours are.")]


@k8s_app.command("autoscale")
def k8s_autoscale(
    types: _Types,
    policy: _Policy = "thrifty",
    dry_run: _DryRun = False,
    period: _Period = 300.0,
    history: _History = None,
    kubeconfig: _Config = None,
    context: _Context = None,
    namespace: _Namespace = "windlass",
    label: Annotated[
        str, typer.Option("--label", help="Of nodes: its value is the name of a type.")
    ] = "node.kubernetes.io/instance-type",
) -> None:
    """Keep spare instances as a policy says: CapacityBuffers, or pods that hold places where there are none."""
    system = _kubernetes(types, kubeconfig, context, namespace, label)
    _scale(system, policy, history, f"k8s-{namespace}", period, dry_run)


@k8s_app.command("remove")
def k8s_remove(
    kubeconfig: _Config = None, context: _Context = None, namespace: _Namespace = "windlass"
) -> None:
    """Delete all that `autoscale` made; nothing else is touched."""
    from windlass.engines.kubernetes.headroom import Spare
    from windlass.engines.kubernetes.server import ApiServer

    with _one_line():
        gone = Spare(ApiServer(kubeconfig, context), namespace, "").remove()
    print("\n".join(f"deleted {printable(str(each))}" for each in gone) or "nothing of Windlass is there")


@ray_app.command("autoscale")
def ray_autoscale(
    types: _Types,
    address: Annotated[str, typer.Option("--address", help="Of the cluster's head, as in 127.0.0.1:6379.")],
    policy: _Policy = "thrifty",
    dry_run: _DryRun = False,
    period: _Period = 60.0,
    history: _History = None,
) -> None:
    """Have Ray's autoscaler hold as many nodes as a policy says; nobody else should call `request_resources`."""
    from windlass.engines.address import host_and_port

    host_and_port("--address", address)
    try:
        from windlass.engines.ray.scale import connected
    except ImportError as error:
        from windlass.model import InputError

        raise InputError("Ray is not installed: pip install 'windlass[ray]'") from error
    from windlass.engines.elastic.types import read_types

    with connected(address, read_types(types)) as system:
        _scale(system, policy, history, f"ray-{address}", period, dry_run)


def _kubernetes(
    types: Path, kubeconfig: str | None, context: str | None, namespace: str, label: str
) -> KubernetesScale:
    from windlass.engines.elastic.types import read_types
    from windlass.engines.kubernetes.server import ApiServer
    from windlass.engines.kubernetes.system import KubernetesScale

    known = read_types(types)
    return KubernetesScale(ApiServer(kubeconfig, context), known, namespace=namespace, label=label)


def _scale(
    system: ElasticSystem, policy: str, history: Path | None, name: str, period: float, dry_run: bool
) -> None:
    from windlass.cli.signals import stopped_by_signals
    from windlass.drive import drive
    from windlass.engines.elastic.clock import SystemClock
    from windlass.engines.elastic.engine import LiveScale
    from windlass.scale import POLICIES
    from windlass.scale.monitor import Monitor

    chosen = _policy(policy)
    names = [kind.name for kind in system.types]
    with Monitor(history or _default_history(name), names, period=period) as monitor, _one_line():
        engine = LiveScale(system, monitor, SystemClock(), period=period, tell=say)
        if dry_run:
            print("\n".join(map(printable, engine.plan(chosen))))
            print("Nothing was changed.")
            return
        with stopped_by_signals(True, "interrupted; what was asked for stands"):
            drive(engine, {POLICIES.key: chosen})


def _policy(text: str) -> Any:
    """A policy as scenarios write it."""
    import numpy as np
    from pydantic import TypeAdapter, ValidationError

    from windlass.experiment.worlds.policy import Policy
    from windlass.io import parse_yaml
    from windlass.model import InputError
    from windlass.scale import POLICIES

    try:
        spec = TypeAdapter(Policy).validate_python(parse_yaml(text, "--policy"))
    except ValidationError as error:
        raise InputError(f"--policy: {text!r} is not a policy, expected a name or {{name: {{…}}}}") from error
    return spec.make(POLICIES, np.random.default_rng(1))


def _default_history(name: str) -> Path:
    import os

    home = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    clean = "".join(sign if sign.isalnum() else "-" for sign in name)
    return Path(home) / "windlass" / f"scale-{clean}.db"


@contextmanager
def _one_line() -> Iterator[None]:
    """A cluster that does not answer is an error of the user's surroundings: one line, no traceback."""
    from windlass.engines.elastic.system import ClusterError
    from windlass.model import InputError

    try:
        yield
    except ClusterError as error:
        raise InputError(str(error)) from error
