"""Instances of a scenario, and their interruptions by the provider."""

from __future__ import annotations

import numpy as np

from windlass.experiment.worlds.elastic.spec import ElasticClusterSpec, SpotSpec
from windlass.io.traces.spot import read_spot
from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.model.vectors import VectorJobs
from windlass.sim.instances.fleet import InstanceFleet, Interruptions

_DAY = 86_400.0
#: The trace is repeated until the longest job and this time have passed after the last submission, s.
_AFTER = 30.0 * _DAY


def instance_fleet(cluster: ElasticClusterSpec, jobs: VectorJobs) -> InstanceFleet:
    """Return the instance types and the provider's interruptions.

    Raises
    ------
    InputError
        The trace cannot be read, or its instance type does not exist.

    Examples
    --------
    >>> cluster = ElasticClusterSpec.model_validate({"types": [{"name": "s", "cores": 4}]})
    >>> instance_fleet(cluster, VectorJobs.of(submit=[0], run=[1], cores=1)).idle
    600.0
    """
    types, spot = cluster.kinds(), cluster.spot
    notice = 0.0 if spot is None else np.inf if spot.notice is None else spot.notice
    return InstanceFleet(
        types,
        cluster.idle,
        cluster.launch_spread,
        cluster.boot_failure,
        notice,
        cluster.fit == "best",
        Interruptions.none() if spot is None else _interruptions(spot, types, jobs),
    )


def _interruptions(spot: SpotSpec, types: tuple[InstanceType, ...], jobs: VectorJobs) -> Interruptions:
    names = [kind.name for kind in types]
    if spot.type not in names:
        raise InputError(f"cluster.spot.type is {spot.type!r}, expected one of {', '.join(names)}")
    kind, trace = names.index(spot.type), read_spot(spot.trace)
    lasts = float(jobs.submit[-1] - jobs.submit[0] + jobs.run.max()) + _AFTER
    times = max(1, int(np.ceil(lasts / trace.seconds())))
    number = np.tile(trace.number, times)
    changed = np.flatnonzero(np.diff(number, prepend=-1))
    limit = np.minimum(number[changed] * spot.each, types[kind].most)
    # After the trace, all instances are available again, so that no job waits forever.
    time = np.append(changed * trace.gap, len(number) * trace.gap) + float(jobs.submit[0])
    return Interruptions(time, np.full(len(time), kind), np.append(limit, types[kind].most))
