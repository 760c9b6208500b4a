"""Figure 7: the base instance, which is the smallest type that a series of instance types should have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from windlass.model.instances import InstanceType
from windlass.report.pictures import Line, Picture
from windlass.scale import Base, Embedding, base_instance
from windlass_reproductions.autoscaler.data import (
    OPENB,
    PHILLY,
    absent,
    openb_jobs,
    openb_span,
    philly_jobs,
    philly_span,
)
from windlass_reproductions.autoscaler.demand import JobDemands
from windlass_reproductions.autoscaler.instances import G4, M5, buckets, prices
from windlass_reproductions.reproduction import Row

_GIB = 2.0**30
_CAPTION = (
    "Types are removed from the smallest on. The scale is the price of whole instances, over all instants; 1 is that "
    "with all types. The base is the last type before the scale rises."
)


@dataclass(frozen=True, slots=True, eq=False)
class BaseResult:
    """The scales and the base instance of some jobs on a series of types, and the published base."""

    what: str
    types: tuple[InstanceType, ...]
    base: Base
    paper: str | None
    note: str

    @property
    def smallest(self) -> str:
        """Name of the base instance."""
        return self.types[self.base.smallest].name

    def scales(self) -> list[float]:
        """Return the scales as ratios of that with all types."""
        return [float(scale) for scale in self.base.scale / self.base.scale[0]]


def find_base(
    what: str,
    jobs: JobDemands,
    types: tuple[InstanceType, ...],
    times: Sequence[float],
    paper: str | None,
    note: str,
) -> BaseResult:
    """Find the base instance of jobs from those that run at each of ``times``."""
    snapshots = [jobs.at(time) for time in times]
    return BaseResult(what, types, base_instance(snapshots, buckets(types), prices(types)), paper, note)


def find_bases(quick: bool) -> tuple[BaseResult, ...]:
    """Find all bases whose files are available, at instants six hours apart; ``quick`` uses two days."""
    every, found = 86_400.0 * (2.0 if quick else 0.25), []
    if PHILLY not in absent():
        for cores, only in ((4.0, "g4dn.xlarge"), (8.0, "g4dn.2xlarge")):
            note = (
                f"the log has no cores; with {cores:g} and {4 * cores:g} GiB per GPU the base can only be {only}, "
                "so it confirms nothing; the paper does not state its assumption, and its Table 3 has g4.xlarge"
            )
            jobs = philly_jobs(cores, 4 * cores * _GIB)
            times = np.arange(*philly_span(), every)[1:].tolist()
            found.append(find_base(f"Philly, {cores:g} cores per GPU", jobs, G4, times, "g4dn.2xlarge", note))
    if OPENB not in absent():
        pods = openb_jobs()
        times, has = np.arange(*openb_span(pods), every)[1:].tolist(), pods.resources[:, 0] > 0
        for what, jobs, types in (("with", pods.of(has), G4), ("without", pods.of(~has), M5)):
            found.append(find_base(f"openb, pods {what} GPUs", jobs, types, times, None, ""))
    return tuple(found)


def rows_of(found: Sequence[BaseResult]) -> list[Row]:
    """Return rows that show each base with the published one."""
    rows = [
        Row(
            f"Figure 7, {each.what}: base instance",
            each.paper,
            each.smallest,
            None,
            each.note,
        )
        for each in found
    ]
    rows.append(
        Row("Figure 7, Fuxi: base instance", "m5.24xlarge", "not run", None, "its log is not available")
    )
    return rows


def pictures(found: Sequence[BaseResult]) -> list[Picture]:
    """Return the pictures of the scale by the smallest remaining type, one for each series of types."""
    drawn = []
    for family, types in (("g4", G4), ("m5", M5)):
        lines = [
            Line(each.what, range(len(each.scales())), each.scales()) for each in found if each.types == types
        ]
        if lines:
            names = tuple(types[place].name for place in Embedding(buckets(types)).order)
            title = f"Figure 7, scale without smaller types, {family.upper()}"
            drawn.append(
                Picture(
                    f"scale-{family}",
                    title,
                    "smallest type",
                    "scale",
                    tuple(lines),
                    _CAPTION,
                    categories=names,
                )
            )
    return drawn
