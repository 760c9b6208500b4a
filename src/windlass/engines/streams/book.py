"""The state of the engine of streams: living nodes, requested queries, and the possible options of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.engines.streams.executor import QueryFeed, Segment, StreamNode
from windlass.model.queries import Component, Hierarchy
from windlass.plan.configurations import Configurations, configurations
from windlass.plan.view import Plan, PlanView, QueryOptions

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(slots=True, eq=False)
class QueryEntry:
    """A query in the book.

    Parameters
    ----------
    number
        The query's number, which is never reused, even for a query of the same name.
    feed
        The query and its clip.
    zero
        When it was added, s.
    options
        All configurations that it could ever run with.
    camera
        Index of its camera's cluster.
    choice
        The option that it should run with now; -1 for none.
    why
        The reason for the choice.
    """

    number: int
    feed: QueryFeed
    zero: float
    options: Configurations
    camera: int
    choice: int = -1
    why: str = "no plan yet"

    @property
    def name(self) -> str:
        """The query's name."""
        return self.feed.query.name

    @property
    def summary(self) -> str:
        """The decision about the query, in one line."""
        what = self.options.label(self.choice) if self.choice >= 0 else "cannot run"
        # Most policies include the configuration in the reason.
        return f"{self.name}: {self.why}" if what in self.why else f"{self.name}: {what} ({self.why})"


class StreamBook:
    """Nodes and queries; it starts and stops no chains.

    Parameters
    ----------
    hierarchy
        Clusters, and the links between them. The cores of a cluster are those of its living nodes.
    nodes
        The living nodes.
    """

    def __init__(self, hierarchy: Hierarchy, nodes: Iterable[StreamNode]) -> None:
        self.hierarchy = hierarchy
        self.nodes = {node.number: node for node in nodes}
        self.entries: list[QueryEntry] = []
        self._names = [cluster.name for cluster in hierarchy.clusters]
        self._numbers = 0

    def add(self, feed: QueryFeed, now: float) -> QueryEntry:
        """Add a query."""
        camera = self._names.index(feed.query.camera)
        entry = QueryEntry(self._numbers, feed, now, configurations(feed.query, self.hierarchy), camera)
        self._numbers += 1
        self.entries.append(entry)
        return entry

    def alive(self) -> NDArray[np.bool_]:
        """Return (clusters,) whether each has a node."""
        found = np.zeros(len(self._names), bool)
        found[[node.cluster for node in self.nodes.values()]] = True
        return found

    def capacity(self) -> _Floats:
        """Return (L,) capacity of each resource: cores are those of living nodes; links are not affected by nodes."""
        found = self.hierarchy.capacity().copy()
        cores = np.zeros(len(self._names))
        for node in self.nodes.values():
            cores[node.cluster] += node.cores
        found[[self.hierarchy.resources.index(f"{name}.cores") for name in self._names]] = cores
        return found

    def possible(self, entry: QueryEntry) -> _Ints:
        """Return the options with the camera and all components at clusters that have a node."""
        alive = self.alive()
        if not alive[entry.camera]:
            return np.empty(0, np.int64)
        place = entry.options.place
        found: _Ints = np.flatnonzero((alive[place] | (place < 0)).all(axis=1))
        return found

    def view(self, now: float) -> tuple[PlanView, tuple[QueryEntry, ...]]:
        """Return the view of the policy, and its queries: those with a possible option.

        For other queries, the entry is updated with the reason why they cannot run.
        """
        entries, shown = [], []
        for entry in self.entries:
            possible = self.possible(entry)
            if not len(possible):
                entry.choice, entry.why = -1, self._missing(entry)
                continue
            entries.append(entry)
            shown.append(_options(entry, possible))
        view = PlanView(now, self.hierarchy.resources, self.capacity(), tuple(shown))
        return view, tuple(entries)

    def choose(self, entries: Sequence[QueryEntry], plan: Plan) -> None:
        """Record the decision about the queries of :meth:`view`; the plan must be valid."""
        for entry, choice, why in zip(entries, plan.choices, plan.why, strict=True):
            entry.choice = int(self.possible(entry)[choice]) if choice >= 0 else -1
            entry.why = why

    def _missing(self, entry: QueryEntry) -> str:
        alive = self.alive()
        if not alive[entry.camera]:
            return f"no living node at its camera {self._names[entry.camera]}"
        gone = sorted({self._names[at] for at in np.unique(entry.options.place) if at >= 0 and not alive[at]})
        return f"no living node at {', '.join(gone)}"

    def segments(self, entry: QueryEntry, taken: dict[int, float]) -> tuple[Segment, ...]:
        """Assign the components of a query's choice to nodes: at each cluster, the node with the most idle cores.

        Parameters
        ----------
        entry
            The query, with a possible choice.
        taken
            Cores in use by node number; those of these segments are added.
        """
        components = self._components(entry, entry.choice)
        place = entry.options.place[entry.choice][: len(components)].tolist()
        parts: list[tuple[int, int, int]] = [(entry.camera, 0, 0)]
        for at, cluster in enumerate(place):
            if cluster == parts[-1][0]:
                parts[-1] = (cluster, parts[-1][1], at + 1)
            else:
                parts.append((cluster, at, at + 1))
        found = []
        for cluster, first, last in parts:
            own = [node for node in self.nodes.values() if node.cluster == cluster]
            node = max(own, key=lambda one: (one.cores - taken.get(one.number, 0.0), -one.number))
            found.append(Segment(cluster, node.number, first, last))
            self.take(entry, entry.choice, found[-1:], taken)
        return tuple(found)

    def take(
        self, entry: QueryEntry, choice: int, segments: Sequence[Segment], taken: dict[int, float]
    ) -> None:
        """Add the cores of an option's segments to those in use at their nodes."""
        components = self._components(entry, choice)
        for one in segments:
            cores = sum(component.cores for component in components[one.first : one.last])
            taken[one.node] = taken.get(one.node, 0.0) + cores

    @staticmethod
    def _components(entry: QueryEntry, choice: int) -> tuple[Component, ...]:
        return entry.feed.query.plans[int(entry.options.plan[choice])].components


def _options(entry: QueryEntry, rows: _Ints) -> QueryOptions:
    # No shared pieces: each query has its own processes here, so no policy may count work of two queries once.
    options = entry.options
    current = np.flatnonzero(rows == entry.choice)
    return QueryOptions(
        entry.number,
        entry.name,
        options.accuracy[rows],
        options.demand[rows],
        tuple(options.label(int(row)) for row in rows),
        int(current[0]) if len(current) else -1,
    )
