"""An API server to try an autoscaler on: emulated, or a real one where it can be had."""

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
        Where it is.
    admin
        A file that gives leave to do anything.
    token
        Of the autoscaler, who may do what it needs alone.
    cluster
        What goes on beside it.
    away
        For as long as one is in it, nobody reaches the server.
    """

    upstream: Upstream
    admin: Path
    token: str
    cluster: Cluster
    away: Callable[[], AbstractContextManager[None]]


@contextmanager
def served_here(folder: Path, buffers: bool = True) -> Iterator[Served]:
    """One of the tests' own, that allows everything."""
    store = Store(buffers)
    with closing(Between(store)) as front:
        admin = kubeconfig(folder / "admin", front.url)
        server = ApiServer(str(admin))

        def bind(name: str, where: str) -> None:
            server.send("PATCH", f"{PODS}/{name}", {"spec": {"nodeName": where}})

        yield Served(store, admin, "secret", Cluster(server, bind, buffers), store.away)


def environment() -> dict[str, str]:
    """In which this project's modules, and those of its tests, are found."""
    paths = (str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", ""))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in paths if path)}


def words(config: Path, folder: Path, namespace: str, policy: str, period: float) -> list[str]:
    """Of the command that scales for a namespace; its history is in the folder, under the namespace's name."""
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
