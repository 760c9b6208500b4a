"""Chains of streaming queries on a Ray cluster with nodes labelled by ``site``: one actor per segment."""

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
    ChainBroken,
    ChainLaunch,
    ChainReady,
    Event,
    FramesPassed,
    NodeCame,
    NodeGone,
    QueryFeed,
    StreamNode,
)
from windlass.engines.streams.part import Stages, Task
from windlass.model import InputError
from windlass.model.fleet import Fleet
from windlass.model.queries import Hierarchy

#: Polling interval of nodes, s.
_LOOK_S = 0.25
#: For how long frames are collected before they are fetched, s.
_GATHER_S = 0.25
#: Concurrent calls of an actor: a call that waits for frames must not delay new items.
_CALLS = 4

#: Returns the components of a query's plan from one index to another (exclusive); if none, the camera's frames pass.
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
        Clusters, each with at least one node with its label ``site``, and the links between them. A cluster's cores
        are divided evenly among its current nodes; a node that joins later has as many.
    stages
        Makes the components.
    emulate
        Whether traffic between clusters passes through emulated links (token buckets); False if their links are real.
    stop
        Called by :meth:`close` to stop what was started for this executor.

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
        self._polled, self._closed = 0.0, False
        self._zero = time.time()
        self._wan = self._links() if emulate else None

    def _node(self, name: str, cluster: int) -> StreamNode:
        node = StreamNode(next(self._numbers), cluster, self._cores[cluster], name)
        # Messages name a node by its cluster and the first characters of Ray's id.
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
        """The nodes at the time of construction."""
        return list(self._nodes)

    def now(self) -> float:
        """Return the seconds since construction, on the wall clock, which is the same on all nodes."""
        return time.time() - self._zero

    def launch(self, order: ChainLaunch) -> None:
        """Start an actor per segment, the last first, as each needs a reference to the next one."""
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
        """Start the camera's segment; if the chain has just broken, do nothing, as :meth:`poll` reports that."""
        if key in self._chains:
            self._chains[key].actors[0].play.remote(first)

    def end(self, key: int, last: int) -> None:
        """Stop the camera's segment; see :meth:`play` for a broken chain."""
        if key in self._chains:
            self._chains[key].actors[0].end.remote(last)

    def stop(self, key: int) -> None:
        """Kill a chain's actors."""
        chain = self._chains.pop(key, None)
        if chain is None:
            return
        self._calls = {call: owner for call, owner in self._calls.items() if owner[0] != key}
        for actor in chain.actors:
            with contextlib.suppress(exceptions.RayError):
                ray.kill(actor)

    def poll(self, timeout: float) -> list[Event]:
        """Return the events since the last call; wait up to ``timeout`` (s) for one."""
        until = time.monotonic() + timeout
        while True:
            events = self._poll_nodes()
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
            return []  # An earlier event of this poll has stopped its chain.
        key, at = self._calls.pop(call)
        chain = self._chains[key]
        try:
            frames = ray.get(call)
        except exceptions.RayError as error:
            self.stop(key)
            # Ray reports a lost node soon after its actors.
            self._polled = 0.0
            return [ChainBroken(key, reason(error))]
        self._calls[chain.actors[at].take.remote(_GATHER_S)] = key, at
        if at not in chain.ready:
            chain.ready.add(at)
            return [ChainReady(key)] if len(chain.ready) == len(chain.actors) else []
        if not frames:
            return []
        return [FramesPassed(key, tuple(replace(frame, done=frame.done - self._zero) for frame in frames))]

    def _poll_nodes(self) -> list[Event]:
        if time.monotonic() - self._polled < _LOOK_S:
            return []
        self._polled = time.monotonic()
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
        """Kill the actors, and call ``stop``."""
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
    """Open an executor on a private or a user's cluster.

    Parameters
    ----------
    hierarchy, stages, emulate
        See :class:`RayStreams`.
    address
        The address of a user's cluster; None to start raylets on this machine.
    nodes
        Raylets of each cluster with children; other clusters have one each.

    Raises
    ------
    InputError
        Ray does not start, no cluster answers at the address, or it lacks nodes.
    """
    if address is not None:
        connect(address)
        return RayStreams(hierarchy, stages, emulate=emulate, stop=ray.shutdown)
    # By default Ray gives its workers the lowest priority, so frames would wait for other processes.
    with environment(RAY_worker_niceness="0"):
        cluster = PrivateCluster(raylets(hierarchy, nodes), nodes)
    try:
        return RayStreams(hierarchy, stages, emulate=emulate, stop=cluster.close)
    except BaseException:
        cluster.close()
        raise


def raylets(hierarchy: Hierarchy, nodes: int) -> Fleet:
    """Return a private cluster's sites, with slots equal to their raylets: one for a leaf, ``nodes`` for the others.

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
    """Return the living nodes of the hierarchy's clusters: Ray's name, and the cluster's index."""
    index = {cluster.name: at for at, cluster in enumerate(hierarchy.clusters)}
    found = [
        (str(node["NodeID"]), index[node["Labels"]["site"]])
        for node in ray.nodes()
        if node["Alive"] and node.get("Labels", {}).get("site") in index
    ]
    return sorted(found, key=lambda one: (one[1], one[0]))
