"""``windlass cluster``: cluster files from measurements."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import yaml

from windlass.cli.terminal import terminal
from windlass.experiment.worlds.fleet.sites import MeasuredSites, measured_fleet
from windlass.io import check_file, write_text
from windlass.model import InputError
from windlass.model.fleet import Fleet

_PRICES = "egress_cost_usd_per_gb.csv"


def from_wan_command(
    file: Path, regions: str, out: Path, *, slots: str, machines: float, prices: Path | None
) -> None:
    """Read the matrix, write the sites."""
    check_file("--out", out, (file, *(() if prices is None else (prices,))), b"sites:")
    names = tuple(region.strip() for region in regions.split(",") if region.strip())
    beside = file.parent / _PRICES
    if prices is None and beside.exists():
        prices = beside
    if not 0 < machines < np.inf:
        raise InputError(f"--machines is {machines}, expected more than 0")
    spec = MeasuredSites(
        throughput=file, prices=prices, regions=names, slots=_numbers(slots), machines=machines
    )
    fleet = measured_fleet(spec)
    write_text(cluster_yaml(fleet), out)
    terminal(stderr=True, soft_wrap=True).print(f"{len(fleet)} sites are in {out}")


def _numbers(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not part.isdecimal():
            raise InputError(f"--slots: {part!r} is not a whole number of 0 or more")
    return tuple(int(part) for part in parts)


def cluster_yaml(fleet: Fleet) -> str:
    """The sites as a cluster file.

    >>> print(cluster_yaml(Fleet.of([4], [1e9], [2e9])).splitlines()[1])
    - {name: site-1, slots: 4, up: 1000000000.0, down: 2000000000.0}
    """
    sites = [
        {"name": name, "slots": int(fleet.slots[x]), "up": float(fleet.up[x]), "down": float(fleet.down[x])}
        for x, name in enumerate(fleet.names)
    ]
    tree: dict[str, object] = {"sites": sites}
    if np.isfinite(fleet.pair).any():
        # A site does not limit itself; YAML has no good infinity, and no read ever asks for its own.
        tree["pair"] = np.where(np.isfinite(fleet.pair), fleet.pair, 0.0).tolist()
    if fleet.price.any():
        tree["usd_per_gb"] = (fleet.price * 1e9).round(9).tolist()
    return yaml.safe_dump(tree, sort_keys=False, default_flow_style=None, width=110)
