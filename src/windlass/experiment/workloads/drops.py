"""Temporary losses of sites' slots and links."""

from __future__ import annotations

import numpy as np

from windlass.model.fleet import Fleet
from windlass.model.timetable import SiteTimetable


def draw_drops(
    fleet: Fleet, drop: float, sites: int, every: float, until: float, rng: np.random.Generator
) -> SiteTimetable:
    """Return a timetable of drops: at intervals, other sites lose a share of slots and links until the next time.

    Parameters
    ----------
    fleet
        The sites.
    drop
        The lost share, 0 to 1.
    sites
        Number of sites that drop at a time.
    every, until
        Time between changes, and end of the changes, s.
    rng
        The random generator.

    Examples
    --------
    >>> fleet = Fleet.of(slots=[10, 10], up=[1.0, 1.0], down=[1.0, 1.0])
    >>> table = draw_drops(fleet, 0.5, 1, 10.0, 25.0, np.random.default_rng(1))
    >>> table.time.tolist(), table.slots.tolist()
    ([10.0, 20.0, 20.0], [5, 10, 5])
    """
    rows: list[tuple[float, int, int, float, float]] = []
    low: list[int] = []
    for time in np.arange(every, until, every):
        for site in low:
            rows.append(
                (float(time), site, int(fleet.slots[site]), float(fleet.up[site]), float(fleet.down[site]))
            )
        low = rng.choice(len(fleet), min(sites, len(fleet)), replace=False).tolist()
        keep = 1.0 - drop
        for site in low:
            slots = round(float(fleet.slots[site]) * keep)
            rows.append(
                (float(time), site, slots, float(fleet.up[site] * keep), float(fleet.down[site] * keep))
            )
    if not rows:
        return SiteTimetable.none()
    columns = list(zip(*rows, strict=True))
    return SiteTimetable(
        np.array(columns[0]),
        np.array(columns[1], dtype=np.int64),
        np.array(columns[2], dtype=np.int64),
        np.array(columns[3]),
        np.array(columns[4]),
    )
