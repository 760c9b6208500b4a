"""Checks of what goes together in a cluster scenario: names, loads and their sites, queries, and estimates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from windlass.experiment.worlds.cluster.load import ClusterLoadSpec
from windlass.experiment.worlds.cluster.loads.cut import ALL
from windlass.experiment.worlds.cluster.sites import ClusterSiteSpec

if TYPE_CHECKING:
    from windlass.experiment.worlds.cluster.spec import ClusterSetting

#: Characters that addresses and names of random streams use.
_RESERVED: Final = "@. "
#: Kinds of load whose jobs have times of their own; the others are spread over the simulated time.
_TIMED: Final = frozenset({"rigid", "tasks", "staged", "vectors"})
_SPREAD: Final = frozenset({"queries"})
#: Kinds of load that run on nodes.
_ON_NODES: Final = frozenset({"rigid", "tasks", "neighbours"})


def check_consistency(setting: ClusterSetting) -> None:
    """Check fields that depend on each other.

    Raises
    ------
    ValueError
        Two fields contradict each other; it names both and says what to change.
    """
    _check_names(setting)
    _check_once(setting, "tasks", "short tasks")
    _check_once(setting, "vectors", "vector jobs")
    _check_once(setting, "neighbours", "neighbours")
    for name, load in setting.loads.items():
        _check_times(setting, name, load)
        _check_machines(setting, name, load)
    if math.isinf(setting.seconds) and not any(load.kind in _TIMED for load in setting.loads.values()):
        raise ValueError(f"seconds is {ALL!r}, expected a number: no load has jobs with times of their own")
    _check_estimates(setting)
    _check_queries(setting)


def _check_names(setting: ClusterSetting) -> None:
    for what, names in (("sites", setting.sites), ("loads", setting.loads)):
        for name in names:
            if not name or set(name) & set(_RESERVED):
                raise ValueError(f"{what}: {name!r} is no valid name, expected no space, '.' or '@'")
    for name, load in setting.loads.items():
        _check_sites(f"loads.{name}.at", () if load.at == "each" else load.at, setting.sites)
    _check_sites("policies.at", tuple(setting.policies.at), setting.sites)


def _check_sites(where: str, names: tuple[str, ...], sites: Mapping[str, ClusterSiteSpec]) -> None:
    for name in names:
        if name not in sites:
            raise ValueError(f"{where}: no site {name!r}, expected one of {', '.join(sites)}")


def _check_once(setting: ClusterSetting, kind: str, what: str) -> None:
    """Check that no site has two loads of a kind."""
    taken: dict[str, str] = {}
    for name, load in setting.loads.items():
        for site in setting.sites_of(load) if load.kind == kind else ():
            if site in taken:
                raise ValueError(
                    f"loads.{name}: site {site} already has the {what} of loads.{taken[site]}, expected at most one "
                    "such load a site; set 'at'"
                )
            taken[site] = name


def _check_times(setting: ClusterSetting, name: str, load: ClusterLoadSpec) -> None:
    """Check a load's fields that depend on whether the simulated time is limited."""
    if math.isinf(setting.seconds):
        if load.kind in _SPREAD:
            raise ValueError(
                f"seconds is {ALL!r}, expected a number: loads.{name} is spread over the simulated time"
            )
        return
    staged = load.staged.drawn if load.staged is not None else None
    if staged is not None and "load" in staged.model_fields_set:
        raise ValueError(
            f"loads.{name}.staged.drawn.load: the number of jobs and the seconds of the cluster give it; "
            "remove it here"
        )
    if load.vectors is not None and load.vectors.earlier > 0.0:
        raise ValueError(
            f"loads.{name}.vectors.earlier is {load.vectors.earlier:g}, expected 0: a cluster has no time "
            f"before its beginning, unless seconds is {ALL!r}"
        )


def _check_machines(setting: ClusterSetting, name: str, load: ClusterLoadSpec) -> None:
    """Check that the sites of a load have the machines on which it runs."""
    for site in setting.sites_of(load):
        if load.kind in _ON_NODES and not setting.sites[site].groups:
            raise ValueError(
                f"loads.{name}: site {site} has no nodes, on which {load.kind} loads run; add "
                f"sites.{site}.nodes, or set loads.{name}.at"
            )
        if load.kind == "vectors" and setting.sites[site].instances is None:
            raise ValueError(
                f"loads.{name}: site {site} has no instances, on which vector jobs run; add "
                f"sites.{site}.instances, or set loads.{name}.at"
            )


def _check_estimates(setting: ClusterSetting) -> None:
    """Check that sites whose jobs share or fail are ordered by requested times, where others are not defined."""
    chosen = setting.chosen()
    estimates = chosen.order.estimates
    if estimates == "requested":
        return
    with_jobs = {
        site for load in setting.loads.values() if load.rigid is not None for site in setting.sites_of(load)
    }
    for name in (site for site in setting.sites if site in with_jobs):
        if chosen.of("share", name) is not None:
            raise ValueError(
                f"policies.order.estimates is {estimates!r}, expected 'requested' at site {name}, where jobs share "
                "cores: a job that shares runs longer than estimated; leave share out"
            )
        if estimates == "history" and setting.sites[name].outages is not None:
            raise ValueError(
                f"policies.order.estimates is 'history', expected 'requested' or 'perfect' at site {name}, which "
                "has outages: a job that fails has no run time"
            )


def _check_queries(setting: ClusterSetting) -> None:
    """Check that one load has all queries, at sites with cameras, and no fractions of cores next to other loads."""
    queries = [name for name, load in setting.loads.items() if load.kind == "queries"]
    if setting.units > 1 and len(setting.loads) > 1:
        raise ValueError(
            f"loads.{queries[0]}.queries.fractions is true, expected false where other loads hold whole cores"
        )
    if len(queries) > 1:
        raise ValueError(
            f"loads.{queries[1]}: loads.{queries[0]} already has queries, expected at most one load of queries; "
            "merge them"
        )
    if queries and not any(
        setting.sites[site].cameras for site in setting.sites_of(setting.loads[queries[0]])
    ):
        raise ValueError(f"loads.{queries[0]}: its sites have no cameras, from which queries come")
