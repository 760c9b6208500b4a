"""Chains of streaming queries on a Ray cluster whose nodes carry ``site`` labels: an actor a segment."""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import ray
from ray import exceptions

from windlass.engines.live.wan import Links
from windlass.engines.ray import task as ray_task
from windlass.engines.ray.cluster import PrivateCluster, environment
from windlass.engines.ray.join import connect
from windlass.engines.ray.segment_actor import StreamPart, reason
from windlass.engines.streams.executor import (
    Came,
    ChainBroken,
    ChainLaunch,
    ChainReady,
    Event,
    NodeCame,
    NodeGone,
    QueryFeed,
    StreamNode,
)
from windlass.engines.streams.part import Stages, Task
from windlass.model import InputError
from windlass.model.fleet import Fleet
from windlass.model.queries import Hierarchy

#: How often nodes are looked at, s.
_LOOK_S = 0.25
#: For how long frames gather before they are fetched, s.
_GATHER_S = 0.25
#: Calls that an actor serves at a time: one that waits for frames must not hold up what comes in.
_CALLS = 4

#: The components of a query's plan from one to another (exclusive); none of them: what the camera sends.
StagesOf = Callable[[QueryFeed, int, int, int], Stages]


@dataclass(slots=True, eq=False)
class _Chain:
    order: ChainLaunch
    actors: list[Any]
    ready: set[int] = field(default_factory=set)


class RayStreams:
    """A :class:`~windlass.engines.streams.executor.StreamExecutor` on the connected Ray cluster.

    Parameters
    ----------
    hierarchy
        Clusters, each with a node of the label ``site`` at least, and the links between them. A cluster's cores are
        divided evenly among the nodes that it has now; a node that comes later has as many.
    stages
        What components are.
    emulate
        Whether what goes from cluster to cluster passes emulated links (token buckets); False where they are apart.
    stop
        Called by :meth:`close`: what was started together with this.

    Raises
    ------
    InputError
        A cluster has no node.
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        stages: StagesOf,
        *,
        emulate: bool = True,
        stop: Callable[[], None] = lambda: None,
    ) -> None:
        self._hierarchy, self._stages, self._stop = hierarchy, stages, stop
        self._numbers = itertools.count()
        self._by_name: dict[str, StreamNode] = {}
        self._cores = [cluster.cores for cluster in hierarchy.clusters]
        found = _living(hierarchy)
        for at, cluster in enumerate(hierarchy.clusters):
            own = sum(1 for _, where in found if where == at)
            if not own:
                raise InputError(f"cluster: no living node has the label site={cluster.name}")
            self._cores[at] = cluster.cores / own
        self._nodes = [self._node(name, at) for name, at in found]
        self._chains: dict[int, _Chain] = {}
        self._calls: dict[Any, tuple[int, int]] = {}
        self._looked, self._closed = 0.0, False
        self._zero = time.time()
        self._wan = self._links() if emulate else None

    def _node(self, name: str, cluster: int) -> StreamNode:
        node = StreamNode(next(self._numbers), cluster, self._cores[cluster], name)
        # A user knows a node by its cluster, and by the first letters of Ray's name for it.
        node = replace(node, name=f"{self._hierarchy.clusters[cluster].name}/{name[:8]}")
        self._by_name[name] = node
        return node

    def _links(self) -> Any:
        clusters = self._hierarchy.clusters
        unlimited = [[math.inf] * len(clusters) for _ in clusters]
        links = Links([one.up for one in clusters], [one.down for one in clusters], unlimited)
        here = {"ray.io/node-id": ray.get_runtime_context().get_node_id()}
        actor = ray.remote(ray_task.Wan).options(num_cpus=0, max_concurrency=10_000, label_selector=here)
        return actor.remote(links)

    @property
    def nodes(self) -> list[StreamNode]:
        """The nodes there were when this was made."""
        return list(self._nodes)

    def now(self) -> float:
        """Seconds since this was made, on the wall clock, as all nodes have it."""
        return time.time() - self._zero

    def launch(self, order: ChainLaunch) -> None:
        """Start an actor a segment, the last first, as each is told of the one after it."""
        names = {node.number: name for name, node in self._by_name.items()}
        feed, path = order.feed, self._hierarchy.path(order.feed.query.camera)
        after, actors = None, list[Any]()
        above = order.segments[-1].cluster
        for at in reversed(range(len(order.segments))):
            one = order.segments[at]
            stages = self._stages(feed, order.plan, one.first, one.last)
            task = Task(
                stages,
                feed.rate,
                feed.frames,
                self._zero + order.zero,
                source=at == 0,
                last=at == len(order.segments) - 1,
            )
            hops = list(itertools.pairwise(path[path.index(one.cluster) : path.index(above) + 1]))
            above = one.cluster
            options = ray.remote(StreamPart).options(
                num_cpus=0, max_concurrency=_CALLS, label_selector={"ray.io/node-id": names[one.node]}
            )
            after = options.remote(task, hops, self._wan, after)
            actors.insert(0, after)
        self._chains[order.key] = _Chain(order, actors)
        for at, actor in enumerate(actors):
            self._calls[actor.ready.remote()] = order.key, at

    def play(self, key: int, first: int) -> None:
        """Tell the camera's segment; not where the chain has just broken, of which :meth:`poll` tells."""
        if key in self._chains:
            self._chains[key].actors[0].play.remote(first)

    def end(self, key: int, last: int) -> None:
        """Tell the camera's segment, as :meth:`play` does."""
        if key in self._chains:
            self._chains[key].actors[0].end.remote(last)

    def stop(self, key: int) -> None:
        """Kill a chain's actors."""
        chain = self._chains.pop(key, None)
        if chain is None:
            return
        self._calls = {call: whose for call, whose in self._calls.items() if whose[0] != key}
        for actor in chain.actors:
            with contextlib.suppress(exceptions.RayError):
                ray.kill(actor)

    def poll(self, timeout: float) -> list[Event]:
        """What happened; waits up to so many seconds for something to."""
        until = time.monotonic() + timeout
        while True:
            events = self._look()
            wait_s = 0.0 if events else min(max(until - time.monotonic(), 0.0), _LOOK_S)
            if self._calls:
                ready, _ = ray.wait(list(self._calls), num_returns=1, timeout=wait_s, fetch_local=False)
                if ready:
                    every = len(self._calls)
                    ready, _ = ray.wait(list(self._calls), num_returns=every, timeout=0, fetch_local=False)
                for call in ready:
                    events.extend(self._answered(call))
            else:
                time.sleep(wait_s)
            if events or time.monotonic() >= until:
                return events

    def _answered(self, call: Any) -> list[Event]:
        if call not in self._calls:
            return []  # Its chain was stopped by what was heard a moment ago.
        key, at = self._calls.pop(call)
        chain = self._chains[key]
        try:
            frames = ray.get(call)
        except exceptions.RayError as error:
            self.stop(key)
            # That a node is gone is known soon after its actors are.
            self._looked = 0.0
            return [ChainBroken(key, reason(error))]
        self._calls[chain.actors[at].take.remote(_GATHER_S)] = key, at
        if at not in chain.ready:
            chain.ready.add(at)
            return [ChainReady(key)] if len(chain.ready) == len(chain.actors) else []
        if not frames:
            return []
        return [Came(key, tuple(replace(frame, done=frame.done - self._zero) for frame in frames))]

    def _look(self) -> list[Event]:
        if time.monotonic() - self._looked < _LOOK_S:
            return []
        self._looked = time.monotonic()
        events: list[Event] = []
        living = dict(_living(self._hierarchy))
        for name in [name for name in self._by_name if name not in living]:
            node = self._by_name.pop(name)
            for key, chain in list(self._chains.items()):
                if any(one.node == node.number for one in chain.order.segments):
                    self.stop(key)
            events.append(NodeGone(node.number))
        events.extend(
            NodeCame(self._node(name, at)) for name, at in living.items() if name not in self._by_name
        )
        return events

    def close(self) -> None:
        """Kill the actors, and stop what was started together with this."""
        if self._closed:
            return
        self._closed = True
        try:
            for key in list(self._chains):
                self.stop(key)
            if self._wan is not None:
                ray.kill(self._wan)
        finally:
            self._stop()


