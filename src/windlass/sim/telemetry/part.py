"""The part in which nodes measure themselves, and admit or reject tasks by one answer a step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.admit.site import NO_LIMIT, AdmitSiteView, Reads, SiteAdmission
from windlass.admit.view import UnboundTasks, unchecked
from windlass.jit import Kernel
from windlass.jit.schema import allocate, grown
from windlass.model.values import number
from windlass.sim.handle import Handle
from windlass.sim.ledger import Ledger
from windlass.sim.part import Concerns, Due, Entries, Quiet
from windlass.sim.status import FULL, POLICY_DUE
from windlass.sim.telemetry.answers import Counts
from windlass.sim.telemetry.binding import Binding
from windlass.sim.telemetry.cores import CoreMeter
from windlass.sim.telemetry.metrics import Metrics
from windlass.sim.telemetry.policy_call import OUTSIDE, by_address, state_type
from windlass.sim.telemetry.pressure import CHANNELS
from windlass.sim.telemetry.result import Observed
from windlass.sim.telemetry.site_policy import AdmitSitePolicy
from windlass.sim.telemetry.state import STATE_TYPE, TelemetryProgress, TelemetryRun, TelemetrySettings
from windlass.sim.telemetry.steps import ACT, DECIDE, KERNELS, NEXT, OVER, RUN, SETTLE
from windlass.sim.telemetry.unfinished import UnfinishedTasks
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.state import WorkersProgress

_ADMIT = "admit"
_READS_ALL = Reads()
#: Steps for which there is room at first.
_ROOM = 64


class TelemetryPart(Quiet):
    """Nodes that measure themselves; a :class:`windlass.sim.part.Part`.

    At each step a decision ``admit`` is due for all nodes, whose view has what they measured; the answer is valid until
    the next step. A compiled policy answers in the loop.
    The gate of the dispatch policy diverts tasks that a node rejects (:mod:`windlass.sim.telemetry.gate`); with late
    binding, a node that rejects takes no waiting tasks (:mod:`windlass.sim.telemetry.late_gate`). A node without cores
    is absent: it measures nothing, and its answer has no effect. If all nodes are absent, no decision is due.

    This part must be listed before the workers, so that nodes decide before tasks of the same instant arrive. Benchmark
    tasks, which run only if no other task waits, do not count as pressure.

    Parameters
    ----------
    workers
        Workers under a gated policy, one on each node of a site, with starts and workers of tasks recorded.
    metrics
        Draws the metrics of the nodes.
    ledger, site
        The ledger, and the site with one row for each node.
    reads
        What the policy reads: metrics that it does not read are not drawn, and tasks are not in the view, nor are
        tasks without a node.
    every
        Time between two steps, s.
    policy
        If it has a compiled function, the loop calls that, and no decision is due. The function then changes the state
        of this policy. Otherwise, and without it, the policy is called through the engine.

    Raises
    ------
    InputError
        ``every`` is not above 0, or the policy is for another number of nodes.
    """

    #: Those that it uses with a policy outside of the loop.
    kernels = (*Binding.kernels, *KERNELS, OUTSIDE)

    def __init__(
        self,
        workers: WorkersPart,
        metrics: Metrics,
        ledger: Ledger,
        *,
        reads: Reads = _READS_ALL,
        site: int = 0,
        every: float = 1.0,
        policy: AdmitSitePolicy | None = None,
    ) -> None:
        self._every = number("every", every, 0.0, open_below=True)
        self._workers, self._metrics, self._reads = workers, metrics, reads
        self._site, state = site, workers.state
        self._arrivals = WorkersProgress.of(state.progress)
        self._meter, self._binding = CoreMeter(ledger, site), Binding(workers)
        self._tasks = UnfinishedTasks(ledger.nodes.whole[ledger.rows(site)], state.base.copy())
        in_loop, nodes = None if policy is None else policy.compiled, len(state.base)
        decide = OUTSIDE if in_loop is None else by_address(in_loop.deciding)
        self._run = allocate(TelemetryRun, {"nodes": nodes, "steps": _ROOM}, decide=decide.as_argument())
        self._progress = TelemetryProgress.of(self._run.progress)
        settings, of_workers = TelemetrySettings.of(self._run.settings), workers.entries()
        settings.every, settings.ended, settings.workers = self._every, of_workers.ended, of_workers.address
        settings.meter, settings.tasks = self._meter.address, self._tasks.address
        settings.binding = self._binding.address
        self._policy = None
        if in_loop is not None:
            self._policy = Handle(in_loop.state_of(nodes), state_type(in_loop.deciding))
            settings.policy = self._policy.address
        self._handle = Handle(self._run, STATE_TYPE)
        self._due: AdmitSiteView | None = None
        ledger.watch(site)

    def concerns(self) -> Concerns:
        """Return the site of the nodes, and the workers."""
        return Concerns(sites=(self._site,), parts=(self._workers,))

    def entries(self) -> Entries:
        """Return the compiled steps."""
        return Entries(
            self._handle.address,
            run=RUN.as_argument().entry,
            steps=1,
            settle=SETTLE.as_argument().entry,
            decide=DECIDE.as_argument().entry,
            horizon=NEXT.as_argument().entry,
            ended=OVER.as_argument().entry,
            advanced=lambda _, until: until,
            settled=lambda _, now: None,
            decided=self._decided,
        )

    @property
    def limits(self) -> NDArray[np.int64]:
        """(n,) most tasks that each node accepts at once now: 0 if it rejects all, NO_LIMIT if it rejects none."""
        return self._binding.limits

    def horizon(self) -> float:
        """Return the end of this step, s; infinity once all tasks have ended."""
        end: float = NEXT.entry()(self._handle.address)
        return end

    def settle(self, now: float) -> None:
        """Account for the cores that nodes and neighbours have had until now."""
        SETTLE.entry()(self._handle.address, now)

    def decide(self, now: float) -> Sequence[Due]:
        """Measure each node at the end of a step; return the decision of all nodes."""
        return self._decided(DECIDE.entry()(self._handle.address, now), now)

    def wants(self, decision: str) -> bool:
        """Return whether the nodes' answers of this step are missing."""
        return self._due is not None

    def view(self, decision: str) -> AdmitSiteView:
        """Return what the nodes have measured in the step."""
        assert self._due is not None
        return self._due

    def act(self, decision: str, answer: SiteAdmission) -> None:
        """Let the nodes admit or reject tasks from now on."""
        view = self.view(decision)
        answer.check(view)
        self._due = None
        self._carry_out(np.where(view.present, np.where(answer.reject, 0, answer.limit), NO_LIMIT), view.now)

    def result(self) -> Observed:
        """Return measurements and answers."""
        steps, run = self._progress.steps, self._run
        before = tuple(Counts(*each) for each in run.counts[:steps].tolist())
        counts = self._binding.counts()
        return Observed(run.channels[:steps], run.rejects[:steps], counts, self._every, before)

    def _decided(self, status: int, now: float) -> Sequence[Due]:
        while status == FULL:
            self._make_room()
            status = DECIDE.entry()(self._handle.address, now)
        if status != POLICY_DUE:
            self._binding.complete(status, now)
            return ()
        view = self._measured(now)
        if not view.present.any():
            self._carry_out(np.full(len(view.present), NO_LIMIT), now)
            return ()
        self._due = view
        return (Due(self, _ADMIT),)

    def _measured(self, now: float) -> AdmitSiteView:
        """Return what the policy may know of the step that has just been measured."""
        channels = self._run.channels[self._progress.steps - 1]
        metrics = self._metrics.step(channels) if self._reads.metrics else np.zeros((len(channels), 0))
        tasks = self._tasks.last() if self._reads.tasks else None
        present = self._meter.present.copy()
        busy, ready = (channels[:, CHANNELS.index(name)] for name in ("busy", "ready"))
        unbound = self._unbound(now) if self._reads.unbound else None
        return unchecked(AdmitSiteView, now, metrics, busy, ready, present, tasks, unbound)

    def _unbound(self, now: float) -> UnboundTasks:
        """Return the tasks that dispatch has given to no node: those that have not started and are at none."""
        state, tasks = self._workers.state, self._tasks.unfinished
        waits = tasks[(self._binding.at[tasks] < 0) & np.isnan(state.start[tasks])]
        oldest = now - float(state.submit[waits].min()) if len(waits) else 0.0
        return UnboundTasks(len(waits), oldest)

    def _carry_out(self, limits: NDArray[np.int64], now: float) -> None:
        self._binding.limits[:] = limits
        status = ACT.entry()(self._handle.address, now)
        while status == FULL:
            self._make_room()
            status = ACT.entry()(self._handle.address, now)
        self._binding.complete(status, now)

    def _make_room(self) -> None:
        """Make room for one more step, and for the tasks that have arrived since the last one."""
        self._tasks.make_room(self._arrivals.arrived)
        self._binding.make_room()
        if self._progress.steps == len(self._run.channels):
            self._run = grown(self._run, steps=2 * self._progress.steps)
            self._handle.refill(self._run)


def policy_kernels(policy: AdmitSitePolicy) -> tuple[Kernel, ...]:
    """Return the compiled functions with which the loop calls a policy; empty for a policy outside of the loop."""
    if policy.compiled is None:
        return ()
    return (by_address(policy.compiled.deciding),)
