"""The policies of a run, each made for the load and the site for which it decides."""

from __future__ import annotations

from typing import Any

from windlass.admit import POLICIES as ADMIT
from windlass.admit import AdmitsSite
from windlass.admit.context import AdmitContext
from windlass.dispatch import POLICIES as DISPATCH
from windlass.dispatch import DispatchPolicy
from windlass.dispatch.context import DispatchContext
from windlass.experiment.workloads.streams import Streams
from windlass.experiment.worlds.cluster.sites import ClusterSiteSpec
from windlass.experiment.worlds.policy import PolicySpec
from windlass.policy.registry import Registry, capability
from windlass.sim.telemetry.site_policy import AdmitSitePolicy


def make(spec: PolicySpec, registry: Registry, streams: Streams, name: str) -> Any:
    """Create a policy whose random stream has the name of its decision and of ``name``, such as ``batch@iowa``.

    Parameters
    ----------
    spec, registry
        The policy's name and parameters, and its decision.
    streams, name
        The random streams, and the load with its site.

    Raises
    ------
    InputError
        The policy or a parameter is unknown.
    """
    return spec.make(registry, streams.stream(f"{registry.key}.{name}"))


def make_dispatch(
    spec: PolicySpec, site: ClusterSiteSpec, floor: float, streams: Streams, name: str
) -> DispatchPolicy:
    """Create a dispatch policy for the nodes and possible instances of a site.

    The guaranteed rate is what the nodes have while other loads hold all their cores: with a higher rate, a policy with
    benchmark tasks would fill busy nodes with them.

    Parameters
    ----------
    spec, site, floor
        The policy, the site, and the share of a node's speed that tasks keep.
    streams, name
        As in :func:`make`.
    """
    context = DispatchContext.of(site.speeds(), streams.stream(f"dispatch.{name}"), floor * site.capacity)
    policy: DispatchPolicy = DISPATCH.make(spec.name, context, **spec.parameters)
    return policy


def make_admit(spec: PolicySpec, nodes: int, dim: int, streams: Streams, name: str) -> AdmitSitePolicy:
    """Create the admission policies of all nodes of a site: one for the site, if it decides so, or one for each node.

    Parameters
    ----------
    spec
        The policy.
    nodes, dim
        Numbers of nodes and of metrics.
    streams, name
        As in :func:`make`.
    """

    def created(node: int, nodes: int | None) -> Any:
        context = AdmitContext(streams.stream(f"admit.{name}.{node}"), dim, nodes=nodes)
        return ADMIT.make(spec.name, context, **spec.parameters)

    if capability(ADMIT.find(spec.name), AdmitsSite) is not None:
        return AdmitSitePolicy([created(0, nodes)])
    return AdmitSitePolicy([created(node, None) for node in range(nodes)])
