"""The sites of a finished run with their use, and the data that moved between them."""

from __future__ import annotations

import numpy as np

from windlass.results import SiteFlow, SiteMap, SiteUse
from windlass.sim.fleet import FleetRun


def site_map(done: FleetRun) -> SiteMap | None:
    """Return the sites with the share of their slots in use, and what each pair sent; None without links.

    Parameters
    ----------
    done
        A run in which all jobs have ended.

    Examples
    --------
    >>> from windlass.model.fleet import Fleet, FleetCase, fixed_table
    >>> from windlass.order.fleet.policies.swag import Swag
    >>> from windlass.sim.fleet import run_ordered
    >>> case = FleetCase(Fleet.of([2, 1]), fixed_table([0, 1], [[2, 0], [1, 1]], [1.0, 3.0, 5.0, 7.0]))
    >>> site_map(run_ordered(case, Swag())) is None
    True
    """
    fleet = done.fleet
    if not fleet.linked:
        return None
    span = float(done.end.max() - done.jobs.submit.min())
    ran = done.site >= 0
    held = np.bincount(done.site[ran], (done.computed - done.begun)[ran], len(fleet.slots))
    used = np.divide(held, fleet.slots * span, out=np.zeros(len(held)), where=fleet.slots * span > 0)
    sites = tuple(
        SiteUse(name, float(slots), float(share))
        for name, slots, share in zip(fleet.names, fleet.slots.tolist(), used.tolist(), strict=True)
    )
    flows = tuple(
        SiteFlow("jobs", fleet.names[source], fleet.names[target], float(done.carried[source, target]))
        for source, target in np.argwhere(done.carried > 0.0).tolist()
        if source != target
    )
    return SiteMap(sites, flows)
