"""Short forms: the scenario of one cluster that a scenario of an older world stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, runtime_checkable

#: Names of the only site, and of the loads of a short form.
SITE: Final = "site"
JOBS: Final = "jobs"
TASKS: Final = "tasks"
NEIGHBOURS: Final = "neighbours"
QUERIES: Final = "queries"
#: Time between two samples of the cores in use, s: short forms have no such series.
_SAMPLE: Final = 3600.0
#: What a cluster lacks for a sweep over the nodes of a short form.
SWEEP_OF_NODES: Final = "sweep over the fields of nodes"


@dataclass(frozen=True, slots=True)
class Composition:
    """A scenario of the world ``cluster``, in plain values, or what this world lacks for it.

    Parameters
    ----------
    tree
        The scenario; None if ``cluster`` cannot express it.
    missing
        What ``cluster`` lacks, completing "A cluster has no …"; empty if it lacks nothing.
    """

    tree: Mapping[str, Any] | None
    missing: str = ""


@runtime_checkable
class ShortForm(Protocol):
    """The interface of a world whose scenarios stand for those of one cluster."""

    def composition(self, tree: Mapping[str, Any], settings: Sequence[Any], seed: int) -> Composition:
        """Return what a scenario stands for.

        Parameters
        ----------
        tree
            The scenario in plain values with all defaults; a list is a sweep.
        settings, seed
            Its variants, and its first seed.

        Raises
        ------
        InputError
            A file cannot be read.
        """
        ...


def composed(
    tree: Mapping[str, Any],
    sites: Mapping[str, Any],
    loads: Mapping[str, Any],
    streams: Mapping[str, int],
    **fields: Any,
) -> Composition:
    """Return a scenario, all of whose jobs run.

    Parameters
    ----------
    tree
        The short form, of which name, policies, variants and seeds are taken.
    sites, loads
        The fields of the sites, and of the loads.
    streams
        Numbers of the random streams, by their names.
    fields
        Further fields.

    Examples
    --------
    >>> sites, loads = {SITE: {"processors": 8}}, {JOBS: {"rigid": {"lublin": {"jobs": 5}}}}
    >>> composed({"seeds": [1]}, sites, loads, {"jobs@site": 0}).tree["streams"]
    {'jobs@site': 0}
    """
    kept = ("name", "policies", "variants", "seeds")
    own = {name: tree[name] for name in kept if name in tree}
    return Composition(
        {
            "world": "cluster",
            "seconds": "all",
            "sites": dict(sites),
            "loads": dict(loads),
            **own,
            "sample": _SAMPLE,
            "streams": dict(streams),
            **fields,
        }
    )


def group_of_nodes(tree: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the group of identical nodes of a cluster; None for a sweep over its fields.

    Parameters
    ----------
    tree
        The fields ``nodes``, ``cores``, and ``speed`` of a node, work/s; a list is a sweep.

    Examples
    --------
    >>> group_of_nodes({"nodes": 2, "cores": 4, "speed": 1.0, "floor": 0.1})
    {'count': 2, 'cores': 4, 'rate': 1.0}
    """
    count, cores, rate = (tree[name] for name in ("nodes", "cores", "speed"))
    swept = any(isinstance(each, list) for each in (count, cores, rate))
    return None if swept else {"count": count, "cores": cores, "rate": rate}


def without(tree: Any, *names: str) -> Any:
    """Return a mapping without some fields, or each entry of a sweep without them.

    >>> without([{"a": 1, "b": 2}], "b")
    [{'a': 1}]
    """
    if isinstance(tree, list):
        return [without(entry, *names) for entry in tree]
    if isinstance(tree, Mapping):
        return {name: value for name, value in tree.items() if name not in names}
    return tree
