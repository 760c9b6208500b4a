"""An API server for tests of the autoscaler: emulated, or a real one if available."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.engines.kubernetes.between import Between, Upstream
from tests.engines.kubernetes.cluster import PODS, TYPES, Cluster
from tests.engines.kubernetes.store import Store
from tests.engines.kubernetes.things import kubeconfig
from windlass.engines.kubernetes.server import ApiServer

ROOT = Path(__file__).parents[3]


@dataclass(frozen=True, slots=True)
class Served:
    """A server.

    Parameters
    ----------
    upstream
        The server's address.
    admin
        A kubeconfig file with all permissions.
    token
        Token of the autoscaler, with the permissions of its roles.
    cluster
        The cluster of the server.
    away
        Context manager during which the server is unreachable.
    """

    upstream: Upstream
    admin: Path
    token: str
    cluster: Cluster
    away: Callable[[], AbstractContextManager[None]]


@contextmanager
def served_here(folder: Path, buffers: bool = True) -> Iterator[Served]:
    """Run an emulated server that allows everything."""
    store = Store(buffers)
    with closing(Between(store)) as front:
        admin = kubeconfig(folder / "admin", front.url)
        server = ApiServer(str(admin))

        def bind(name: str, where: str) -> None:
            server.send("PATCH", f"{PODS}/{name}", {"spec": {"nodeName": where}})

        yield Served(store, admin, "secret", Cluster(server, bind, buffers), store.away)


def environment() -> dict[str, str]:
    """Return an environment in which this project's modules and tests can be imported."""
    paths = (str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", ""))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def words(config: Path, folder: Path, namespace: str, policy: str, period: float) -> list[str]:
    """Return the arguments of the command that scales for a namespace, with its history in the folder."""
    types = folder / "types.yaml"
    types.write_text(TYPES)
    named = {
        "types": types,
        "kubeconfig": config,
        "history": folder / f"{namespace}.db",
        "period": period,
        "policy": policy,
        "namespace": namespace,
    }
    return [
        "k8s",
        "autoscale",
        *(part for name, value in named.items() for part in (f"--{name}", str(value))),
    ]
