"""Connections to the clusters that the autoscalers scale."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from windlass.control.scaling.engine import Connect
from windlass.engines.elastic.system import ElasticSystem
from windlass.model import InputError
from windlass.model.instances import InstanceType


def kubernetes(
    types: tuple[InstanceType, ...], config: str | None, context: str | None, namespace: str, label: str
) -> Connect:
    """Return how to open a Kubernetes cluster; the parameters are those of ``windlass k8s autoscale``."""

    @contextmanager
    def connect() -> Iterator[ElasticSystem]:
        from windlass.engines.kubernetes.server import ApiServer
        from windlass.engines.kubernetes.system import KubernetesScale

        yield KubernetesScale(ApiServer(config, context), types, namespace=namespace, label=label)

    return connect


def ray(types: tuple[InstanceType, ...], address: str) -> Connect:
    """Return how to open a Ray cluster; opening it raises InputError if Ray is not installed."""

    def connect() -> AbstractContextManager[ElasticSystem]:
        try:
            # Opening it imports Ray, too.
            import ray.autoscaler.v2.sdk  # noqa: F401

            from windlass.engines.ray.scale import connected
        except ImportError as error:
            raise InputError("Ray is not installed; run: pip install 'windlass[ray]'") from error
        return connected(address, types)

    return connect
