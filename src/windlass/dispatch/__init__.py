"""The worker to which each task is sent, decided when the task arrives.

Tasks of milliseconds arrive by the million; each is sent at once to one of many workers, and waits in its
queue. A dispatch policy is notified of arrivals and completions, sees some or all queue lengths, and returns
a worker.

Policies, one file each in ``policies/``:

- ``rosella``: proportional sampling on learned rates, the shorter of two queues, and benchmark tasks to learn
  from.
- ``uniform``, ``round-robin``: without queues and rates.
- ``pot``: the shorter of two queues, drawn uniformly; ``jsq``: the shortest of all.
- ``pss``, ``ppot``, ``ppot-ll``, ``sed``: with known rates; ``sed`` also sees all queues. ``halo``: with
  initial rates.
- ``sparrow``: reservations on several workers; the first free one takes the task.
- ``eps-greedy``, ``ucb``: multi-armed bandits.
- ``pull``: free workers request tasks; a slow one passes on what a fast one would finish sooner.
- ``least-outstanding``: the fewest outstanding requests of its own; ``peak-ewma``: the same times a latency.

:mod:`~windlass.dispatch.view` validates a choice. :mod:`~windlass.dispatch.compiled` has the interface of
compiled policies, :mod:`~windlass.dispatch.state` the layout of their state. ``lib/`` has parts that several
policies share. :mod:`~windlass.dispatch.context` lists the constructor arguments that an engine offers to a
policy.

>>> from windlass.dispatch import POLICIES
>>> "rosella" in POLICIES.names()
True
"""

from __future__ import annotations

import importlib
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from windlass.dispatch.context import DispatchContext
from windlass.dispatch.policies.rosella import Rosella
from windlass.policy.registry import Registry

POLICIES = Registry(
    "dispatch", "Which worker gets this task?", "a task arrives", f"{__name__}.policies", method="choose"
)


class DispatchPolicy(Protocol):
    """A policy that decides where a task runs, at the moment it arrives.

    A class with a ``name`` and these methods, in a file of ``policies/``, is a policy. It may also implement

    - :class:`~windlass.dispatch.compiled.Choosing`: it has compiled functions, which engines then call;
    - :class:`Leaving` and :class:`Joining`: it is notified of workers that leave and return;
    - :class:`Dimensioned`: it was made for a number of workers.
    - :class:`Probing`: it sends messages to workers, which take time.
    """

    name: ClassVar[str]

    def arrived(self, now: float) -> None:
        """Record that a task arrived at ``now`` (s); ``choose`` is called next."""
        ...

    def choose(self, queue_lengths: NDArray[np.int64]) -> int:
        """Return the worker for the task, given (n,) tasks at each worker, waiting and running."""
        ...

    def completed(self, worker: int, work: float, seconds: float) -> None:
        """Record that a task of this scheduler ended: ``work`` done in ``seconds`` of the worker's time."""
        ...


@runtime_checkable
class Leaving(Protocol):
    """A policy that keeps track of workers that leave."""

    def left(self, worker: int) -> None:
        """Record that a worker is gone; it gets no task until it joins again.

        The simulator calls this when the worker leaves, and a live engine when it finds the worker lost.

        Parameters
        ----------
        worker
            Index of the worker, from 0.
        """
        ...


@runtime_checkable
class Joining(Protocol):
    """A policy that keeps track of workers that return."""

    def joined(self, worker: int) -> None:
        """Record that a worker that had left is back. The simulator calls this at that instant.

        Parameters
        ----------
        worker
            Index of the worker, from 0.
        """
        ...


@runtime_checkable
class Dimensioned(Protocol):
    """A policy made for a number of workers; a simulation of another number is refused before it starts."""

    @property
    def workers(self) -> int | None:
        """Number of workers, present or not; None if the policy takes any number."""
        ...


@runtime_checkable
class Probing(Protocol):
    """A policy that sends probes or reservations to workers, for which a task may have to wait."""

    @property
    def probe_trips(self) -> float:
        """Round trips before a task reaches a worker.

        1 if a task waits for the answers of its probes, 0.5 if it waits for reservations to arrive, and 0 if answers
        serve later tasks.
        """
        ...


def __getattr__(name: str) -> Any:
    # The simulator imports the decisions, never the reverse. It is imported here by name and only on access,
    # so that no module of this package depends on it.
    if name == "simulate":
        return importlib.import_module("windlass.experiment.dispatching").simulate
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "POLICIES",
    "Dimensioned",
    "DispatchContext",
    "DispatchPolicy",
    "Joining",
    "Leaving",
    "Probing",
    "Rosella",
    "simulate",
]
