"""Dispatch policies as compiled functions over their state, used by the simulator and by live engines.

===========================================================  ==================================================
``choose(lengths, ints, floats)``                            returns the worker for a task, or :data:`REFUSE`; the
                                                             current time is in ``floats``
``completed(worker, work, seconds, own, ints, floats)``      a task ended; ``own`` is 1, or 2 for a benchmark task,
                                                             or 0 if another scheduler had sent it
``changed(kind, worker, rate, ints, floats)``                a worker left or joined, or its true rate is given
``benchmark(now, ints, floats)``                             returns the worker for a benchmark task that is due;
                                                             leaves its work and the next one's time in
                                                             ``floats``
``bind(worker, now, waiting, others, held, fetch, ints,      returns which of the waiting tasks, of all schedulers,
floats)``                                                    a worker should take, from 1 on in the order of arrival;
                                                             0 for none. This scheduler has ``waiting`` of them, the
                                                             others had ``others`` when they last reported. A worker
                                                             with ``held`` tasks requests this one ahead; ``fetch``
                                                             is how long it waits for one that it does not request
                                                             ahead, s
===========================================================  ==================================================

``lengths`` is int64 (n,): tasks at each worker, waiting and running. ``ints`` and ``floats`` are the policy's
state, with the layout of :mod:`windlass.dispatch.state`. Each function returns an int64 and allocates
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar, Protocol, cast, runtime_checkable

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.dispatch.state import (
    BENCHMARK_AT,
    BENCHMARK_WORK,
    COPIES,
    JOINED,
    LEFT,
    OFFERED,
    PRESENT,
    RATE,
    RATES_AT,
    RNG,
    WORKERS,
    change_members,
)
from windlass.dispatch.state import arrived as note_arrival
from windlass.jit import Kernel
from windlass.model import InputError
from windlass.model.values import number
from windlass.policy.registry import capability

#: What ``choose`` returns for a task that the engine must refuse; see :attr:`CompiledDispatch.refusing_at`.
REFUSE = -2

_ints, _floats = types.int64[::1], types.float64[::1]

CHOOSE = types.int64(_ints, _ints, _floats)
COMPLETED = types.int64(types.int64, types.float64, types.float64, types.int64, _ints, _floats)
CHANGED = types.int64(types.int64, types.int64, types.float64, _ints, _floats)
BENCHMARK = types.int64(types.float64, _ints, _floats)
BIND = types.int64(
    types.int64, types.float64, types.int64, types.int64, types.int64, types.float64, _ints, _floats
)


def choosing(function: Callable[..., Any]) -> Kernel:
    """Compile a policy's ``choose``."""
    return Kernel(function, CHOOSE, allocates=False)


def completing(function: Callable[..., Any]) -> Kernel:
    """Compile a policy's ``completed``."""
    return Kernel(function, COMPLETED, allocates=False)


def changing(function: Callable[..., Any]) -> Kernel:
    """Compile a policy's ``changed``."""
    return Kernel(function, CHANGED, allocates=False)


def benchmarking(function: Callable[..., Any]) -> Kernel:
    """Compile a policy's ``benchmark``."""
    return Kernel(function, BENCHMARK, allocates=False)


def binding(function: Callable[..., Any]) -> Kernel:
    """Compile a policy's ``bind``."""
    return Kernel(function, BIND, allocates=False)


def _arrived(now, ints, floats):
    note_arrival(now, ints, floats)
    return 0


def _ignore_completed(worker, work, seconds, own, ints, floats):
    return 0


def _change_members(kind, worker, rate, ints, floats):
    change_members(kind, worker, ints)
    return 0


def _no_benchmark(now, ints, floats):
    floats[BENCHMARK_AT] = np.inf
    return -1


def _always(worker, now, waiting, others, held, fetch, ints, floats):
    return 1


ARRIVED = Kernel(_arrived, BENCHMARK, allocates=False)


@runtime_checkable
class Choosing(Protocol):
    """A policy with compiled functions; :class:`CompiledDispatch` has the other functions, with defaults.

    The simulator's loop then calls the functions, and no method of the policy. :func:`as_compiled` checks
    once per run.
    """

    @property
    def choosing(self) -> Kernel | None:
        """The compiled ``choose``; None if the policy is called through its methods."""
        ...


