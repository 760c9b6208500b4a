"""Pools that run the cells of a simulated scenario: processes of this machine, or a Ray cluster."""

from __future__ import annotations

import importlib
import multiprocessing
import multiprocessing.connection
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from windlass.engines.address import ray_head, shorten
from windlass.model.errors import ParameterError
from windlass.policy.user_code import refuse_to_leave


class Crew(Protocol):
    """A pool that runs calls in other processes, several at a time, in the order of submission."""

    def size(self) -> int:
        """Return the number of calls that currently run at once, as far as known."""
        ...

    def share(self, value: Any) -> Any:
        """Return what to pass to :meth:`submit` instead of a large value that many calls take."""
        ...

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """Submit a call of a module's function; its future raises ``BrokenExecutor`` if all workers were lost."""
        ...


#: Opens a pool and closes it at the end; after an error it does not wait for pending calls.
Crews = Callable[[], AbstractContextManager[Crew]]


@contextmanager
def processes(number: int) -> Iterator[Crew]:
    """Open a pool of processes on this machine; they end when this process ends, even if it is killed.

    Examples
    --------
    >>> with processes(2) as crew:
    ...     crew.submit(max, 3, 7).result()
    7
    """
    # A forked process would inherit locks held by threads of polars and Numba.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=number, mp_context=context, initializer=_begin) as pool:
        try:
            yield _Processes(pool, number)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class _Processes:
    def __init__(self, pool: ProcessPoolExecutor, number: int) -> None:
        self._pool, self._number = pool, number

    def size(self) -> int:
        return self._number

    def share(self, value: Any) -> Any:
        return value

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        try:
            return self._pool.submit(function, *arguments)
        except BrokenExecutor as error:
            # Fail the future, as for calls that were running, so that the caller handles one kind of error.
            lost: Future[Any] = Future()
            lost.set_exception(error)
            return lost


def _begin() -> None:
    _end_with_parent()
    refuse_to_leave()


def _end_with_parent() -> None:
    """Make a worker end when its parent process ends or is killed."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            multiprocessing.connection.wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=wait, name="end with parent", daemon=True).start()


def crews_on(where: str, nodes: int = 1, files: Iterable[Path] = ()) -> Crews:
    """Return a factory of pools on the target that a user named; nothing is started yet.

    Parameters
    ----------
    where
        ``ray`` for a private cluster on this machine, or ``ray:HOST:PORT`` for a user's cluster.
    nodes
        Number of raylets of a private cluster.
    files
        Files that calls read, which are copied to other machines.

    Raises
    ------
    InputError
        The target is unknown, or Ray is not installed.

    Examples
    --------
    >>> crews_on("slurm")
    Traceback (most recent call last):
    windlass.model.errors.ParameterError: on: 'slurm', expected ray, or ray:HOST:PORT for a running cluster
    """
    engine, colon, address = where.partition(":")
    if engine != "ray" or bool(colon) != bool(address):
        raise ParameterError(
            "on", f"{shorten(where)!r}, expected ray, or ray:HOST:PORT for a running cluster"
        )
    if address:
        ray_head("on", address)
    try:
        module = importlib.import_module("windlass.engines.ray.worker_pool")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("windlass"):
            raise
        raise ParameterError(
            "on",
            f"ray is not installed ({error.name} is missing); in a checkout of Windlass, run"
            " pip install '.[ray]'",
        ) from error
    made: Crews = module.crews(address or None, nodes, tuple(files))
    return made
