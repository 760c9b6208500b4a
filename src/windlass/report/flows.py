"""What moves between sites, as means over the seeds of a variant, and as the rows of a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from windlass.report.job_columns import VariantLane
from windlass.report.units import Unit
from windlass.results import SiteFlow, SiteMap, SiteUse

#: A load, and the names of two sites.
_Way = tuple[str, str, str]
_BYTES = tuple(
    Unit(symbol, 10.0**-power)
    for symbol, power in (("B", 0), ("kB", 3), ("MB", 6), ("GB", 9), ("TB", 12), ("PB", 15))
)


@dataclass(frozen=True, slots=True)
class FlowRow:
    """A row of the table of flows: a load, two sites, a unit, and the mean amount of each variant in it.

    ``tasks``: whether amounts are numbers of tasks instead of data.
    """

    load: str
    source: str
    target: str
    unit: str
    amounts: tuple[float, ...]
    tasks: bool


def mean_sites(maps: Sequence[SiteMap]) -> tuple[SiteUse, ...]:
    """Return the sites with the means of their cores, and of the shares in use, over some runs.

    Parameters
    ----------
    maps
        The runs of a variant, one for each seed.

    Examples
    --------
    >>> one, other = (SiteMap((SiteUse("a", cores, 0.5),), ()) for cores in (8.0, 10.0))
    >>> mean_sites([one, other])
    (SiteUse(name='a', cores=9.0, used_share=0.5),)
    """
    names = dict.fromkeys(site.name for each in maps for site in each.sites)
    found = []
    for name in names:
        own = [site for each in maps for site in each.sites if site.name == name]
        cores, used = ([getattr(site, field) for site in own] for field in ("cores", "used_share"))
        found.append(SiteUse(name, math.fsum(cores) / len(own), math.fsum(used) / len(own)))
    return tuple(found)


def mean_amounts(maps: Sequence[SiteMap], *, tasks: bool) -> dict[_Way, float]:
    """Return for each load and pair of sites the mean of what moved over some runs: bytes, or tasks.

    Examples
    --------
    >>> from windlass.results import SiteFlow
    >>> runs = [SiteMap((), (SiteFlow("etl", "a", "b", 6.0),)), SiteMap((), ())]
    >>> mean_amounts(runs, tasks=False), mean_amounts(runs, tasks=True)
    ({('etl', 'a', 'b'): 3.0}, {})
    """
    found: dict[_Way, float] = {}
    for each in maps:
        for flow in each.flows:
            amount = flow.tasks if tasks else flow.sent_bytes
            if amount > 0:
                way = flow.load, flow.source, flow.target
                found[way] = found.get(way, 0.0) + amount / len(maps)
    return found


def byte_unit(amounts: Iterable[float]) -> Unit:
    """Return the largest unit in which the largest of some amounts of data, bytes, is at least 1.

    >>> byte_unit([2e6, 3e9]).symbol, byte_unit([]).symbol
    ('GB', 'B')
    """
    most = max(amounts, default=0.0)
    return next((unit for unit in reversed(_BYTES) if most * unit.factor >= 1.0), _BYTES[0])


def with_few_sites(lanes: Sequence[VariantLane], most: int) -> tuple[VariantLane, ...]:
    """Return the variants with maps of at most ``most`` sites: the smaller ones are merged into one.

    Parameters
    ----------
    lanes
        The variants, each with a map in all outcomes. All keep the same sites, those with the most cores on average.
    most
        Maximum number of sites, with the merged one.
    """
    cores: dict[str, float] = {}
    for each in (each for lane in lanes for each in maps_of(lane)):
        for site in each.sites:
            cores[site.name] = cores.get(site.name, 0.0) + site.cores
    if len(cores) <= most:
        return tuple(lanes)
    kept = set(sorted(cores, key=lambda name: (-cores[name], name))[: most - 1])
    rest = f"{len(cores) - len(kept)} smaller sites"
    return tuple(
        replace(
            lane,
            outcomes=tuple(
                each if each.site_map is None else replace(each, site_map=_merged(each.site_map, kept, rest))
                for each in lane.outcomes
            ),
        )
        for lane in lanes
    )


def _merged(found: SiteMap, kept: set[str], rest: str) -> SiteMap:
    """Return a map in which all sites but some are one."""
    own = [site for site in found.sites if site.name in kept]
    others = [site for site in found.sites if site.name not in kept]
    cores = math.fsum(site.cores for site in others)
    held = math.fsum(site.cores * site.used_share for site in others)
    sums: dict[_Way, tuple[float, int]] = {}
    for flow in found.flows:
        source, target = (name if name in kept else rest for name in (flow.source, flow.target))
        sent, tasks = sums.get((flow.load, source, target), (0.0, 0))
        sums[flow.load, source, target] = sent + flow.sent_bytes, tasks + flow.tasks
    flows = tuple(SiteFlow(*way, *amounts) for way, amounts in sums.items())
    return SiteMap((*own, SiteUse(rest, cores, held / cores if cores else 0.0)), flows)


def flow_rows(lanes: Sequence[VariantLane]) -> tuple[FlowRow, ...]:
    """Return the rows of the table of flows; each load has a unit of its own.

    Parameters
    ----------
    lanes
        The variants, each with a map in all outcomes.
    """
    rows = []
    for tasks in (False, True):
        by_lane = [mean_amounts(maps_of(lane), tasks=tasks) for lane in lanes]
        # In order of the loads' names, so that the rows do not depend on which variant has a flow.
        for load in sorted({way[0] for each in by_lane for way in each}):
            ways = sorted({way for each in by_lane for way in each if way[0] == load})
            unit = (
                Unit("tasks", 1.0)
                if tasks
                else byte_unit(each.get(way, 0.0) for each in by_lane for way in ways)
            )
            rows += [
                FlowRow(*way, unit.symbol, tuple(each.get(way, 0.0) * unit.factor for each in by_lane), tasks)
                for way in ways
            ]
    return tuple(rows)


def maps_of(lane: VariantLane) -> list[SiteMap]:
    """Return the maps of a variant's outcomes."""
    return [outcome.site_map for outcome in lane.outcomes if outcome.site_map is not None]
