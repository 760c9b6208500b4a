"""Validation of arrays passed by users; each error names the argument and the value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.model import InputError


def as_fleet(
    subjobs: ArrayLike, slots: ArrayLike, backlog: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return sub-jobs (n, m), slots (m,) and backlog (m,) as float64; slots are at least 1 where there is work.

    Raises
    ------
    InputError
        A value is NaN, infinite or negative, a shape is wrong, or a site without slots has work.
    """
    tasks = _numbers("subjobs", subjobs)
    if tasks.ndim != 2 or tasks.shape[1] == 0:
        raise InputError(f"subjobs has shape {tasks.shape}, expected (jobs, sites) with at least one site")
    _check_amounts("subjobs", tasks)
    sites = tasks.shape[1]
    capacity = _numbers("slots", slots)
    if capacity.ndim == 0:
        capacity = np.full(sites, capacity)
    if capacity.shape != (sites,):
        raise InputError(f"slots has shape {capacity.shape}, expected ({sites},), one number per site")
    _check_amounts("slots", capacity)
    queued = np.zeros(sites) if backlog is None else _numbers("backlog", backlog)
    if queued.shape != (sites,):
        raise InputError(f"backlog has shape {queued.shape}, expected ({sites},), one number per site")
    _check_amounts("backlog", queued)
    work = tasks.sum(axis=0) + queued
    closed = np.flatnonzero((capacity == 0) & (work > 0))
    if len(closed):
        site = int(closed[0])
        raise InputError(
            f"slots[{site}] is 0, but the site has work of {work[site]:g}: expected at least one slot"
        )
    # A site without slots and without work must not divide 0 by 0.
    return tasks, np.where(capacity == 0, 1.0, capacity), queued


def _numbers(name: str, given: Any) -> NDArray[np.float64]:
    try:
        found = np.asarray(given)
        if found.dtype.kind not in "biuf":
            raise TypeError(f"the type is {found.dtype}")
        return np.ascontiguousarray(found, dtype=np.float64).reshape(found.shape)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: cannot be read as numbers: {error}") from error


def _check_amounts(name: str, values: NDArray[np.float64]) -> None:
    bad = np.argwhere(~(np.isfinite(values) & (values >= 0)))
    if len(bad):
        where = ", ".join(str(index) for index in bad[0])
        raise InputError(
            f"{name}[{where}] is {values[tuple(bad[0])]:g}, expected a finite number of 0 or more"
        )
