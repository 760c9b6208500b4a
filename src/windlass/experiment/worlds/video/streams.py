"""The queries of a video scenario, read or generated, and when each starts and ends."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from windlass.experiment.workloads.queries import drawn_queries
from windlass.experiment.worlds.video.spec import DrawnQueriesSpec, VideoWorkloadSpec
from windlass.model import InputError
from windlass.model.queries import Component, Hierarchy, Query, QueryPlan
from windlass.plan.files import read_queries
from windlass.plan.profile.table import stream_plans
from windlass.sim.queries.setup import Stays


@dataclass(frozen=True, slots=True, eq=False)
class QuerySchedule:
    """Queries, and when each starts and ends."""

    queries: tuple[Query, ...]
    stays: Stays


def streams_of(spec: VideoWorkloadSpec, hierarchy: Hierarchy, seed: int) -> QuerySchedule:
    """Generate the times of queries, and generate or read their plans.

    Parameters
    ----------
    spec
        The scenario's workload.
    hierarchy
        The clusters; streams originate in those that are no cluster's parent.
    seed
        The random seed.

    Raises
    ------
    InputError
        A file cannot be read, a kind is unknown, or there are no queries.

    Examples
    --------
    >>> from windlass.experiment.workloads.queries import three_tiers
    >>> spec = VideoWorkloadSpec.model_validate({"begin": 3, "per_hour": 0, "drawn": {"kinds": ["counter"]}})
    >>> found = streams_of(spec, three_tiers(cameras=2), seed=1)
    >>> [query.camera for query in found.queries], found.stays.arrive.tolist()
    (['camera-1', 'camera-2', 'camera-1'], [0.0, 0.0, 0.0])
    """
    stays = _stays(spec, np.random.default_rng([seed, 0]))
    if not len(stays):
        raise InputError("workload: there are no queries, raise begin or per_hour")
    parents = {cluster.parent for cluster in hierarchy.clusters}
    cameras = [cluster.name for cluster in hierarchy.clusters if cluster.name not in parents]
    if spec.file is not None:
        known = read_queries(spec.file)
        for query in known:
            hierarchy.path(query.camera)
        turns = (known[at % len(known)] for at in range(len(stays)))
        queries = tuple(replace(query, name=f"{query.name}-{at + 1}") for at, query in enumerate(turns))
    elif plans := _given(spec):
        source = spec.source or 0.0
        queries = tuple(
            Query(f"query-{at + 1}", cameras[at % len(cameras)], plans, source) for at in range(len(stays))
        )
    else:
        drawn = spec.drawn or DrawnQueriesSpec()
        queries = drawn_queries(
            np.random.default_rng([seed, 1]), cameras, len(stays), drawn.kinds, drawn.spread
        )
    return QuerySchedule(queries, stays)


def _given(spec: VideoWorkloadSpec) -> tuple[QueryPlan, ...]:
    """Return the plans that all queries share; empty if plans are generated."""
    if spec.profile is not None:
        return stream_plans(spec.profile)
    return tuple(
        QueryPlan(plan.accuracy, tuple(Component(**dict(each)) for each in plan.components))
        for plan in spec.plans or ()
    )


def _stays(spec: VideoWorkloadSpec, rng: np.random.Generator) -> Stays:
    """Draw starts and ends: initial queries and a Poisson process; the last queries end with the run."""
    later = np.sort(rng.uniform(0.0, spec.seconds, rng.poisson(spec.per_hour * spec.seconds / 3600.0)))
    arrive = np.concatenate((np.zeros(spec.begin), later))
    return Stays(arrive, np.minimum(arrive + rng.exponential(spec.last, len(arrive)), spec.seconds))
