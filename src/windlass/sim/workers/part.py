"""The part of small tasks on workers: a dispatch policy says which worker gets each task."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.dispatch import DispatchPolicy
from windlass.dispatch.compiled import as_compiled
from windlass.jit import Kernel
from windlass.model import InputError, PolicyError
from windlass.sim.events.tree import next_time
from windlass.sim.handle import Handle
from windlass.sim.nodes import KERNELS as LEDGER_KERNELS
from windlass.sim.nodes import Ledger, LedgerCounts
from windlass.sim.part import Due, Loop, Quiet
from windlass.sim.status import FULL, REACHED
from windlass.sim.workers import slots
from windlass.sim.workers.loop import BAD_CHOICE, KERNELS, RUN, SETTLE, STORE
from windlass.sim.workers.python_policy import UNUSED, PythonPolicyCall
from windlass.sim.workers.result import Dispatched
from windlass.sim.workers.setup import Setup, make_workers, with_more_log
from windlass.sim.workers.state import NOBODY, WorkersRun, WorkersState

_STEPS_BETWEEN_REPORTS = 2_000_000
_DISPATCH = "dispatch"


def kernels(policy: DispatchPolicy) -> tuple[Kernel, ...]:
    """What workers under this policy need compiled."""
    compiled = as_compiled(policy)
    return (*LEDGER_KERNELS, *(UNUSED if compiled is None else compiled.functions()), *KERNELS)


class WorkersPart(Quiet):
    """Small tasks on workers: see :class:`windlass.sim.part.Part`.

    Where workers stand on the nodes of a site, one on each, tasks take no cores: a worker has the share of its speed
    that others leave idle of its node's cores, and never less than a floor. On a node without cores it is down.

    Parameters
    ----------
    setup
        The workers, and how the simulation is made.
    policy
        Of which a copy is driven.
    submit, work
        (t,) when tasks arrive, s, and their work.
    rng
        Draws which scheduler gets each job.
    ledger, site
        On whose rows the workers stand, worker by row; None for workers by themselves.
    floor
        Least share of its speed that a worker keeps while its node has cores at all.
    progress
        Called now and then with the number of tasks done.

    Raises
    ------
    InputError
        The site has not as many rows as there are workers, or the policy cannot be driven as asked.
    """

    def __init__(
        self,
        setup: Setup,
        policy: DispatchPolicy,
        submit: NDArray[np.float64],
        work: NDArray[np.float64],
        rng: np.random.Generator,
        *,
        ledger: Ledger | None = None,
        site: int = 0,
        floor: float = 0.05,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        compiled = as_compiled(policy)
        self._setup, self._name, self._progress = setup, policy.name, progress or (lambda _: None)
        self._asked = PythonPolicyCall(policy) if compiled is None else None
        state = make_workers(setup, compiled, submit, work, rng)
        state.clock[slots.FLOOR] = floor
        functions = UNUSED if compiled is None else compiled.functions()
        choose, completed, changed, benchmark, bind = (kernel.as_argument() for kernel in functions)
        nodes = (ledger or Ledger([[0]], parts=0)).nodes
        worker_of = _standing(ledger, site, len(setup.speeds))
        self._run = WorkersRun(choose, completed, changed, benchmark, bind, nodes, worker_of, state)
        self._handle, self._settle = Handle(self._run, STORE), SETTLE.entry()
        self._loop = Loop(RUN.entry(), self._handle, _STEPS_BETWEEN_REPORTS, self._tell, self._grow)
        self._done, self._for_ever = -1, False
        if ledger is not None:
            # Nodes may have no cores from the beginning, and others may hold some already: as if all had changed.
            rows = ledger.rows(site)
            nodes.taken[: len(rows)], LedgerCounts.of(nodes.counts).taken = rows, len(rows)
            self.settle(0.0)

    def advance(self, until: float) -> float:
        """Run tasks."""
        self._for_ever = until == np.inf
        status = self._loop.until(until)
        while self._asked is not None and self._asked.answer(status, self._run.state):
            self._progress(int(self._run.state.counts[slots.TASKS_DONE]))
            status = self._loop.until(until)
        if status == BAD_CHOICE:
            chosen = int(self._run.state.counts[slots.SUBJECT])
            raise PolicyError(f"chose worker {chosen}, which is down or does not exist", _DISPATCH)
        return until

    def settle(self, now: float) -> None:
        """Workers whose nodes changed get other speeds, fail or come back."""
        while (status := self._settle(self._handle.address, now)) != REACHED:
            if status == FULL:
                self._grow()
            elif self._asked is not None:
                self._asked.answer(status, self._run.state)

    def decide(self, now: float) -> Sequence[Due]:
        """Changes of the workers' own timetable, and arrivals."""
        self.advance(np.nextafter(now, np.inf))
        return ()

    def ended(self) -> bool:
        """Whether all tasks have run."""
        return bool(self._run.state.counts[slots.TASKS_DONE] == len(self._run.state.submit))

    def waits(self) -> bool:
        """Whether tasks are left and nothing happens: all workers that have some are down, or stand still."""
        state = self._run.state
        arrived = state.counts[slots.TASKS_ARRIVED] == len(state.submit)
        changed = state.counts[slots.NEXT_CHANGE] == len(state.change_time)
        quiet = bool(arrived and changed and state.counts[slots.LOG_SIZE] == 0)
        return quiet and next_time(state.tree) == np.inf and not self.ended()

    def stuck(self) -> Exception:
        """Tasks are left, and no worker will run them."""
        undone = len(self._run.state.submit) - int(self._run.state.counts[slots.TASKS_DONE])
        return InputError(
            f"timetable: {undone} tasks are left that no worker will run: all down, or theirs stands still"
        )

    @property
    def state(self) -> WorkersState:
        """Tasks and workers as they are now, for parts that measure them; another object after the part has grown."""
        return self._run.state

    def result(self) -> Dispatched:
        """What happened to the tasks."""
        return self._setup.result(self._run.state, self._name)

    def _tell(self) -> None:
        done = int(self._run.state.counts[slots.TASKS_DONE])
        if done == self._done and self._over():
            raise self.stuck()
        self._done = done
        self._progress(done)

    def _over(self) -> bool:
        """Whether nothing more arrives or changes, here or elsewhere; benchmark tasks alone may go on for ever."""
        state = self._run.state
        none_to_come = state.counts[slots.TASKS_ARRIVED] == len(state.submit)
        none_to_change = state.counts[slots.NEXT_CHANGE] == len(state.change_time)
        return bool(self._for_ever and none_to_come and none_to_change and not self.ended())

    def _grow(self) -> None:
        self._run = self._run._replace(state=with_more_log(self._run.state))
        self._handle.refill(self._run)


def _standing(ledger: Ledger | None, site: int, workers: int) -> NDArray[np.int64]:
    """(rows,) which worker stands on each row of the ledger; its rows are watched from now on."""
    if ledger is None:
        return np.full(1, NOBODY)
    rows = ledger.rows(site)
    if len(rows) != workers:
        raise InputError(f"site {site} has {len(rows)} nodes, expected one for each of {workers} workers")
    ledger.watch(site)
    found = np.full(len(ledger.nodes.capacity), NOBODY)
    found[rows] = np.arange(workers)
    return found