def open_streams(
    hierarchy: Hierarchy, stages: StagesOf, *, address: str | None, nodes: int, emulate: bool
) -> RayStreams:
    """An executor on a private cluster, or on somebody's.

    Parameters
    ----------
    hierarchy, stages, emulate
        As of :class:`RayStreams`.
    address
        Of somebody's cluster; None: raylets are started on this machine.
    nodes
        Raylets of each cluster that has cores and is no camera's alone; one of each other cluster.

    Raises
    ------
    InputError
        Ray does not start, there is no cluster at the address, or it lacks nodes.
    """
    if address is not None:
        connect(address)
        return RayStreams(hierarchy, stages, emulate=emulate, stop=ray.shutdown)
    # Ray gives its workers the least priority, as if they worked for a batch: frames would wait for whatever else runs.
    with environment(RAY_worker_niceness="0"):
        cluster = PrivateCluster(raylets(hierarchy, nodes), nodes)
    try:
        return RayStreams(hierarchy, stages, emulate=emulate, stop=cluster.close)
    except BaseException:
        cluster.close()
        raise


def raylets(hierarchy: Hierarchy, nodes: int) -> Fleet:
    """A private cluster's sites, whose slots are how many raylets each has: one of a leaf, and so many of the others.

    >>> from windlass.model.queries import Cluster
    >>> tiers = Hierarchy((Cluster("camera", 0, parent="cloud"), Cluster("cloud", 40)))
    >>> raylets(tiers, 2).slots.tolist()
    [1, 2]
    """
    parents = {cluster.parent for cluster in hierarchy.clusters}
    slots = [nodes if cluster.name in parents else 1 for cluster in hierarchy.clusters]
    names = [cluster.name for cluster in hierarchy.clusters]
    return Fleet.of(slots, [1.0] * len(slots), [1.0] * len(slots), names=names)


def _living(hierarchy: Hierarchy) -> list[tuple[str, int]]:
    """Living nodes of the hierarchy's clusters: Ray's name, and the cluster's index."""
    index = {cluster.name: at for at, cluster in enumerate(hierarchy.clusters)}
    found = [
        (str(node["NodeID"]), index[node["Labels"]["site"]])
        for node in ray.nodes()
        if node["Alive"] and node.get("Labels", {}).get("site") in index
    ]
    return sorted(found, key=lambda one: (one[1], one[0]))
