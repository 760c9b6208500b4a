"""A pool of workers on a Ray cluster: each call is a task of one CPU, which Ray retries if its worker is lost."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import psutil
import ray
from pydantic import BaseModel
from ray import exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from windlass.engines.ray import remote_version
from windlass.engines.ray.cluster import MOST_SLOTS, PrivateCluster
from windlass.engines.ray.join import connect, reach
from windlass.engines.worker_pool import Crew, Crews
from windlass.model.errors import ParameterError
from windlass.model.fleet import Fleet
from windlass.model.version import version as own_version
from windlass.policy.user_code import refuse_to_leave

#: Retries of a call that was lost with its worker. Several nodes may be lost one after the other.
_AGAIN = 5
_ANSWER_S = 120.0


@dataclass(frozen=True, slots=True)
class Carried:
    """A file that calls read, for nodes that lack it.

    Parameters
    ----------
    digest
        The digest of its content.
    content
        Ray's reference to the content.
    """

    digest: str
    content: Any


class RayCrew:
    """Runs calls on the connected cluster.

    Parameters
    ----------
    files
        Files that calls read and other machines may lack. A setting that names one is changed to name a copy there.
    """

    def __init__(self, files: Sequence[Path] = ()) -> None:
        self._files = {str(file): _carried(file) for file in files}
        self._task = ray.remote(call).options(num_cpus=1, max_retries=_AGAIN)

    def size(self) -> int:
        """Return the cluster's current number of CPUs."""
        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def share(self, value: Any) -> Any:
        """Return a reference, so that the value is sent to a node only once."""
        return ray.put(value)

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Call a function on any free CPU of the cluster."""
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        reference = self._task.remote(self._files, function, *arguments)
        reference.future().add_done_callback(partial(_hand_over, future))
        return future


def _hand_over(future: Future[Any], ended: Future[Any]) -> None:
    error = ended.exception()
    if error is None:
        future.set_result(ended.result())
    elif isinstance(error, exceptions.RayTaskError):
        future.set_exception(error.cause if isinstance(error.cause, Exception) else error)
    else:
        future.set_exception(BrokenExecutor(next(iter(str(error).splitlines()), type(error).__name__)))


def call(files: Mapping[str, Carried], function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function; settings that name files that are missing here are changed to name their copies."""
    _refuse()
    copies = {name: copy for name, file in files.items() if (copy := _copy(name, file)) != name}
    return function(*(_named(argument, copies) if copies else argument for argument in arguments))


@cache
def _refuse() -> None:
    refuse_to_leave()


def _copy(name: str, file: Carried) -> str:
    """Return the file's path here: its own, or that of a copy in a folder of this process."""
    if _digest(Path(name)) == file.digest:
        return name
    place = _folder() / file.digest / Path(name).name
    if not place.exists():
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(ray.get(file.content))
    return str(place)


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="windlass-files-"))


@cache
def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def _carried(file: Path) -> Carried:
    content = file.read_bytes()
    return Carried(hashlib.sha256(content).hexdigest(), ray.put(content))


def _named(argument: Any, copies: Mapping[str, str]) -> Any:
    """Return a setting with the names of files replaced by those of copies; anything else unchanged."""
    if not isinstance(argument, BaseModel):
        return argument
    return type(argument).model_validate(_renamed(argument.model_dump(), copies))


def _renamed(tree: Any, copies: Mapping[str, str]) -> Any:
    if isinstance(tree, dict):
        return {_renamed(key, copies): _renamed(value, copies) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return type(tree)(_renamed(each, copies) for each in tree)
    if isinstance(tree, str | Path):
        # For example mine.py:Widest.
        name, colon, rest = str(tree).partition(":")
        return type(tree)(f"{copies[name]}{colon}{rest}") if name in copies else tree
    return tree


def crews(address: str | None, nodes: int, files: Sequence[Path]) -> Crews:
    """Return pools on a private cluster with ``nodes`` raylets, or on a user's cluster, which must answer now.

    Raises
    ------
    InputError
        No cluster answers at the address, or there are too many raylets.
    """
    if address is not None:
        reach(address, "on")
        return partial(_somebodys, address, files)
    if nodes > MOST_SLOTS:
        raise ParameterError("nodes", f"{nodes}, expected at most {MOST_SLOTS} raylets on one machine")
    return partial(_private, nodes)


@contextmanager
def _private(nodes: int) -> Iterator[Crew]:
    slots = min(max(nodes, psutil.cpu_count() or 1), MOST_SLOTS)
    cluster = PrivateCluster(Fleet.of([slots], [1.0], [1.0], names=("cells",)), nodes)
    try:
        yield RayCrew()
    finally:
        cluster.close()


@contextmanager
def _somebodys(address: str, files: Sequence[Path]) -> Iterator[Crew]:
    connect(address, "on")
    try:
        _check_versions()
        yield RayCrew(files)
    finally:
        ray.shutdown()


def _check_versions() -> None:
    """Reject a cluster with another version of Windlass.

    Raises
    ------
    InputError
        A node has no Windlass, or another version.
    """
    ray.cloudpickle.register_pickle_by_value(remote_version)
    nodes = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU", 0) >= 1]
    if not nodes:
        raise ParameterError("on", "no node of this Ray cluster has a CPU")
    remote = ray.remote(remote_version.version)
    pending = [
        remote.options(
            num_cpus=0,
            max_retries=_AGAIN,
            scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=True),
        ).remote()
        for node in nodes
    ]
    try:
        found = ray.get(pending, timeout=_ANSWER_S)
    except exceptions.GetTimeoutError as error:
        raise ParameterError(
            "on", f"a node of this Ray cluster did not answer within {_ANSWER_S:g} s"
        ) from error
    for node, version in zip(nodes, found, strict=True):
        if version != own_version():
            raise ParameterError(
                "on",
                f"node {node['NodeManagerAddress']} has {f'Windlass {version}' if version else 'no Windlass'},"
                f" expected {own_version()} as here: results could differ",
            )
