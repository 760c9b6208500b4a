"""Accuracies and demands of all configurations of a query, computed from its plans and the cluster hierarchy."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement
from typing import overload

import numpy as np
from numpy.typing import NDArray

from windlass.model.queries import KINDS, Hierarchy, Query

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]
_CORES, _UP, _DOWN = range(len(KINDS))


@dataclass(frozen=True, eq=False)
class Configurations:
    """The k configurations of a query: each is a plan, and a cluster for each of its components.

    Parameters
    ----------
    query, hierarchy
        The query and the hierarchy.
    accuracy
        (k,) accuracy of the plan.
    plan
        (k,) int64, index into ``query.plans``.
    place
        (k, c) int64, index of each component's cluster; −1 after a plan's last component.
    columns
        (w,) int64, indices of the resources that the query could use: those of the clusters on its camera's
        path.
    rates
        (k, c, w) demand of each component for these: cores, and bytes/s of its input from a lower cluster.
    """

    query: Query
    hierarchy: Hierarchy
    accuracy: _Floats
    plan: _Ints
    place: _Ints
    columns: _Ints
    rates: _Floats

    def __len__(self) -> int:
        return len(self.accuracy)

    @cached_property
    def demand(self) -> _Floats:
        """(k, L) demand of each configuration for all resources of the hierarchy."""
        wide = np.zeros((len(self), len(KINDS) * len(self.hierarchy.clusters)))
        wide[:, self.columns] = self.rates.sum(axis=1)
        return wide

    @property
    def piece_demand(self) -> _Floats:
        """(k, c, L) demand of each component; computed at each access, because it is large."""
        wide = np.zeros((*self.place.shape, len(KINDS) * len(self.hierarchy.clusters)))
        wide[:, :, self.columns] = self.rates
        return wide

    @cached_property
    def piece(self) -> _Ints:
        """(k, c) identifier of the work of each component.

        Two configurations of queries on one camera have the same identifier exactly if the component, all
        components before it, and all their clusters are the same, so that the work can be shared. −1 after a
        plan's last component.
        """
        known: dict[str, int] = {}
        found = np.full_like(self.place, -1)
        for row, (plan, way) in enumerate(zip(self.plan.tolist(), self.place.tolist(), strict=True)):
            prefix = f"{self.query.camera}\0{self.query.source}"
            for at, component in enumerate(self.query.plans[plan].components):
                prefix += f"\0{component.name}\0{way[at]}"
                if prefix not in known:
                    # blake2b gives the same number in every process, unlike Python's hash().
                    digest = hashlib.blake2b(prefix.encode(), digest_size=8).digest()
                    known[prefix] = int.from_bytes(digest, "big") >> 1
                found[row, at] = known[prefix]
        return found

    @property
    def labels(self) -> Labels:
        """(k,) labels of all configurations, each made on access."""
        return Labels(self)

    def label(self, j: int) -> str:
        """Return the components and clusters of configuration ``j``: ``decode, detect@private; associate@cloud``."""
        components = self.query.plans[int(self.plan[j])].components
        groups: list[tuple[int, list[str]]] = []
        for component, at in zip(components, self.place[j].tolist(), strict=False):
            if not groups or groups[-1][0] != at:
                groups.append((at, []))
            groups[-1][1].append(component.name)
        return "; ".join(f"{', '.join(names)}@{self.hierarchy.clusters[at].name}" for at, names in groups)


@dataclass(frozen=True, eq=False)
class Labels(Sequence[str]):
    """Labels of configurations, each made on first access because a query may have thousands."""

    of: Configurations
    _made: dict[int, str] = field(default_factory=dict, init=False, repr=False)

    def __reduce__(self) -> tuple[type[Labels], tuple[Configurations]]:
        """Leave out the labels made so far, so that a view has the same bytes before and after a decision."""
        return Labels, (self.of,)

    def __len__(self) -> int:
        return len(self.of)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return tuple(self.of.label(j) for j in range(*index.indices(len(self))))
        j = range(len(self))[index]
        label = self._made.get(j)
        if label is None:
            label = self._made[j] = self.of.label(j)
        return label


def configurations(query: Query, hierarchy: Hierarchy) -> Configurations:
    """Return all configurations of a query: every plan, with every placement of its components from its camera upwards.

    A component runs in the same cluster as the one before it or further up, never further down. At each hop,
    traffic uses the child's uplink and the parent's downlink. The last component's output is the result. It is
    sent to the root if ``query.to_root``, and else it is not transferred.

    Parameters
    ----------
    query
        The query; its camera is a cluster of the hierarchy.
    hierarchy
        The cluster hierarchy. Only the tree is used; capacities may change later.

    Returns
    -------
    Configurations plan by plan; within a plan from all components at the camera to all at the root.

    Raises
    ------
    InputError
        The camera is not in the hierarchy.

    Source: thesis, sections 5.4 and 5.5.1; section 5.7.4 for results that are sent to the cloud.

    Examples
    --------
    >>> from windlass.model.queries import Cluster, Component, QueryPlan
    >>> tiers = Hierarchy((Cluster("camera", 1, up=1e6, parent="cloud"), Cluster("cloud", 40)))
    >>> plan = QueryPlan(0.6, (Component("detect", 2.0, 125e3), Component("associate", 3.0, 0.0)))
    >>> found = configurations(Query("cars", "camera", (plan,), source=500e3), tiers)
    >>> found.labels[:]
    ('detect, associate@camera', 'detect@camera; associate@cloud', 'detect, associate@cloud')
    >>> tiers.resources[:2], found.demand[:, :2].tolist()
    (('camera.cores', 'camera.up'), [[5.0, 0.0], [2.0, 125000.0], [0.0, 500000.0]])
    """
    path = np.array(hierarchy.path(query.camera))
    columns = (len(KINDS) * path[:, None] + np.arange(len(KINDS))).ravel()
    longest = max(len(plan.components) for plan in query.plans)
    alike: dict[int, list[int]] = {}
    for number, plan in enumerate(query.plans):
        alike.setdefault(len(plan.components), []).append(number)
    parts = []
    for length, numbers in alike.items():
        steps = _ways(len(path), length)
        place = np.full((len(numbers), len(steps), longest), -1)
        place[:, :, :length] = path[steps]
        rates = np.zeros((len(numbers), len(steps), longest, len(columns)))
        rates[:, :, :length] = _rates(query, numbers, steps, len(columns))
        which = np.repeat(np.array(numbers), len(steps))
        parts.append((which, place.reshape(len(which), longest), rates.reshape(len(which), longest, -1)))
    plans, places, all_rates = (np.concatenate(part) for part in zip(*parts, strict=True))
    order = plans.argsort(kind="stable")
    accuracy = np.array([plan.accuracy for plan in query.plans])[plans[order]]
    return Configurations(query, hierarchy, accuracy, plans[order], places[order], columns, all_rates[order])


def _rates(query: Query, numbers: list[int], steps: _Ints, width: int) -> _Floats:
    """Return demands (m, p, c, w) of the c components of m plans on p ways up the levels."""
    chains = [query.plans[number].components for number in numbers]
    cores = np.array([[component.cores for component in chain] for chain in chains])
    inputs = np.array([[query.source, *(component.output for component in chain[:-1])] for chain in chains])
    rates = np.zeros((len(chains), *steps.shape, width))
    before = np.zeros(len(steps), np.int64)
    for at, here in enumerate(steps.T):
        rates[:, np.arange(len(steps)), at, len(KINDS) * here + _CORES] = cores[:, at, None]
        for hop in range(int(here.max())):
            crosses = (before <= hop) & (hop < here)
            rates[:, crosses, at, len(KINDS) * hop + _UP] = inputs[:, at, None]
            rates[:, crosses, at, len(KINDS) * (hop + 1) + _DOWN] = inputs[:, at, None]
        before = here
    if query.to_root:
        results = np.array([chain[-1].output for chain in chains])
        for hop in range(width // len(KINDS) - 1):
            above = before <= hop
            rates[:, above, -1, len(KINDS) * hop + _UP] = results[:, None]
            rates[:, above, -1, len(KINDS) * (hop + 1) + _DOWN] = results[:, None]
    return rates


def _ways(levels: int, components: int) -> _Ints:
    """Return (p, c) the level of each of c components on all p ways up, none below the component before it."""
    found = list(combinations_with_replacement(range(levels), components))
    return np.array(found, dtype=np.int64).reshape(len(found), components)