class CompiledDispatch:
    """Base class that implements a policy's methods with its compiled functions; a policy overrides what it needs.

    A policy's constructor makes the state with :func:`windlass.dispatch.state.make_state`.
    """

    name: ClassVar[str]
    choosing: ClassVar[Kernel]
    completing: ClassVar[Kernel] = completing(_ignore_completed)
    changing: ClassVar[Kernel] = changing(_change_members)
    benchmarking: ClassVar[Kernel] = benchmarking(_no_benchmark)
    binding: ClassVar[Kernel] = binding(_always)

    ints: NDArray[np.int64]
    floats: NDArray[np.float64]
    #: The place in ``ints`` of a number that is not 0 while an engine must refuse tasks that arrive. -1 if the policy
    #: never refuses; its ``choose`` then never returns :data:`REFUSE`.
    refusing_at: int = -1

    @classmethod
    def functions(cls) -> tuple[Kernel, Kernel, Kernel, Kernel, Kernel]:
        """Return the functions that the simulator calls: choose, completed, changed, benchmark, bind."""
        return cls.choosing, cls.completing, cls.changing, cls.benchmarking, cls.binding

    def split(
        self, schedulers: int, rng: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return copies of the state for uncoordinated schedulers, (schedulers, …); the first keeps its stream."""
        ints, floats = np.tile(self.ints, (schedulers, 1)), np.tile(self.floats, (schedulers, 1))
        ints[1:, RNG] = rng.integers(-(2**63), 2**63 - 1, size=schedulers - 1)
        return ints, floats

    def arrived(self, now: float) -> None:
        """Record that a task arrived and is about to be dispatched.

        Parameters
        ----------
        now
            Current time on the engine's clock, s. An earlier time than the last one does not set the clock
            back.

        Raises
        ------
        InputError
            The time is not finite.
        """
        if not -np.inf < now < np.inf:
            raise InputError(f"now is {now}, expected a finite time")
        ARRIVED.ready()(float(now), self.ints, self.floats)

    def choose(self, queue_lengths: NDArray[np.int64]) -> int:
        """Return the worker for the task that has just arrived.

        Parameters
        ----------
        queue_lengths
            (n,) int64, tasks at each worker, waiting and running; contiguous int64 is fastest.

        Returns
        -------
        int
            Index of the worker, from 0.

        Raises
        ------
        InputError
            The array has a wrong length or an invalid queue length, or every worker has left.
        """
        # Call the compiled code directly: checks cost a microsecond, so they run only if it fails.
        try:
            if len(queue_lengths) == self.workers:
                chosen: int = self.choosing.ready()(queue_lengths, self.ints, self.floats)
                if chosen >= 0:
                    return chosen
        except TypeError:
            pass
        return self._choose_checked(queue_lengths)

    def _choose_checked(self, queue_lengths: object) -> int:
        lengths = np.asarray(queue_lengths)
        if lengths.shape != (self.workers,) or lengths.dtype.kind not in "iu":
            found = f"shape {lengths.shape} of {lengths.dtype}"
            raise InputError(
                f"queue_lengths has {found}, expected {self.workers} whole numbers, one for each worker"
            )
        if lengths.min() < 0:
            worker = int(np.argmin(lengths))
            raise InputError(f"queue_lengths: worker {worker} has {lengths[worker]}, expected 0 or more")
        if self.ints[PRESENT] == 0:
            raise InputError("queue_lengths: every worker has left, expected at least one that is present")
        # If tasks wait with their scheduler, the turn of workers begins again.
        self.ints[OFFERED] = 0
        return int(self.choosing.ready()(np.ascontiguousarray(lengths, np.int64), self.ints, self.floats))

    def completed(self, worker: int, work: float, seconds: float) -> None:
        """Record that a task that this scheduler sent has ended.

        Parameters
        ----------
        worker
            Index of the worker.
        work
            Work of the task, in the unit that rates have per second; 1 if tasks are equal or unknown.
        seconds
            How long the worker was busy with it, without waiting, s.

        Raises
        ------
        InputError
            The worker does not exist, or a number is negative or not finite.
        """
        self._end(worker, work, seconds, 1)

    def reported(self, worker: int, work: float, seconds: float) -> None:
        """Record a task that another scheduler had sent; parameters as in :meth:`completed`."""
        self._end(worker, work, seconds, 0)

    def benchmarked(self, worker: int, work: float, seconds: float) -> None:
        """Record that a benchmark task of this scheduler ended; parameters as in :meth:`completed`."""
        self._end(worker, work, seconds, 2)

    def _end(self, worker: int, work: float, seconds: float, own: int) -> None:
        self._check_worker(worker)
        at_least_0 = 0 <= work < np.inf and 0 <= seconds < np.inf
        if not at_least_0:
            name, value = ("seconds", seconds) if 0 <= work < np.inf else ("work", work)
            raise InputError(f"{name} is {value}, expected a finite number of at least 0")
        self.completing.ready()(int(worker), float(work), float(seconds), own, self.ints, self.floats)

    def left(self, worker: int) -> None:
        """Record that a worker is gone; it gets no task until it joins again."""
        self._check_worker(worker)
        self.changing.ready()(LEFT, int(worker), 0.0, self.ints, self.floats)

    def joined(self, worker: int) -> None:
        """Record that a worker that had left is back."""
        self._check_worker(worker)
        self.changing.ready()(JOINED, int(worker), 0.0, self.ints, self.floats)

    def set_rate(self, worker: int, rate: float) -> None:
        """Set the true rate of a worker, work/s, for policies that assume it known; others ignore it."""
        self._check_worker(worker)
        self.changing.ready()(RATE, int(worker), number("rate", rate, 0.0), self.ints, self.floats)

    @property
    def workers(self) -> int:
        """Number of workers that the policy was made for, present or not."""
        return int(self.ints[WORKERS])

    @property
    def rates(self) -> NDArray[np.float64] | None:
        """(n,) the policy's estimates of the workers' rates, work/s; None if it has none."""
        first = int(self.ints[RATES_AT])
        return None if first < 0 else self.floats[first : first + self.workers].copy()

    @property
    def estimated_rates(self) -> NDArray[np.float64] | None:
        """(n,) estimates of the workers' rates, work/s, without a margin of ``rates``; None if it has none."""
        return self.rates

    @property
    def reservations(self) -> int:
        """Reservations per task for an engine with late binding; 0 if it needs none."""
        return max(0, int(self.ints[COPIES]))

    @property
    def binds_late(self) -> bool:
        """Whether tasks wait for a worker: with reservations, or with their scheduler, see :meth:`offers`."""
        return bool(self.ints[COPIES] != 0)

    @property
    def benchmark_at(self) -> float:
        """Time of the next benchmark task, s; infinity if the policy sends none."""
        return float(self.floats[BENCHMARK_AT])

    def benchmark(self, now: float) -> tuple[int, float] | None:
        """Return the worker and the work of a benchmark task that is due, to run at low priority; None if not due."""
        if not now >= self.benchmark_at:
            return None
        worker = int(self.benchmarking.ready()(float(now), self.ints, self.floats))
        return (worker, float(self.floats[BENCHMARK_WORK])) if worker >= 0 else None

    def offers(self) -> Iterator[int]:
        """Yield the workers in the order in which tasks that wait with this scheduler are offered to them."""
        lengths = np.zeros(self.workers, np.int64)
        choose = self.choosing.ready()
        self.ints[OFFERED] = 0
        while (worker := int(choose(lengths, self.ints, self.floats))) >= 0:
            yield worker

    def takes(
        self,
        worker: int,
        now: float,
        waiting: int,
        others: int = 0,
        *,
        held: int = 0,
        fetch: float = 0.0,
    ) -> int:
        """Return which of the waiting tasks a worker should take, from 1 on in the order of arrival; 0 for none.

        This scheduler has ``waiting`` of them, and the others had ``others`` when they last reported. A worker with
        ``held`` tasks requests this one ahead. ``fetch`` is how long a worker waits for a task that it does not request
        ahead, s.
        """
        self._check_worker(worker)
        bind = self.binding.ready()
        numbers = int(worker), float(now), int(waiting), int(others), int(held), float(fetch)
        return int(bind(*numbers, self.ints, self.floats))

    def _check_worker(self, worker: int) -> None:
        if not 0 <= worker < self.workers:
            raise InputError(f"worker is {worker}, expected 0 to {self.workers - 1}")


def as_compiled(policy: object) -> CompiledDispatch | None:
    """Return the policy with its compiled functions, or None if it has none and is called through its methods.

    >>> from windlass.dispatch.policies.jsq import Jsq
    >>> as_compiled(Jsq(3, np.random.default_rng(1))).workers
    3
    """
    found = capability(policy, Choosing)
    return None if found is None or found.choosing is None else cast(CompiledDispatch, policy)
