"""Connections to the clusters that the autoscalers scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from windlass.control.scaling.engine import Connect
from windlass.engines.elastic.system import ElasticSystem
from windlass.model import InputError
from windlass.model.instances import InstanceType

#: Modules that opening a cluster needs. Both packages import ``requests``, which imports itself in a circle: two
#: threads that import them at the same time can both fail.
KUBERNETES_MODULES = ("kubernetes.client", "kubernetes.config", "windlass.engines.kubernetes.system")
RAY_MODULES = ("ray.autoscaler.v2.sdk", "windlass.engines.ray.scale")


def kubernetes(
    types: tuple[InstanceType, ...],
    config: str | None,
    context: str | None,
    namespace: str,
    label: str,
    lease: float = 0.0,
    report: Callable[[str], None] = lambda line: None,
) -> Connect:
    """Return how to open a Kubernetes cluster; the parameters are those of ``windlass k8s autoscale``.

    With a ``lease``, opening it waits until this process holds the Lease of the autoscalers of the namespace, and
    ``report`` is called with a line for each change of its holder.
    """

    @contextmanager
    def connect(sleep: Callable[[float], None]) -> Iterator[ElasticSystem]:
        from windlass.engines.kubernetes.lease import leaders_server
        from windlass.engines.kubernetes.server import ApiServer
        from windlass.engines.kubernetes.system import KubernetesScale

        server = ApiServer(config, context)
        with leaders_server(
            server, namespace, "windlass-autoscaler", lease, notify=report, sleep=sleep
        ) as leads:
            yield KubernetesScale(leads, types, namespace=namespace, label=label)

    return connect


def ray(types: tuple[InstanceType, ...], address: str) -> Connect:
    """Return how to open a Ray cluster; opening it raises InputError if Ray is not installed."""

    def connect(sleep: Callable[[float], None]) -> AbstractContextManager[ElasticSystem]:
        try:
            # Opening it imports Ray, too.
            import ray.autoscaler.v2.sdk  # noqa: F401

            from windlass.engines.ray.scale import connected
        except ModuleNotFoundError as error:
            raise InputError("Ray is not installed; run: pip install 'windlass[ray]'") from error
        except ImportError as error:
            raise InputError(f"Ray cannot be imported: {error}") from error
        return connected(address, types)

    return connect
