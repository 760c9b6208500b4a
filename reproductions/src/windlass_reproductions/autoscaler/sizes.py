"""Figure 7: with which type a series of instances should begin."""

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
from windlass_reproductions.autoscaler.demand import Held
from windlass_reproductions.autoscaler.instances import G4, M5, buckets, prices
from windlass_reproductions.reproduction import Row

_GIB = 2.0**30
_CAPTION = (
    "Types are dropped from the smallest on. The scale is the price of whole instances, over instants; 1 is that with "
    "all types. The base is the last type before it rises."
)


@dataclass(frozen=True, slots=True, eq=False)
class Sized:
    """The scales of some jobs on a series of types: the base that they have, and what is published of it."""

    what: str
    types: tuple[InstanceType, ...]
    base: Base
    paper: str | None
    note: str

    @property
    def smallest(self) -> str:
        """The name of the base instance."""
        return self.types[self.base.smallest].name

    def scales(self) -> list[float]:
        """As parts of that with all types."""
        return [float(scale) for scale in self.base.scale / self.base.scale[0]]


def sized(
    what: str,
    jobs: Held,
    types: tuple[InstanceType, ...],
    times: Sequence[float],
    paper: str | None,
    note: str,
) -> Sized:
    """The base instance of jobs, by what runs at some instants."""
    snapshots = [jobs.at(time) for time in times]
    return Sized(what, types, base_instance(snapshots, buckets(types), prices(types)), paper, note)


def all_sized(quick: bool) -> tuple[Sized, ...]:
    """All for which there are files: every six hours, ``quick`` every other day."""
    every, found = 86_400.0 * (2.0 if quick else 0.25), []
    if PHILLY not in absent():
        for cores, only in ((4.0, "g4dn.xlarge"), (8.0, "g4dn.2xlarge")):
            note = (
                f"the log has no cores; with {cores:g} and {4 * cores:g} GiB to each GPU the base can only be {only}, "
                "and confirms nothing; the paper does not say what it took, and its Table 3 has g4.xlarge"
            )
            jobs = philly_jobs(cores, 4 * cores * _GIB)
            times = np.arange(*philly_span(), every)[1:].tolist()
            found.append(sized(f"Philly, {cores:g} cores a GPU", jobs, G4, times, "g4dn.2xlarge", note))
    if OPENB not in absent():
        pods = openb_jobs()
        times, has = np.arange(*openb_span(pods), every)[1:].tolist(), pods.resources[:, 0] > 0
        for what, jobs, types in (("with", pods.of(has), G4), ("without", pods.of(~has), M5)):
            found.append(sized(f"openb, pods {what} GPUs", jobs, types, times, None, ""))
    return tuple(found)


def rows_of(found: Sequence[Sized]) -> list[Row]:
    """The base of each beside what is published."""
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
        Row("Figure 7, Fuxi: base instance", "m5.24xlarge", "not run", None, "its log is not at hand")
    )
    return rows


def pictures(found: Sequence[Sized]) -> list[Picture]:
    """The scale over the smallest type that is kept, for each series of types."""
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
