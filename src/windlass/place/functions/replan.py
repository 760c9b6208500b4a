"""Changes of a plan at a few sites only, when resources drop."""

from __future__ import annotations

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.model import InputError
from windlass.place.lib.replan import change_few

_ints = types.int64[::1]
_CHANGE = Kernel(change_few.py_func, types.void(_ints, _ints, types.int64, _ints))


def replan(now: object, ideal: object, sites: int) -> NDArray[np.int64]:
    """Return the plan nearest to an ideal one that differs from the present one at ``sites`` sites at most.

    Parameters
    ----------
    now, ideal
        (n,) whole tasks at each site, with equal sums: the present plan, and the plan for the new conditions.
    sites
        Maximum number of sites that may change (k); fewer than two change nothing.

    Returns
    -------
    (n,) int64, with the same sum and the least √Σ (plan − ideal)².

    Raises
    ------
    InputError
        Shapes or sums differ, or a count is negative.

    Source: thesis, section 4.4.2, which searches through assignments; here the optimum is found directly.

    Examples
    --------
    >>> replan([40, 20, 20, 20], [10, 30, 32, 28], 2).tolist()
    [19, 20, 41, 20]
    >>> replan([40, 20, 20, 20], [10, 30, 32, 28], 4).tolist()
    [10, 30, 32, 28]
    """
    before, after = np.ascontiguousarray(now, np.int64), np.ascontiguousarray(ideal, np.int64)
    if before.ndim != 1 or before.shape != after.shape:
        raise InputError(f"ideal has shape {after.shape}, expected {before.shape} as now has")
    for name, values in (("now", before), ("ideal", after)):
        if (values < 0).any():
            raise InputError(f"{name}[{int(np.argmin(values))}] is {values.min()}, expected 0 or more tasks")
    if before.sum() != after.sum():
        raise InputError(f"ideal has {after.sum()} tasks, expected {before.sum()} as now has")
    changed = np.empty_like(before)
    _CHANGE.ready()(before, after, sites, changed)
    return changed
