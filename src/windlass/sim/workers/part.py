"""The part of small tasks on workers, which a dispatch policy sends to workers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from windlass.dispatch import DispatchPolicy
from windlass.dispatch.compiled import as_compiled
from windlass.jit import Kernel
from windlass.model import InputError, PolicyError
from windlass.model.values import number
from windlass.sim.demand import CoreDemand
from windlass.sim.events.tree import next_time
from windlass.sim.handle import Handle
from windlass.sim.instants.loop import KERNELS as COMMON_KERNELS
from windlass.sim.ledger import Ledger, ledger_without_cores
from windlass.sim.nodes import LedgerCounts
from windlass.sim.part import ABSENT, Concerns, Due, Entries, Loop, Quiet
from windlass.sim.status import FULL, REACHED
from windlass.sim.workers.guests import Spill, collect, own_tasks, spill_to
from windlass.sim.workers.loop import BAD_CHOICE, ENDED, HORIZON, KERNELS, RUN, RUN_TYPE, SETTLE
from windlass.sim.workers.membership import SEND_WAITING
from windlass.sim.workers.python_policy import UNUSED, PythonPolicyCall
from windlass.sim.workers.result import Dispatched
from windlass.sim.workers.setup import Setup, make_workers, with_more_log
from windlass.sim.workers.spill import DELIVER
from windlass.sim.workers.state import (
    NONE,
    PolicyExchange,
    WorkersProgress,
    WorkersRun,
    WorkersSettings,
    WorkersState,
)

_STEPS_BETWEEN_REPORTS = 2_000_000
_DISPATCH = "dispatch"


def kernels(policy: DispatchPolicy, *, spills: bool = False) -> tuple[Kernel, ...]:
    """Return the compiled functions that workers under this policy use; ``spills`` if the part spills tasks."""
    compiled = as_compiled(policy)
    own = (*KERNELS, DELIVER) if spills else KERNELS
    return (*COMMON_KERNELS, *(UNUSED if compiled is None else compiled.functions()), *own)


class WorkersPart(Quiet):
    """Small tasks on workers; a :class:`windlass.sim.part.Part`.

    On a ledger, each worker is on a node of its own, and tasks hold no cores but those that are kept for them. A
    worker's speed is multiplied by the idle share of its node's cores, the kept ones included, but at least by `floor`.
    If the node has no cores, the worker is down.

    Parameters
    ----------
    setup
        The arguments of the simulation.
    policy
        The policy; a copy of it is used.
    submit, work
        (t,) when tasks arrive, s, and their work.
    rng
        Draws the scheduler of each job.
    ledger, site
        The ledger, and the site with one row for each worker, in order, or several sites; None for workers that share
        no nodes.
    floor
        Least share of its speed that a worker keeps while its node has cores.
    keep
        Share of each node's cores that no other part may take, rounded up to whole cores. A part of jobs that is made
        later refuses a job that could never start.
    progress
        Called from time to time with the number of tasks complete.

    Raises
    ------
    InputError
        The sites do not have one row per worker, another part of small tasks uses its idle cores, or
        :func:`~windlass.sim.workers.setup.make_workers` raises it.
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
        site: int | Sequence[int] = 0,
        floor: float = 0.05,
        keep: float = 0.0,
        progress: Callable[[int], None] | None = None,
    ) -> None:
        sites = (site,) if isinstance(site, int) else tuple(site)
        compiled = as_compiled(policy)
        state = make_workers(setup, compiled, submit, work, rng)
        WorkersSettings.of(state.settings).least_share = floor
        self._setup, self._name, self._report = setup, policy.name, progress or (lambda _: None)
        self._python = PythonPolicyCall(policy, state) if compiled is None else None
        self._progress = WorkersProgress.of(state.progress)
        self._exchange = PolicyExchange.of(state.exchange)
        functions = UNUSED if compiled is None else compiled.functions()
        choose, completed, changed, benchmark, bind = (kernel.as_argument() for kernel in functions)
        self._run = WorkersRun(
            choose=choose,
            completed=completed,
            changed=changed,
            benchmark=benchmark,
            bind=bind,
            nodes=(ledger or ledger_without_cores()).nodes,
            worker_of=_worker_of(ledger, sites, len(setup.speeds)),
            state=state,
        )
        self._handle, self._settle = Handle(self._run, RUN_TYPE), SETTLE.entry()
        self._loop = Loop(RUN.entry(), self._handle, _STEPS_BETWEEN_REPORTS, self._after_steps, self._grow)
        self._reported, self._for_ever = -1, False
        #: Sum of the work of the tasks up to each, once it is needed.
        self._work_until: NDArray[np.float64] | None = None
        self._finish: float | None = None
        self._sites = () if ledger is None else sites
        #: Where the tasks go that all nodes reject; None if they are refused.
        self.spills: Spill | None = None
        #: The parts that spill to each other.
        self.group: Sequence[WorkersPart] = (self,)
        if ledger is not None and number("keep", keep, 0.0, 1.0) > 0.0:
            self._keep(ledger, sites, keep)
        if ledger is not None:
            # Nodes may have no cores at first, or cores that another part holds: settle all rows as if changed.
            rows, nodes = _rows(ledger, sites), ledger.nodes
            nodes.to_settle[: len(rows)], LedgerCounts.of(nodes.counts).to_settle = rows, len(rows)
            self.settle(0.0)

    def _keep(self, ledger: Ledger, sites: Sequence[int], keep: float) -> None:
        """Reserve a share of each node, which the part holds while the node is there."""
        settings, own = WorkersSettings.of(self._run.state.settings), ledger.join(sites[0])
        settings.part, settings.kept = own, keep
        for site in sites:
            whole = ledger.nodes.whole[ledger.rows(site)]
            ledger.reserve(site, own, int(np.ceil(keep * whole).sum()), of_each_row=True)

    def concerns(self) -> Concerns:
        """Return the sites of the nodes, and the parts to which tasks are spilled."""
        return Concerns(sites=self._sites, parts=() if self.spills is None else self.spills.to)

    def entries(self) -> Entries:
        """Return the compiled steps."""
        return Entries(
            self._handle.address,
            run=RUN.as_argument().entry,
            steps=self._loop.steps,
            settle=SETTLE.as_argument().entry,
            horizon=HORIZON.as_argument().entry,
            ended=ENDED.as_argument().entry,
            alter=DELIVER.as_argument().entry if self._in_group else ABSENT,
            advanced=self._advanced,
            settled=self._settled,
            decided=self._decided,
        )

    def advance(self, until: float) -> float:
        """Run tasks until a time, s."""
        return self._advanced(self._loop.start(until), until)

    def horizon(self) -> float:
        """Return when tasks that it refused must be delivered, s; infinity if it spills none."""
        found: float = HORIZON.entry()(self._handle.address)
        return found

    def alter(self, now: float) -> None:
        """Deliver the tasks that all nodes rejected to the parts that they are spilled to."""
        if self._in_group:
            DELIVER.entry()(self._handle.address, now)

    def settle(self, now: float) -> None:
        """Adapt workers to their changed nodes: change speeds, take workers down, bring them back."""
        self._settled(self._settle(self._handle.address, now), now)

    def decide(self, now: float) -> Sequence[Due]:
        """Carry out the workers' timetable and the arrivals of this instant."""
        self.advance(np.nextafter(now, np.inf))
        return ()

    def send_waiting(self, now: float) -> None:
        """Send the tasks that no worker has taken to the workers that the policy's state has as present.

        With a policy that binds late, this follows a change of the present workers that no event of this part made.
        Running tasks stay.

        Parameters
        ----------
        now
            Current time, s.
        """
        send = SEND_WAITING.entry()
        while send(self._handle.address, now) == FULL:
            self._grow()

    def spill(self, spills: Spill) -> None:
        """Send tasks that all nodes reject to other parts; call it before parts that read this one are made.

        A task that is refused arrives at the first target later; if that one refuses it too, at the next one. After the
        last target it is refused. It stays in this part's result, and its response counts from its arrival here.

        Parameters
        ----------
        spills
            Targets and delay. Several parts may spill to each other. Tasks of several parts that arrive at one instant
            are in the order of the calls of this method.

        Raises
        ------
        InputError
            The part spills to itself, has targets already or has begun, or a policy has reservations or is not
            compiled.
        """
        spill_to(self, spills)

    def replace_state(self, state: WorkersState) -> None:
        """Replace arrays of the state, which keeps its address."""
        self._run = self._run._replace(state=state)
        self._handle.refill(self._run)

    @property
    def address(self) -> int:
        """Address of the state, for compiled code of other parts."""
        return self._handle.address

    @property
    def _in_group(self) -> bool:
        """Whether the part spills tasks or may get some."""
        return len(self.group) > 1

    @property
    def binds_late(self) -> bool:
        """Whether tasks wait until a worker takes them."""
        settings = WorkersSettings.of(self._run.state.settings)
        return bool(settings.waits)

    def ended(self) -> bool:
        """Return whether all tasks are complete."""
        return bool(ENDED.entry()(self._handle.address))

    def waits(self) -> bool:
        """Return whether tasks are left but no event is: the workers of all of them are down or at speed 0."""
        nothing_due = self._nothing_comes() and self._progress.log_size == 0
        return nothing_due and next_time(self._run.state.tree) == np.inf and not self.ended()

    def stuck(self) -> Exception:
        """Return the error for tasks that no worker will ever run."""
        undone = self._progress.expected - self._progress.completed
        return InputError(
            f"timetable: {undone} tasks are left that no worker will run: workers stay down or at speed 0; "
            "expected a later return or speed"
        )

    def lacking(self, within: float, site: int) -> CoreDemand:
        """Return the workers that waiting tasks lack: instances that would run them within ``within`` seconds."""
        state, progress = self._run.state, self._progress
        if progress.arrived == progress.completed:
            return CoreDemand.none()
        busy = state.line["running"] != NONE
        waiting = progress.arrived - progress.completed - int(busy.sum())
        if waiting <= 0:
            return CoreDemand.none()
        if self._work_until is None or self._in_group:
            # A task that is spilled has its place among the others only once it has arrived.
            self._work_until = np.cumsum(state.work[: progress.arrived] if self._in_group else state.work)
        work = waiting * float(self._work_until[progress.arrived - 1]) / progress.arrived
        idle = float(state.line["speed"][~busy & (state.line["down"] == 0)].sum())
        more = int(np.ceil(work / within / float(state.base.mean()) - idle / float(state.base.mean())))
        since = float(state.submit[progress.arrived - waiting])
        return CoreDemand(*(np.full(max(more, 0), each) for each in (np.inf, since, np.inf)))

    def finish(self) -> float:
        """Return when the last task so far ended, s; minus infinity if none has."""
        if self._finish is None:
            end = self._run.state.end
            return float(np.fmax.reduce(end, initial=-np.inf))
        return self._finish

    def uses(self, rows: Sequence[int]) -> NDArray[np.bool_]:
        """Return for each row of the ledger whether its worker runs a task."""
        workers = self._run.worker_of[np.asarray(rows, np.int64)]
        used: NDArray[np.bool_] = (workers != NONE) & (self._run.state.line["running"][workers] != NONE)
        return used

    @property
    def state(self) -> WorkersState:
        """Tasks and workers now, for parts that measure them; another object after the log has grown."""
        return self._run.state

    def result(self) -> Dispatched:
        """Return what happened to the tasks."""
        # The result reuses the array of ends for responses.
        self._finish = self.finish()
        if not self._in_group:
            return self._setup.result(self._run.state, self._name)
        own = own_tasks(self._run.state)
        site = collect(self.address, () if self.spills is None else self.spills.to, own)
        refusals = int(np.isnan(own.end).sum())
        return replace(self._setup.result(own, self._name), refusals=refusals, site=site)

    def _advanced(self, status: int, until: float) -> float:
        self._for_ever = until == np.inf
        status = self._loop.complete(status, until)
        while self._python is not None and self._python.answer(status):
            self._report(self._progress.completed)
            status = self._loop.until(until)
        if status == BAD_CHOICE:
            chosen = self._exchange.worker
            raise PolicyError(f"chose worker {chosen}, which is down or does not exist", _DISPATCH)
        return until

    def _settled(self, status: int, now: float) -> None:
        while status != REACHED:
            if status == FULL:
                self._grow()
            elif self._python is not None:
                self._python.answer(status)
            status = self._settle(self._handle.address, now)

    def _decided(self, status: int, now: float) -> Sequence[Due]:
        self._advanced(status, np.nextafter(now, np.inf))
        return ()

    def _after_steps(self) -> None:
        completed = self._progress.completed
        if completed == self._reported and self._endless():
            raise self.stuck()
        self._reported = completed
        self._report(completed)

    def _nothing_comes(self) -> bool:
        """Return whether all tasks have arrived and the timetable is over."""
        state, progress = self._run.state, self._progress
        arrived = progress.arrived == progress.expected and progress.outgoing == 0
        return arrived and progress.next_change == len(state.change_time)

    def _endless(self) -> bool:
        """Return whether no other part runs and nothing comes: only benchmark tasks can follow, forever."""
        return self._for_ever and self._nothing_comes() and not self.ended()

    def _grow(self) -> None:
        self.replace_state(with_more_log(self._run.state))


def _rows(ledger: Ledger, sites: Sequence[int]) -> list[int]:
    """Return the rows of some sites, site by site."""
    return [row for site in sites for row in ledger.rows(site)]


def _worker_of(ledger: Ledger | None, sites: Sequence[int], workers: int) -> NDArray[np.int64]:
    """Return (rows,) the worker on each row of the ledger, or NONE, and watch the changes of the sites' rows."""
    if ledger is None:
        return np.full(1, NONE)
    rows = _rows(ledger, sites)
    if len(rows) != workers:
        named = ", ".join(map(str, sites))
        raise InputError(f"site {named}: {len(rows)} nodes, expected one for each of {workers} workers")
    ledger.use_idle(rows, "small tasks")
    for site in sites:
        ledger.watch(site)
    found = np.full(len(ledger.nodes.capacity), NONE)
    found[rows] = np.arange(workers)
    return found
