"""The clusters of a video scenario, and changes of their cores and links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from windlass.experiment.workloads.queries import three_tiers
from windlass.experiment.worlds.video.spec import ChangeSpec, LinkDropsSpec, VideoClusterSpec
from windlass.model import InputError
from windlass.model.queries import Cluster, Hierarchy
from windlass.model.timetable import SiteTimetable
from windlass.plan.files import read_hierarchy

#: Units of the ledger in one core, as components use fractions of a core.
UNITS = 1000


def hierarchy_of(spec: VideoClusterSpec) -> Hierarchy:
    """Return the tiers of a scenario or its cluster file.

    Raises
    ------
    InputError
        The file cannot be read.

    Examples
    --------
    >>> [cluster.name for cluster in hierarchy_of(VideoClusterSpec(cameras=1)).clusters]
    ['camera-1', 'private', 'cloud']
    """
    if spec.file is not None:
        return read_hierarchy(spec.file)
    return three_tiers(**spec.model_dump(exclude={"file"}))


def rows_of(hierarchy: Hierarchy) -> list[int]:
    """Return the units of the ledger of each cluster."""
    return [int(cluster.cores * UNITS) for cluster in hierarchy.clusters]


def timetable_of(
    hierarchy: Hierarchy,
    changes: Sequence[ChangeSpec],
    drops: LinkDropsSpec | None,
    until: float,
    rng: np.random.Generator,
    units: int = UNITS,
) -> SiteTimetable:
    """Return the times and values of all changes: those in the scenario, and link drops on top of them.

    Parameters
    ----------
    hierarchy
        The clusters at the start.
    changes, drops
        The scenario's changes and link drops.
    until
        End of the last query, s.
    rng
        The random generator of drops.
    units
        Units of the ledger in one core.

    Raises
    ------
    InputError
        A cluster does not exist, or would have more cores than at the start.

    Examples
    --------
    >>> tiers = three_tiers(cameras=1)
    >>> change = ChangeSpec(at=60, cluster="private", cores=4)
    >>> table = timetable_of(tiers, [change], None, 100.0, np.random.default_rng(1))
    >>> table.site.tolist(), table.slots.tolist(), table.up.tolist()
    ([1], [4000], [625000.0])
    """
    clusters, events = list(hierarchy.clusters), _drawn(hierarchy, drops, until, rng)
    events += [_listed(place, change, hierarchy.clusters) for place, change in enumerate(changes)]
    left = [1.0] * len(clusters)
    rows: list[tuple[float, int, int, float, float]] = []
    for event in sorted(events, key=lambda event: event.at):
        site, change = event.site, event.change
        if change is None:
            left[site] = event.left
        else:
            given = {name: getattr(change, name) for name in ("cores", "up", "down")}
            clusters[site] = replace(
                clusters[site], **{name: value for name, value in given.items() if value is not None}
            )
        now = clusters[site]
        # A dropped unlimited link carries nothing, where the product would be NaN.
        up = now.up * left[site] if left[site] > 0.0 else 0.0
        rows.append((event.at, site, int(now.cores * units), up, now.down))
    if not rows:
        return SiteTimetable.none()
    time, sites, slots, ups, downs = zip(*rows, strict=True)
    return SiteTimetable(
        np.array(time, np.float64),
        np.array(sites, np.int64),
        np.array(slots, np.int64),
        np.array(ups, np.float64),
        np.array(downs, np.float64),
    )


@dataclass(frozen=True, slots=True)
class _Event:
    """A listed change of a cluster's cores and links, or a drop of its uplink to a share, or the end of a drop."""

    at: float
    site: int
    change: ChangeSpec | None = None
    left: float = 1.0


def _listed(place: int, change: ChangeSpec, clusters: Sequence[Cluster]) -> _Event:
    names = [cluster.name for cluster in clusters]
    if change.cluster not in names:
        raise InputError(f"changes.{place}.cluster is {change.cluster!r}, expected one of {', '.join(names)}")
    site = names.index(change.cluster)
    if change.cores is not None and change.cores > clusters[site].cores:
        raise InputError(
            f"changes.{place}.cores is {change.cores:g}, "
            f"expected at most the {clusters[site].cores:g} of {change.cluster}"
        )
    return _Event(change.at, site, change)


def _drawn(
    hierarchy: Hierarchy, drops: LinkDropsSpec | None, until: float, rng: np.random.Generator
) -> list[_Event]:
    found: list[_Event] = []
    if drops is None:
        return found
    for site, cluster in enumerate(hierarchy.clusters):
        if cluster.parent is None:
            continue
        at = float(rng.exponential(drops.every))
        while at < until:
            back = at + float(rng.exponential(drops.last))
            found += [_Event(at, site, left=drops.left), _Event(back, site)]
            at = back + float(rng.exponential(drops.every))
    return found
