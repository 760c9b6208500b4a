"""Who runs the cells of a scenario that is simulated: processes of this machine, or a Ray cluster."""

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

from windlass.engines.address import ray_head, said
from windlass.model import InputError
from windlass.policy.user_code import refuse_to_leave


class Crew(Protocol):
    """Carries out calls elsewhere, several at a time, and begins them in the order in which they came."""

    def size(self) -> int:
        """How many calls are carried out at once, as far as is known now."""
        ...

    def share(self, value: Any) -> Any:
        """What to hand to :meth:`submit` in the place of a large value that many calls take."""
        ...

    def submit(self, function: Callable[..., Any], /, *arguments: Any) -> Future[Any]:
        """What will be known once a function of a module has been called, or ``BrokenExecutor`` where all of its
        workers were lost."""
        ...


#: Has a crew ready, and lets it go at the end; where that is by an error, nobody waits for calls.
Crews = Callable[[], AbstractContextManager[Crew]]


@contextmanager
def processes(number: int) -> Iterator[Crew]:
    """So many processes on this machine, which end with this one, however it ends.

    Examples
    --------
    >>> with processes(2) as crew:
    ...     crew.submit(max, 3, 7).result()
    7
    """
    # A forked process would inherit the locks of the threads of polars and Numba.
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
            # Told as for the calls that were at work just then, whoever looks at them first.
            lost: Future[Any] = Future()
            lost.set_exception(error)
            return lost


def _begin() -> None:
    _end_with_parent()
    refuse_to_leave()


def _end_with_parent() -> None:
    """Have a worker end when who started it is gone, however that ended."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            multiprocessing.connection.wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=wait, name="end with parent", daemon=True).start()


def crews_on(where: str, nodes: int = 1, files: Iterable[Path] = ()) -> Crews:
    """Crews on what a user named; nothing is started yet.

    Parameters
    ----------
    where
        ``ray`` for a private cluster on this machine, or ``ray:HOST:PORT`` for one that somebody runs.
    nodes
        Raylets of a private cluster.
    files
        What calls read: who works on another machine gets copies.

    Raises
    ------
    InputError
        It is none of these, or Ray is not installed.

    Examples
    --------
    >>> crews_on("slurm")
    Traceback (most recent call last):
    windlass.model.errors.InputError: --on: 'slurm', expected ray, or ray:HOST:PORT for a cluster that runs already
    """
    engine, colon, address = where.partition(":")
    if engine != "ray" or bool(colon) != bool(address):
        raise InputError(
            f"--on: {said(where)!r}, expected ray, or ray:HOST:PORT for a cluster that runs already"
        )
    if address:
        ray_head("--on", address)
    try:
        module = importlib.import_module("windlass.engines.ray.worker_pool")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("windlass"):
            raise
        raise InputError(
            f"--on: ray is not installed ({error.name} is missing); where Windlass' source is: pip install '.[ray]'"
        ) from error
    made: Crews = module.crews(address or None, nodes, tuple(files))
    return made
