"""The cores that streaming queries lack in a cluster, for an autoscaler."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.plan.view import TOLERANCE, QueryOptions
from windlass.sim.demand import CoreDemand

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


def lacking_cores(
    options: Sequence[QueryOptions],
    choice: _Ints,
    arrive: _Floats,
    resource: int,
    wanted: float,
    capacity: float,
) -> CoreDemand:
    """Return the whole cores that queries lack in a cluster.

    Running queries lack what they would use beyond the capacity. A query without a configuration lacks the least number
    of cores with which one of its configurations uses the cluster, as far as these are not idle. While a planner finds
    configurations that fit, queries lack nothing, although others might be more accurate.

    Parameters
    ----------
    options
        The queries that are present, and that the planner has seen.
    choice, arrive
        (n,) current configuration of each, −1 for none, and its arrival, s.
    resource
        The cluster's cores among the resources.
    wanted, capacity
        Cores that running queries would use, and those that they may use.

    Examples
    --------
    >>> query = QueryOptions(0, "cars", np.array([0.5, 0.9]), np.array([[2.5, 0.0, 0.0], [4.0, 0.0, 0.0]]))
    >>> lacking_cores([query], np.array([-1]), np.array([7.0]), 0, wanted=0.0, capacity=1.0).cores.tolist()
    [2.0]
    >>> lacking_cores([query], np.array([1]), np.array([7.0]), 0, wanted=4.0, capacity=1.5).cores.tolist()
    [3.0]
    """
    cores, since = list[float](), list[float]()
    short = wanted - capacity
    if short > TOLERANCE * max(capacity, 1.0):
        cores.append(float(np.ceil(short)))
        since.append(float(arrive[choice >= 0].max(initial=-np.inf)))
    idle = max(-short, 0.0)
    for row in np.flatnonzero(choice < 0).tolist():
        used = options[row].demand[:, resource]
        least = float(used[used > 0.0].min(initial=np.inf))
        if np.isinf(least):
            continue
        more = least - idle
        idle = max(idle - least, 0.0)
        if more > TOLERANCE:
            cores.append(float(np.ceil(more)))
            since.append(float(arrive[row]))
    return CoreDemand(np.array(cores), np.array(since), np.full(len(cores), np.inf))
