"""The cluster that a scenario of jobs over sites stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from windlass.experiment.worlds.composition import JOBS, Composition, composed, without
from windlass.experiment.worlds.fleet.sites import FleetClusterSpec
from windlass.experiment.worlds.fleet.spec import FleetSetting


def fleet_composition(tree: Mapping[str, Any], settings: Sequence[FleetSetting]) -> Composition:
    """Return the sites with staged jobs, all of which run, or what a cluster lacks.

    Parameters
    ----------
    tree
        The scenario in plain values with all defaults; a list is a sweep.
    settings
        Its variants.

    Examples
    --------
    >>> setting = FleetSetting.model_validate(
    ...     {"cluster": {"alike": {}}, "workload": {"fixed": {}}, "policies": {"order": "swag"}})
    >>> fleet_composition({}, [setting]).missing
    'tasks that are fixed to sites'
    """
    missing, cluster = next(filter(None, map(_missing, settings)), ""), settings[0].cluster
    if missing or cluster is None:
        return Composition(None, missing)
    sites, links = _sites(cluster, tree["cluster"])
    timing = {name: tree[name] for name in ("look_every", "decide_every")}
    given = tree["estimates"]
    timing["durations"] = given["durations"] if isinstance(given, Mapping) else given
    load = without(tree["workload"], "fixed") | timing
    own = dict(tree) | {"policies": _renamed(tree["policies"])}
    if "variants" in tree:
        own["variants"] = {
            name: {"policies": _renamed((changes or {}).get("policies", {}))}
            for name, changes in tree["variants"].items()
        }
    numbers = {JOBS: 1, f"place.{JOBS}": 3, f"order.{JOBS}": 1}
    return composed(own, sites, {JOBS: {"staged": load}}, numbers, **({"links": links} if links else {}))


def _missing(setting: FleetSetting) -> str:
    """Return what a cluster lacks; empty if it lacks nothing."""
    cluster = setting.cluster
    if cluster is None or setting.workload.fixed is not None:
        return "tasks that are fixed to sites"
    if cluster.alike is not None or cluster.drawn is not None:
        return "sites that are drawn or alike"
    listed = cluster.sites or ()
    if cluster.pair or cluster.usd_per_gb or not all(each.up and each.down for each in listed):
        return "sites without links, and no listed links of pairs"
    if not all(each.slots for each in listed):
        return "sites without cores"
    if setting.drops is not None:
        return "temporary losses of slots and links"
    if setting.policies.dispatch is not None or setting.estimates.sizes == "seconds":
        return "workers within the sites of staged jobs, and no order by expected seconds"
    if setting.policies.order is None and setting.decide_every > 0.0:
        # Alone, staged jobs call the policy before tasks end at the same instant, a cluster afterwards.
        return (
            "placements that are decided before tasks end at the same instant, as with decide_every above 0"
        )
    return ""


def _sites(cluster: FleetClusterSpec, tree: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the sites, and their measured links."""
    measured = cluster.measured
    if measured is None:
        listed = cluster.sites or ()
        return {
            each.name: {"processors": each.slots, "up": each.up, "down": each.down} for each in listed
        }, {}
    counts = measured.slots * (len(measured.regions) if len(measured.slots) == 1 else 1)
    sites = {name: {"processors": slots} for name, slots in zip(measured.regions, counts, strict=True)}
    return sites, without(tree["measured"], "regions", "slots")


def _renamed(policies: Mapping[str, Any]) -> dict[str, Any]:
    """Return policies by their names in a cluster, which orders batch jobs too."""
    return {"order.staged" if name == "order" else name: each for name, each in policies.items()}
