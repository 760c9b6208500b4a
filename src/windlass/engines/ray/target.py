"""Ray as a target: a private cluster that is kept between runs, or a user's cluster."""

from __future__ import annotations

import ray

from windlass.engines.live.executor import Executor
from windlass.engines.ray.cluster import PrivateCluster, check_size
from windlass.engines.ray.executor import RayExecutor, workers_of
from windlass.engines.ray.join import connect, reach
from windlass.engines.targets import Target
from windlass.model.fleet import Fleet


class RayTarget:
    """Executors on a Ray cluster."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._cluster: PrivateCluster | None = None
        self._made_for: tuple[object, ...] = ()
        self._connected = False

    def describe(self, fleet: Fleet, store: int) -> tuple[str, ...]:
        """Return what would be started, or which nodes would be used."""
        if self._target.address is None:
            check_size(fleet, store)
            return (
                f"start a private Ray cluster on this machine: a head, and {self._target.nodes} raylet(s) a site",
                *(
                    f"site {name}: {slots} slots, up {up / 1e6:g} MB/s, down {down / 1e6:g} MB/s (emulated)"
                    for name, slots, up, down in zip(
                        fleet.names, fleet.slots.tolist(), fleet.up, fleet.down, strict=True
                    )
                ),
                "stop it at the end",
            )
        self._connect()
        found = workers_of(fleet)
        return (
            f"use the Ray cluster at {self._target.address}; nothing of it is started or stopped",
            *(
                f"site {fleet.names[worker.site]}: node {worker.name[:12]}, {worker.slots} slots"
                for worker in found
            ),
            "pass transfers between sites through emulated links"
            if self._target.emulate
            else "use the links as they are",
        )

    def open(self, fleet: Fleet, store: int) -> Executor:
        """Return an executor; a private cluster is restarted if sites differ or a node has died."""
        if self._target.address is not None:
            self._connect()
            return RayExecutor(fleet, emulate=self._target.emulate)
        wanted = (fleet.names, tuple(fleet.slots.tolist()), store)
        if self._cluster is None or self._made_for != wanted or not self._cluster.whole():
            self.close()
            self._cluster = PrivateCluster(fleet, self._target.nodes, store)
            self._made_for = wanted
        return RayExecutor(fleet, emulate=self._target.emulate)

    def _connect(self) -> None:
        if not self._connected:
            connect(self._target.address or "")
            self._connected = True

    def close(self) -> None:
        """Stop the private cluster, or disconnect from the user's."""
        if self._cluster is not None:
            self._cluster.close()
            self._cluster = None
        if self._connected:
            ray.shutdown()
            self._connected = False


def executors(target: Target) -> RayTarget:
    """Return executors on this target; the cluster at its address must answer at once."""
    if target.address is not None:
        reach(target.address)
    return RayTarget(target)
