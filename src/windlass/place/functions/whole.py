"""Conversion of plans into whole tasks: :func:`whole_map` and :func:`whole_reduce`."""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.model import InputError
from windlass.place.functions.stage import MapPlan, ReducePlan
from windlass.place.lib.whole import move_least, whole

_Ints = NDArray[np.int64]
_ints, _floats = types.int64[::1], types.float64[::1]
_WHOLE = Kernel(whole.py_func, types.void(_floats, types.int64, _ints))
_MOVE = Kernel(move_least.py_func, types.void(_ints, _ints, _floats, types.int64[:, ::1]))


def whole_map(plan: MapPlan, here: object, up: object) -> _Ints:
    """Convert a map plan into whole tasks.

    Parameters
    ----------
    plan
        The result of :func:`windlass.place.map_stage`.
    here
        (n,) whole tasks by the site of their input.
    up
        (n,) uplinks, bytes/s; sources with the narrowest uplink are assigned first.

    Returns
    -------
    (n, n) int64: row sums are ``here``, and each column sum differs from its share by less than one task.

    Raises
    ------
    InputError
        Shapes differ, or a count is negative.

    Examples
    --------
    >>> from windlass.place import map_stage
    >>> sites = [40, 10, 20], [5e9, 1e9, 2e9], [5e9, 1e9, 5e9]
    >>> whole_map(map_stage([20e9, 30e9, 50e9], *sites, tasks=1000, task_s=2), [200, 300, 500], sites[1]).tolist()
    [[200, 0, 0], [157, 143, 0], [214, 0, 286]]
    """
    counts, links = np.ascontiguousarray(here, np.int64), np.ascontiguousarray(up, np.float64)
    n = len(plan.flow)
    for name, values in (("here", counts), ("up", links)):
        if values.shape != (n,):
            raise InputError(f"{name} has shape {values.shape}, expected ({n},) as the plan has")
        if not (values >= 0).all():
            raise InputError(f"{name} has {values[~(values >= 0)][0]}, expected numbers of 0 or more")
    wanted, flow = np.empty(n, np.int64), np.empty((n, n), np.int64)
    _WHOLE.ready()(plan.share, int(counts.sum()), wanted)
    _MOVE.ready()(counts, wanted, links, flow)
    return flow


def whole_flow(plan: MapPlan, here: object) -> _Ints:
    """Convert a map plan into whole tasks by its own flow, source by source, so that limits of pairs of sites hold.

    Parameters
    ----------
    plan, here
        As in :func:`whole_map`, of the same shape.

    Returns
    -------
    (n, n) int64: row sums are ``here``; each number differs from the plan's by less than one.

    Examples
    --------
    >>> plan = MapPlan(np.array([[0.25, 0.25], [0.0, 0.5]]), 1.0, 1.0)
    >>> whole_flow(plan, [3, 3]).tolist()
    [[2, 1], [0, 3]]
    """
    counts = np.ascontiguousarray(here, np.int64)
    flow = np.empty((len(counts), len(counts)), np.int64)
    for x, tasks in enumerate(counts.tolist()):
        _WHOLE.ready()(np.ascontiguousarray(plan.flow[x]), tasks, flow[x])
    return flow


def whole_reduce(plan: ReducePlan, tasks: int) -> _Ints:
    """Convert a reduce plan into (n,) whole tasks with sum ``tasks``, each less than one from its share.

    Examples
    --------
    >>> from windlass.place import reduce_stage
    >>> sites = [40, 10, 20], [5e9, 1e9, 2e9], [5e9, 1e9, 5e9]
    >>> whole_reduce(reduce_stage([10e9, 15e9, 25e9], *sites, tasks=500, task_s=1), 500).tolist()
    [286, 71, 143]
    """
    if tasks < 0:
        raise InputError(f"tasks is {tasks}, expected 0 or more")
    counts = np.empty(len(plan.share), np.int64)
    _WHOLE.ready()(plan.share, tasks, counts)
    return counts
