"""A private Ray cluster on this machine, with one or more raylets per site.

It listens on loopback only, and accepts only requests with its own token: a client of a Ray cluster can run any code as
the cluster's user.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil
import ray
from ray.cluster_utils import Cluster

from windlass.engines.ray import orphans, token
from windlass.engines.ray.join import join, own_signals, refuse_if_connected
from windlass.model import InputError
from windlass.model.errors import ParameterError
from windlass.model.fleet import Fleet

#: The most slots on one machine, as each is a process.
MOST_SLOTS = 64
#: Bounds of a node's object store, bytes.
_LEAST_STORE, _MOST_STORE = 100 * 2**20, 2 * 2**30
#: Settings that detect a dead node within two seconds.
_HEALTH = {
    "health_check_initial_delay_ms": 500,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 3,
}
#: Attempts to start: Ray gives each process of a node 15 s, which a busy machine may exceed.
_TRIES = 3
_GRACE_S = 5.0
_LOOK_S = 0.1
_SHORT = "/tmp"
_LOOPBACK = "127.0.0.1"
_log = logging.getLogger(__name__)


class PrivateCluster:
    """Raylets on this machine, which end with :meth:`close` or with this process.

    Parameters
    ----------
    fleet
        Sites and their slots.
    nodes
        Raylets per site; its slots are divided among them.
    store
        Data that a node must be able to hold, bytes.

    Raises
    ------
    InputError
        The slots or the data exceed what one machine should run, this process is already connected to a Ray cluster,
        or Ray does not start in several attempts.
    """

    def __init__(self, fleet: Fleet, nodes: int = 1, store: int = 0) -> None:
        check_size(fleet, store)
        refuse_if_connected()
        self._folder: str | None = None
        self._cluster: Cluster | None = None
        for tries_left in reversed(range(_TRIES)):
            try:
                self._start(fleet, nodes, min(max(store, _LEAST_STORE), _MOST_STORE))
            except BaseException as error:
                self.close()
                if not isinstance(error, Exception):
                    raise
                reason = (str(error) or repr(error)).splitlines()[0]
                if tries_left == 0:
                    raise ParameterError("engine", f"Ray does not start on this machine: {reason}") from error
                _log.warning("Ray did not start; trying again: %s", reason)
            else:
                return

    def _start(self, fleet: Fleet, nodes: int, capacity: int) -> None:
        self._cluster, self._joined = None, False
        self.nodes: dict[str, list[object]] = {}
        # Sockets are in this folder, and their paths are limited in length.
        self._folder = tempfile.mkdtemp(
            prefix="windlass-ray-", dir=_SHORT if os.access(_SHORT, os.W_OK) else None
        )
        self._watchdog = orphans.watch(self._folder)
        # Ray's own exit handlers, which run before this one, create the folder again after a raylet has died.
        atexit.register(remove_folder, self._folder)
        admitted = token.write(Path(self._folder))
        paths = {"RAY_TMPDIR": self._folder, "PYTHONPATH": orphans.import_path()}
        with environment(**admitted, **paths), own_signals():
            token.read_again()
            self._cluster = Cluster(
                initialize_head=True,
                connect=False,
                head_node_args={
                    "num_cpus": 0,
                    "node_ip_address": _LOOPBACK,
                    "object_store_memory": _LEAST_STORE,
                    "include_dashboard": False,
                    "_system_config": _HEALTH,
                },
            )
            for name, slots in zip(fleet.names, fleet.slots.tolist(), strict=True):
                shares = [slots // nodes + (1 if at < slots % nodes else 0) for at in range(nodes)]
                self.nodes[name] = [
                    self._cluster.add_node(
                        num_cpus=share,
                        labels={"site": name},
                        node_ip_address=_LOOPBACK,
                        object_store_memory=capacity,
                    )
                    for share in shares
                    if share > 0
                ]
            join(self.address)
            self._joined = True

    @property
    def address(self) -> str:
        """The address at which other processes may join."""
        assert self._cluster is not None
        return str(self._cluster.address)

    @property
    def admits(self) -> dict[str, str]:
        """Environment variables with which other processes of this user may join."""
        assert self._folder is not None
        return {name: value for name, value in token.variables(Path(self._folder)).items() if value}

    def whole(self) -> bool:
        """Return whether all started nodes are alive."""
        alive = sum(1 for node in ray.nodes() if node["Alive"])
        return alive == 1 + sum(len(own) for own in self.nodes.values())

    def close(self) -> None:
        """Stop the raylets with all their processes, and nothing else."""
        folder, self._folder = self._folder, None
        if folder is None:
            return
        started = processes_of(folder)
        try:
            if self._joined:
                ray.shutdown()
            if self._cluster is not None:
                self._cluster.shutdown()
        finally:
            _, left = psutil.wait_procs(started, timeout=_GRACE_S)
            for process in left:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            psutil.wait_procs(left, timeout=_GRACE_S)
            token.read_again()
            remove_folder(folder)
            self._watchdog.communicate()


def check_size(fleet: Fleet, store: int) -> None:
    """Reject a cluster that is too large for one machine.

    Raises
    ------
    InputError
        The message has the number of slots or bytes, and the limit.
    """
    slots = int(fleet.slots.sum())
    if slots > MOST_SLOTS:
        raise InputError(
            f"cluster: {slots} slots need as many processes on this machine, expected at most {MOST_SLOTS};"
            " make the scenario smaller, or give the address of a cluster"
        )
    if store > _MOST_STORE:
        raise InputError(
            f"workload: {store:,} bytes of data could lie at one site, expected at most {_MOST_STORE:,} for a"
            " cluster on this machine; make task_bytes smaller, or give the address of a cluster"
        )


def processes_of(folder: str) -> list[psutil.Process]:
    """Return the processes with this cluster's folder in their command line, and all their descendants."""
    found: dict[int, psutil.Process] = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if any(folder in part for part in process.cmdline()) and process.pid != os.getpid():
                found |= {one.pid: one for one in (process, *process.children(recursive=True))}
    return list(found.values())


def remove_folder(folder: str) -> None:
    """Remove a folder, with retries while the last processes that write to it end."""
    until = time.monotonic() + _GRACE_S
    while os.path.exists(folder) and time.monotonic() < until:
        shutil.rmtree(folder, ignore_errors=True)
        time.sleep(_LOOK_S)


@contextlib.contextmanager
def environment(**values: str | None) -> Iterator[None]:
    """Set or unset environment variables for a while; processes started meanwhile keep these values."""
    before = {name: os.environ.get(name) for name in values}
    _set(values)
    try:
        yield
    finally:
        _set(before)


def _set(values: Mapping[str, str | None]) -> None:
    for name, value in values.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
