"""``windlass cluster``: cluster files from measurements."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from windlass.cli.output import note
from windlass.experiment.worlds.fleet.cluster_file import cluster_yaml
from windlass.experiment.worlds.fleet.sites import MeasuredSites, measured_fleet
from windlass.io import check_file, write_text
from windlass.model import InputError

#: The file of prices that is read if it lies next to the measurements.
_PRICES = "egress_cost_usd_per_gb.csv"


def from_wan_command(
    file: Path, regions: str, out: Path, *, slots: str, machines: float, prices: Path | None
) -> None:
    """Read measured throughput between regions and write a cluster file."""
    check_file("--out", out, (file, *(() if prices is None else (prices,))), b"sites:")
    names = tuple(region.strip() for region in regions.split(",") if region.strip())
    found = file.parent / _PRICES
    if prices is None and found.exists():
        prices = found
    if not 0 < machines < np.inf:
        raise InputError(f"--machines is {machines}, expected more than 0")
    spec = MeasuredSites(
        throughput=file, prices=prices, regions=names, slots=_numbers(slots), machines=machines
    )
    fleet = measured_fleet(spec)
    write_text(cluster_yaml(fleet), out)
    note(f"{len(fleet)} sites are in {out}")


def _numbers(text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    for part in parts:
        if not part.isdecimal():
            raise InputError(f"--slots: {part!r} is not a whole number of 0 or more")
        if len(part) > 15:
            raise InputError(f"--slots: {part[:40]} is too large, expected at most 15 digits")
    return tuple(int(part) for part in parts)
