"""An executor on a Ray cluster with nodes labelled by ``site``."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import ray
from numpy.typing import NDArray
from ray import exceptions

from windlass.engines.live import wan, work
from windlass.engines.live.executor import Event, Failed, Gone, Piece, TaskEnded, TaskLaunch, Worker
from windlass.engines.live.wan import Links
from windlass.engines.ray import task as ray_task
from windlass.model import InputError
from windlass.model.fleet import Fleet

#: Polling interval of nodes, s.
_LOOK_S = 0.5
#: How long a measurement of link usage counts as current, s.
_USE_S = 0.1
_WARM_S = 0.3
#: Loads and moves that a node carries out at the same time; further ones wait.
_MOVES = 64

_LOST = (
    exceptions.WorkerCrashedError,
    exceptions.NodeDiedError,
    exceptions.LocalRayletDiedError,
    exceptions.ObjectLostError,
    exceptions.RayActorError,
    exceptions.TaskUnschedulableError,
    exceptions.TaskCancelledError,
    exceptions.OutOfMemoryError,
)


def workers_of(fleet: Fleet) -> tuple[Worker, ...]:
    """The connected cluster's living nodes with CPUs, by their ``site`` labels.

    Raises
    ------
    InputError
        A site has no node.
    """
    found: list[Worker] = []
    nodes = sorted(ray.nodes(), key=lambda node: node["NodeID"])
    for site, name in enumerate(fleet.names):
        own = [
            node
            for node in nodes
            if node["Alive"]
            and node.get("Labels", {}).get("site") == name
            and node["Resources"].get("CPU", 0) >= 1
        ]
        if not own and fleet.slots[site] > 0:
            labels = sorted(
                {node.get("Labels", {}).get("site", "") for node in nodes if node["Alive"]} - {""}
            )
            raise InputError(
                f"cluster: no living node has the label site={name}; sites of this Ray cluster: "
                f"{', '.join(labels) or 'none'}"
            )
        for node in own:
            found.append(Worker(len(found), site, int(node["Resources"]["CPU"]), node["NodeID"]))
    return tuple(found)


class RayExecutor:
    """Carries out launches on the connected Ray cluster.

    Parameters
    ----------
    fleet
        Sites, and the links between them.
    emulate
        Whether transfers between sites pass through emulated links (token buckets) with the fleet's rates; False
        if the sites' links are real.
    stop
        Called by :meth:`close` to stop what was started for this executor.

    Raises
    ------
    InputError
        A site has no node.
    """

    def __init__(
        self, fleet: Fleet, *, emulate: bool = True, stop: Callable[[], None] = lambda: None
    ) -> None:
        for module in (work, wan, ray_task):
            ray.cloudpickle.register_pickle_by_value(module)
        self._fleet, self._stop = fleet, stop
        self._workers = workers_of(fleet)
        self._task = ray.remote(ray_task.run_task)
        self._reports: dict[Any, tuple[TaskLaunch, list[Any]]] = {}
        self._gone: set[int] = set()
        self._polled, self._measured, self._closed = 0.0, -np.inf, False
        self._used = np.zeros((2, len(fleet)))
        self._wan = self._links() if emulate else None
        self._movers = [self._mover(worker) for worker in self._workers]
        self._zero = time.time()
        self._warm()

    def _links(self) -> Any:
        fleet = self._fleet
        links = Links(fleet.up.tolist(), fleet.down.tolist(), fleet.pair.tolist())
        here = {"ray.io/node-id": ray.get_runtime_context().get_node_id()}
        actor = ray.remote(ray_task.Wan).options(num_cpus=0, max_concurrency=10_000, label_selector=here)
        return actor.remote(links)

    def _mover(self, worker: Worker) -> Any:
        actor = ray.remote(ray_task.DataMover).options(
            num_cpus=0, max_restarts=-1, max_concurrency=_MOVES, label_selector=self._selector(worker)
        )
        return actor.remote()

    def _warm(self) -> None:
        # The first task of a new process takes half a second longer, which must not count as the workload's.
        warm_up = ray.remote(ray_task.warm_up)
        due = {
            warm_up.options(num_cpus=1, max_retries=0, label_selector=self._selector(worker)).remote(
                _WARM_S
            ): worker.name
            for worker in self._workers
            for _ in range(worker.slots)
        }
        while due:
            ready, _ = ray.wait(list(due), num_returns=len(due), timeout=_LOOK_S)
            for reference in ready:
                del due[reference]
                # A node that was lost meanwhile is reported at the first poll.
                with contextlib.suppress(*_LOST):
                    ray.get(reference)
            alive = self._alive()
            for reference in [each for each, name in due.items() if name not in alive]:
                del due[reference]
                ray.cancel(reference, force=True)
        if self._wan is not None:
            ray.get(self._wan.in_use.remote())

    def _selector(self, worker: Worker) -> dict[str, str]:
        return {"site": self._fleet.names[worker.site], "ray.io/node-id": worker.name}

    @property
    def workers(self) -> Sequence[Worker]:
        """All workers, including dead ones."""
        return self._workers

    def now(self) -> float:
        """Return the seconds since the executor was made, on the wall clock, which tasks use as well."""
        return time.time() - self._zero

    def launch(self, order: TaskLaunch) -> None:
        """Start work; returns at once."""
        worker = self._workers[order.worker]
        reads = [(read.site, read.size, [piece.handle for piece in read.pieces]) for read in order.reads]
        returns = 1 + order.work.parts
        if order.slot:
            how = self._task.options(
                num_cpus=1, num_returns=returns, max_retries=0, label_selector=self._selector(worker)
            )
        else:
            how = self._movers[order.worker].run.options(num_returns=returns)
        references = how.remote(order.work, worker.site, reads, self._wan)
        all_of_them = references if isinstance(references, list) else [references]
        self._reports[all_of_them[0]] = order, all_of_them[1:]

    def poll(self, timeout: float) -> list[Event]:
        """Return the events since the last call; wait up to ``timeout`` (s) for one."""
        events: list[Event] = self._poll_nodes()
        if not events and self._reports:
            wait_s = min(timeout, _LOOK_S)
            ready, _ = ray.wait(list(self._reports), num_returns=1, timeout=wait_s, fetch_local=False)
            if ready:
                every = len(self._reports)
                ready, _ = ray.wait(list(self._reports), num_returns=every, timeout=0, fetch_local=False)
            events = [self._event(reference) for reference in ready]
        elif not events:
            time.sleep(min(timeout, _LOOK_S))
        return events

    @staticmethod
    def _alive() -> set[str]:
        return {node["NodeID"] for node in ray.nodes() if node["Alive"]}

    def _poll_nodes(self) -> list[Event]:
        if time.monotonic() - self._polled < _LOOK_S:
            return []
        self._polled = time.monotonic()
        alive = self._alive()
        gone = [
            worker.number
            for worker in self._workers
            if worker.name not in alive and worker.number not in self._gone
        ]
        self._gone.update(gone)
        for reference, (order, _) in list(self._reports.items()):
            if order.worker in gone:
                del self._reports[reference]
                ray.cancel(reference, force=order.slot)
        return [Gone(number) for number in gone]

    def _event(self, reference: Any) -> Event:
        order, parts = self._reports.pop(reference)
        try:
            began, read, computed, sizes = ray.get(reference)
            if order.bring:
                parts = ray.get(parts)
        except exceptions.RayTaskError as error:
            cause = error.cause
            return Failed(
                order.key, isinstance(cause, _LOST), f"{type(cause).__name__}: {cause}".splitlines()[0]
            )
        except _LOST as error:
            return Failed(order.key, True, f"{type(error).__name__}: {error}".splitlines()[0])
        pieces = tuple(Piece(order.worker, size, part) for size, part in zip(sizes, parts, strict=True))
        return TaskEnded(order.key, began - self._zero, read - self._zero, computed - self._zero, pieces)

    def in_use(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the current bytes/s on each site's emulated uplink and downlink; 0 without emulation."""
        if self._wan is not None and time.monotonic() - self._measured > _USE_S:
            self._used = np.array(ray.get(self._wan.in_use.remote()))
            self._measured = time.monotonic()
        return self._used[0], self._used[1]

    def close(self) -> None:
        """Cancel running tasks, stop the actors, and call ``stop``."""
        if self._closed:
            return
        self._closed = True
        try:
            for reference, (order, _) in self._reports.items():
                ray.cancel(reference, force=order.slot)
            for actor in (*self._movers, self._wan):
                if actor is not None:
                    ray.kill(actor)
        finally:
            self._stop()
