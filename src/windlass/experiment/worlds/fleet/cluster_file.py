"""The cluster file, which scenarios and ``windlass place`` read."""

from __future__ import annotations

import numpy as np
import yaml

from windlass.model.fleet import Fleet


def cluster_yaml(fleet: Fleet) -> str:
    """Format sites as a cluster file.

    Parameters
    ----------
    fleet
        The sites, with their links and prices.

    Examples
    --------
    >>> from windlass.model.fleet import Fleet
    >>> print(cluster_yaml(Fleet.of([4], [1e9], [2e9])).splitlines()[1])
    - {name: site-1, slots: 4, up: 1000000000.0, down: 2000000000.0}
    """
    sites = [
        {"name": name, "slots": int(fleet.slots[x]), "up": float(fleet.up[x]), "down": float(fleet.down[x])}
        for x, name in enumerate(fleet.names)
    ]
    tree: dict[str, object] = {"sites": sites}
    if np.isfinite(fleet.pair).any():
        # A site's limit to itself is infinite and never read; YAML has no portable infinity.
        tree["pair"] = np.where(np.isfinite(fleet.pair), fleet.pair, 0.0).tolist()
    if fleet.price.any():
        tree["usd_per_gb"] = (fleet.price * 1e9).round(9).tolist()
    return yaml.safe_dump(tree, sort_keys=False, default_flow_style=None, width=110)
