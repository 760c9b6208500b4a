"""The policies of a run, each made for the load and the site for which it decides."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from windlass.admit import POLICIES as ADMIT
from windlass.admit import AdmitsSite
from windlass.admit.context import AdmitContext
from windlass.dispatch import DispatchPolicy
from windlass.experiment.dispatching import make_policy
from windlass.experiment.workloads.streams import RandomStreams
from windlass.experiment.worlds.cluster.sites import ClusterSiteSpec
from windlass.experiment.worlds.policy import PolicySpec
from windlass.policy.registry import Registry, capability
from windlass.sim.telemetry.metrics import RECORDED, MetricModel, read_model
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
        As in :func:`make`; each node has a stream of its own.
    """
    own = (streams.stream(f"admit.{name}", node) for node in range(nodes))
    if capability(ADMIT.find(spec.name), AdmitsSite) is not None:
        context = AdmitContext(next(own), dim, nodes=nodes)
        return AdmitSitePolicy([ADMIT.make(spec.name, context, **spec.parameters)])
    return AdmitSitePolicy([ADMIT.make(spec.name, AdmitContext(rng, dim), **spec.parameters) for rng in own])


@functools.lru_cache(maxsize=8)
def model_at(path: Path | None) -> MetricModel:
    """Return the model of how metrics follow the pressure on cores, in a file or the recorded one; it is read once."""
    return read_model(path or RECORDED)
