"""The sites of a fleet scenario, and temporary losses of their slots and links."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

import numpy as np
from pydantic import Field, model_validator

from windlass.experiment.workloads.sites import SiteModel, draw_sites
from windlass.experiment.worlds.spec import NotNegative, Positive, Spec
from windlass.io.traces.wan import read_wan
from windlass.model import InputError
from windlass.model.fleet import Fleet


class SiteSpec(Spec):
    """One site: slots, and up- and downlink in bytes/s; either all sites have links or none."""

    name: str
    slots: Annotated[int, Field(ge=0)]
    up: NotNegative | None = None
    down: NotNegative | None = None


class AlikeSites(Spec):
    """Identical sites without links: their number, and the slots of each."""

    sites: Annotated[int, Field(ge=1, le=10_000)] = 30
    slots: Annotated[int, Field(ge=1)] = 300


class DrawnSites(Spec):
    """Sites drawn between bounds; see :class:`windlass.experiment.workloads.sites.SiteModel`."""

    sites: Annotated[int, Field(ge=2, le=1000)] = 50
    least_slots: Annotated[int, Field(ge=1)] = 25
    most_slots: Annotated[int, Field(ge=1)] = 5000
    least_mbit: Positive = 100.0
    most_mbit: Positive = 2000.0
    slot_zipf: NotNegative | None = None
    link_zipf: NotNegative | None = None

    def model(self) -> SiteModel:
        """Return the parameters for the generator."""
        slots, mbit = (self.least_slots, self.most_slots), (self.least_mbit, self.most_mbit)
        return SiteModel(self.sites, slots, mbit, self.slot_zipf, self.link_zipf)


class MeasuredSites(Spec):
    """Cloud regions with measured throughput; files are relative to the file that names them.

    ``machines`` of a region multiply the measured throughput of one pair of machines.
    """

    throughput: Path
    prices: Path | None = None
    regions: tuple[str, ...]
    slots: tuple[int, ...]
    machines: Positive = 1.0


class FleetClusterSpec(Spec):
    """Sites: listed (``sites``, with ``pair`` and ``usd_per_gb`` for each pair), alike, drawn, or measured."""

    sites: Annotated[tuple[SiteSpec, ...], Field(min_length=1)] | None = None
    pair: tuple[tuple[float, ...], ...] | None = None
    usd_per_gb: tuple[tuple[float, ...], ...] | None = None
    alike: AlikeSites | None = None
    drawn: DrawnSites | None = None
    measured: MeasuredSites | None = None

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if sum(given is not None for given in (self.sites, self.alike, self.drawn, self.measured)) != 1:
            raise ValueError("expected one of 'sites', 'alike', 'drawn' and 'measured'")
        linked = {link is not None for site in self.sites or () for link in (site.up, site.down)}
        if len(linked) > 1:
            raise ValueError("sites: expected 'up' and 'down' at all of them, or at none")
        if linked == {False} and (self.pair or self.usd_per_gb):
            raise ValueError("pair and usd_per_gb: expected links ('up' and 'down') at the sites")
        return self

    @property
    def linked(self) -> bool:
        """Whether the sites have links: all but identical sites and those listed without.

        Examples
        --------
        >>> FleetClusterSpec(drawn=DrawnSites()).linked, FleetClusterSpec(alike=AlikeSites()).linked
        (True, False)
        """
        return self.alike is None and (self.sites is None or self.sites[0].up is not None)

    def fleet(self, rng: np.random.Generator) -> Fleet:
        """Return the sites."""
        if self.alike is not None:
            return Fleet.of(np.full(self.alike.sites, self.alike.slots))
        if self.drawn is not None:
            return draw_sites(self.drawn.model(), rng)
        if self.measured is not None:
            return measured_fleet(self.measured)
        sites = self.sites or ()
        return Fleet.of(
            [site.slots for site in sites],
            [site.up for site in sites] if self.linked else None,
            [site.down for site in sites] if self.linked else None,
            [site.name for site in sites],
            self.pair,
            None if self.usd_per_gb is None else np.array(self.usd_per_gb) / 1e9,
        )


def measured_fleet(spec: MeasuredSites) -> Fleet:
    """Return regions as sites: a region's uplink is its fastest measured path, and each pair has its own limit.

    A machine's paths share its network card, and the fastest path shows its capacity. Policies see only the up- and
    downlinks, as the thesis's programs do; the simulation also enforces the limits of pairs.
    """
    if len(spec.slots) not in (1, len(spec.regions)):
        raise InputError(
            f"slots has {len(spec.slots)} numbers for {len(spec.regions)} regions, expected one each"
        )
    matrix = read_wan(spec.throughput, spec.regions, spec.prices)
    pair = matrix.throughput * spec.machines
    slots = np.broadcast_to(np.array(spec.slots), len(spec.regions))
    up, down = pair.max(axis=1), pair.max(axis=0)
    np.fill_diagonal(pair, np.inf)
    return Fleet.of(slots, up, down, matrix.regions, pair, matrix.price)


class SiteDropsSpec(Spec):
    """At intervals of ``every`` s, other ``sites`` lose the share ``drop`` of slots and links until the next time."""

    drop: Annotated[float, Field(ge=0, lt=1)]
    sites: Annotated[int, Field(ge=1)] = 5
    every: Positive = 60.0
