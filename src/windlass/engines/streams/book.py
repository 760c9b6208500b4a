"""What the engine of streams knows: which nodes live, which queries are asked for, and what of each may run now."""

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
        Of the query; never used twice, even if one of the same name comes again.
    feed
        The query, and its clip.
    zero
        When it came, s.
    options
        All that it could ever run with.
    camera
        Index of its camera's cluster.
    choice
        With which of its options it is to run now; -1: with none.
    why
        The reason for that.
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
        """As users call it."""
        return self.feed.query.name

    @property
    def says(self) -> str:
        """What was decided of it, in a line."""
        what = self.options.label(self.choice) if self.choice >= 0 else "cannot run"
        # Most policies give the configuration with the reason.
        return f"{self.name}: {self.why}" if what in self.why else f"{self.name}: {what} ({self.why})"


class StreamBook:
    """Nodes and queries; it starts and stops nothing.

    Parameters
    ----------
    hierarchy
        Clusters, and the links between them. How many cores a cluster has, its living nodes say.
    nodes
        Those that live.
    """

    def __init__(self, hierarchy: Hierarchy, nodes: Iterable[StreamNode]) -> None:
        self.hierarchy = hierarchy
        self.nodes = {node.number: node for node in nodes}
        self.entries: list[QueryEntry] = []
        self._names = [cluster.name for cluster in hierarchy.clusters]
        self._numbers = 0

    def come(self, feed: QueryFeed, now: float) -> QueryEntry:
        """A query is asked for from now on."""
        camera = self._names.index(feed.query.camera)
        entry = QueryEntry(self._numbers, feed, now, configurations(feed.query, self.hierarchy), camera)
        self._numbers += 1
        self.entries.append(entry)
        return entry

    def alive(self) -> NDArray[np.bool_]:
        """(clusters,) which have a node."""
        found = np.zeros(len(self._names), bool)
        found[[node.cluster for node in self.nodes.values()]] = True
        return found

    def capacity(self) -> _Floats:
        """(L,) of each resource: cores are those of living nodes, and links stand whoever dies."""
        found = self.hierarchy.capacity().copy()
        cores = np.zeros(len(self._names))
        for node in self.nodes.values():
            cores[node.cluster] += node.cores
        found[[self.hierarchy.resources.index(f"{name}.cores") for name in self._names]] = cores
        return found

    def possible(self, entry: QueryEntry) -> _Ints:
        """Options of which every component, and the camera, is at a cluster that has a node."""
        alive = self.alive()
        if not alive[entry.camera]:
            return np.empty(0, np.int64)
        place = entry.options.place
        found: _Ints = np.flatnonzero((alive[place] | (place < 0)).all(axis=1))
        return found

    def view(self, now: float) -> tuple[PlanView, tuple[QueryEntry, ...]]:
        """What the policy may see, and whom it is asked about: queries of which some option is possible.

        The others cannot run, and it is said why.
        """
        asked, shown = [], []
        for entry in self.entries:
            possible = self.possible(entry)
            if not len(possible):
                entry.choice, entry.why = -1, self._missing(entry)
                continue
            asked.append(entry)
            shown.append(_options(entry, possible))
        view = PlanView(now, self.hierarchy.resources, self.capacity(), tuple(shown))
        return view, tuple(asked)

    def choose(self, asked: Sequence[QueryEntry], plan: Plan) -> None:
        """Note what was decided about these, as :meth:`view` told of them; the plan has been checked."""
        for entry, choice, why in zip(asked, plan.choices, plan.why, strict=True):
            entry.choice = int(self.possible(entry)[choice]) if choice >= 0 else -1
            entry.why = why

    def _missing(self, entry: QueryEntry) -> str:
        alive = self.alive()
        if not alive[entry.camera]:
            return f"no node lives at its camera {self._names[entry.camera]}"
        gone = sorted({self._names[at] for at in np.unique(entry.options.place) if at >= 0 and not alive[at]})
        return f"no node lives at {', '.join(gone)}"

    def segments(self, entry: QueryEntry, taken: dict[int, float]) -> tuple[Segment, ...]:
        """Which node has which components of a query's choice: at each cluster, the node with the most idle cores.

        Parameters
        ----------
        entry
            It has a choice that is possible.
        taken
            Cores in use at nodes, by number; those of these segments are added.
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
        """Add the cores that segments of an option hold to those in use at their nodes."""
        components = self._components(entry, choice)
        for one in segments:
            cores = sum(component.cores for component in components[one.first : one.last])
            taken[one.node] = taken.get(one.node, 0.0) + cores

    @staticmethod
    def _components(entry: QueryEntry, choice: int) -> tuple[Component, ...]:
        return entry.feed.query.plans[int(entry.options.plan[choice])].components


def _options(entry: QueryEntry, rows: _Ints) -> QueryOptions:
    # Without pieces: every query has processes of its own here, and no policy may count work of two queries once.
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
