"""How the nodes' answers reach tasks: at the choice of a node, or when a node takes a task that waits."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from windlass.dispatch.compiled import CompiledDispatch
from windlass.jit import Kernel
from windlass.sim.telemetry.answers import Counts, counts, set_answers
from windlass.sim.telemetry.late_gate import UPDATE, set_late_answers
from windlass.sim.telemetry.pressure import QUEUED
from windlass.sim.workers.membership import SEND_WAITING
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.state import WorkersProgress


class Binding(Protocol):
    """Binding of tasks to nodes under a gated policy."""

    def received(self) -> NDArray[np.float64]:
        """Return (t,) when a node received each task, s; NaN before."""
        ...

    def waiting_at(self, tasks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return (t,) the node at which each task waits, or -1; entries of running or ended tasks are not used.

        Parameters
        ----------
        tasks
            The tasks that were unfinished when this was called last: those may have lost their node since.
        """
        ...

    def answer(self, limits: NDArray[np.int64], now: float) -> None:
        """Let nodes answer: ``limits`` is (n,) most tasks that each has at once from ``now`` (s) on."""
        ...

    def counts(self) -> Counts:
        """Return the tasks by answer until now."""
        ...


class AtOnce:
    """Tasks are sent to a node when they arrive, which accepts or rejects them; a :class:`Binding`.

    Parameters
    ----------
    workers
        Workers under a gated policy.
    """

    kernels: tuple[Kernel, ...] = (QUEUED,)

    def __init__(self, workers: WorkersPart) -> None:
        self._workers = workers
        self._at = np.full(len(workers.state.submit), -1)

    def received(self) -> NDArray[np.float64]:
        """Return the arrivals."""
        return self._workers.state.submit

    def waiting_at(self, tasks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the node in whose queue each task waits."""
        state = self._workers.state
        self._at[tasks] = -1
        QUEUED.ready()(np.ascontiguousarray(state.line["head"]), state.after, self._at)
        return self._at

    def answer(self, limits: NDArray[np.int64], now: float) -> None:
        """Set the answers for the tasks that arrive next."""
        set_answers(self._workers.state.ints, limits)

    def counts(self) -> Counts:
        """Return the tasks by the answer of their first choice."""
        return counts(self._workers.state.ints)


class Late:
    """Tasks wait until a node that accepts takes them; a :class:`Binding`.

    A waiting task is at no node. A task counts when it first starts: as accepted, or as forced if its node rejects,
    which happens only while all nodes reject.

    Parameters
    ----------
    workers
        Workers under a gated policy, with starts and workers of tasks recorded.
    """

    kernels: tuple[Kernel, ...] = (UPDATE, SEND_WAITING)

    def __init__(self, workers: WorkersPart) -> None:
        self._workers, self._progress = workers, WorkersProgress.of(workers.state.progress)
        self._nowhere = np.full(len(workers.state.submit), -1)
        self._rejects = np.zeros(len(workers.state.base), np.bool_)
        self._waiting: NDArray[np.int64] = np.zeros(0, np.int64)
        self._arrived = self._started = self._forced = 0

    def received(self) -> NDArray[np.float64]:
        """Return the starts."""
        return self._workers.state.start

    def waiting_at(self, tasks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return no node for any task."""
        return self._nowhere

    def answer(self, limits: NDArray[np.int64], now: float) -> None:
        """Set the answers; where they change which nodes take tasks, offer or place anew what waits."""
        self._count()
        self._rejects = limits == 0
        if set_late_answers(self._workers.state.ints, limits):
            self._workers.send_waiting(now)

    def counts(self) -> Counts:
        """Return the tasks by the answer of the node that started them."""
        self._count()
        return Counts(self._started - self._forced, 0, self._forced)

    def _count(self) -> None:
        """Count the tasks that have started since the last call, under the same answers."""
        arrived = self._progress.arrived
        waiting = np.concatenate([self._waiting, np.arange(self._arrived, arrived)])
        node = self._workers.state.worker[waiting]
        started = node >= 0
        self._started += int(started.sum())
        self._forced += int(self._rejects[node[started]].sum())
        self._waiting, self._arrived = waiting[~started], arrived


def binding_of(workers: WorkersPart) -> Binding:
    """Return the binding under the policy of these workers.

    Parameters
    ----------
    workers
        Workers under a gated policy, with starts and workers of tasks recorded.
    """
    return Late(workers) if workers.binds_late else AtOnce(workers)


def binding_kernels(policy: CompiledDispatch) -> tuple[Kernel, ...]:
    """Return the compiled functions that the binding under a gated policy uses.

    Parameters
    ----------
    policy
        The gated policy.
    """
    return Late.kernels if policy.binds_late else AtOnce.kernels
