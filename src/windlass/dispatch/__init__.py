"""Which worker gets this task?

Tasks of milliseconds arrive by the million; each goes at once to one of many workers, and waits in its queue.
A dispatch policy hears of arrivals and completions, sees (some) queue lengths, and names the worker.

Policies, one file each in ``policies/``:

- ``rosella``: proportional sampling on learned rates, the shorter of two queues, and benchmark tasks to learn from.
- ``uniform``, ``round-robin``: blind to queues and speeds.
- ``pot``: the shorter of two queues, drawn uniformly; ``jsq``: the shortest of all.
- ``pss``, ``ppot``, ``ppot-ll``, ``sed``: with known rates; ``sed`` sees all queues too. ``halo``: rates known once.
- ``sparrow``: reservations on several workers; whoever is free first takes the task.
- ``eps-greedy``, ``ucb``: multi-armed bandits.
- ``pull``: workers that are free ask for tasks; a slow one passes on what a fast one would end sooner.
- ``least-outstanding``: the fewest requests of its own under way.

:mod:`~windlass.dispatch.view` validates a choice, :mod:`~windlass.dispatch.compiled` has the form of a compiled policy,
:mod:`~windlass.dispatch.state` the state that it keeps; ``lib/`` has what they share.
:mod:`~windlass.dispatch.context` has what an engine offers to the constructor of a policy.

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
    """Decides where one task runs, at the moment it arrives.

    A class with a ``name`` and these methods, in a file of ``policies/``, is a policy. In addition, it may follow

    - :class:`~windlass.dispatch.compiled.Choosing`: it has compiled functions, which engines then call;
    - :class:`Leaving` and :class:`Joining`: it is informed of workers that go and come back;
    - :class:`Dimensioned`: it was made for a number of workers.
    """

    name: ClassVar[str]

    def arrived(self, now: float) -> None:
        """A task arrived at ``now``, s; ``choose`` is asked next."""
        ...

    def choose(self, queue_lengths: NDArray[np.int64]) -> int:
        """The worker for it, given (n,) tasks at each worker, waiting and running."""
        ...

    def completed(self, worker: int, work: float, seconds: float) -> None:
        """A task of this scheduler ended: ``work`` done in ``seconds`` of the worker's time."""
        ...


@runtime_checkable
class Leaving(Protocol):
    """A policy that keeps track of workers that are gone."""

    def left(self, worker: int) -> None:
        """A worker is gone, and gets no task until it joins again.

        The simulator calls it when the worker goes, and a live engine when it finds the worker lost.

        Parameters
        ----------
        worker
            Its number, from 0.
        """
        ...


@runtime_checkable
class Joining(Protocol):
    """A policy that keeps track of workers that come back."""

    def joined(self, worker: int) -> None:
        """A worker that had left is back. The simulator calls it at that instant.

        Parameters
        ----------
        worker
            Its number, from 0.
        """
        ...


@runtime_checkable
class Dimensioned(Protocol):
    """A policy that was made for a number of workers; a simulation of another number is refused before it begins."""

    @property
    def workers(self) -> int | None:
        """How many workers, present or not; None of a policy that takes any number."""
        ...


def __getattr__(name: str) -> Any:
    # The simulator stands above the decisions and imports them, never the reverse: only who asks for it here,
    # as a user would, gets it, and by name, so that no module of this folder depends on it.
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
    "Rosella",
    "simulate",
]
