"""The policies of a run, each made for the load and the site for which it decides."""

from __future__ import annotations

from typing import Any

from windlass.dispatch import DispatchPolicy
from windlass.experiment.dispatching import make_policy
from windlass.experiment.workloads.streams import RandomStreams
from windlass.experiment.worlds.admission.simulation import admission_policy
from windlass.experiment.worlds.cluster.sites import ClusterSiteSpec
from windlass.experiment.worlds.policy import PolicySpec
from windlass.policy.registry import Registry
from windlass.sim.telemetry.site_policy import AdmitSitePolicy


def make(spec: PolicySpec, registry: Registry, streams: RandomStreams, name: str) -> Any:
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
    spec: PolicySpec, site: ClusterSiteSpec, guaranteed: float, streams: RandomStreams, name: str
) -> DispatchPolicy:
    """Create a dispatch policy for the nodes and possible instances of a site.

    Parameters
    ----------
    spec, site, guaranteed
        The policy, the site, and the rate on which it may count, work/s.
    streams, name
        As in :func:`make`.
    """
    rng = streams.stream(f"dispatch.{name}")
    policy: DispatchPolicy = make_policy(spec.name, site.speeds(), rng, guaranteed, **spec.parameters)
    return policy


def make_admit(spec: PolicySpec, nodes: int, dim: int, streams: RandomStreams, name: str) -> AdmitSitePolicy:
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
    return admission_policy(spec, nodes, dim, lambda node: streams.stream(f"admit.{name}", node))
