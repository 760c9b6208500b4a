"""The part in which nodes measure themselves, and admit or reject tasks by one answer a step."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.admit.site import NO_LIMIT, AdmitSiteView, Reads, SiteAdmission
from windlass.model.values import number
from windlass.sim.nodes import Ledger
from windlass.sim.part import Concerns, Due, Quiet
from windlass.sim.telemetry.answers import Counts
from windlass.sim.telemetry.binding import binding_of
from windlass.sim.telemetry.cores import CoreMeter
from windlass.sim.telemetry.metrics import Metrics
from windlass.sim.telemetry.pressure import CHANNELS, UnfinishedTasks
from windlass.sim.telemetry.result import Observed
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.state import WorkersProgress

_ADMIT = "admit"
_READS_ALL = Reads()


class TelemetryPart(Quiet):
    """Nodes that measure themselves; a :class:`windlass.sim.part.Part`.

    At each step a decision ``admit`` is due for all nodes, whose view has what they measured; the answer is valid until
    the next step.
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
        What the policy reads: metrics that it does not read are not drawn.
    every
        Time between two steps, s.

    Raises
    ------
    InputError
        ``every`` is not above 0.
    """

    kernels = (*CoreMeter.kernels, *UnfinishedTasks.kernels)

    def __init__(
        self,
        workers: WorkersPart,
        metrics: Metrics,
        ledger: Ledger,
        *,
        reads: Reads = _READS_ALL,
        site: int = 0,
        every: float = 1.0,
    ) -> None:
        self._every = number("every", every, 0.0, open_below=True)
        self._workers, self._metrics, self._reads = workers, metrics, reads
        self._site, state = site, workers.state
        self._progress = WorkersProgress.of(state.progress)
        self._meter = CoreMeter(ledger, site)
        self._tasks = UnfinishedTasks(ledger.nodes.whole[ledger.rows(site)], state.base.copy())
        self._binding = binding_of(workers)
        self._steps = 0
        # Whether all tasks had ended at the last instant: later ones, which concern other parts, end no step.
        self._over = False
        self._channels: list[NDArray[np.float64]] = []
        self._answers: list[NDArray[np.bool_]] = []
        self._counts: list[Counts] = []
        self._due: AdmitSiteView | None = None
        ledger.watch(site)

    def concerns(self) -> Concerns:
        """Return the site of the nodes, and the workers."""
        return Concerns(sites=(self._site,), parts=(self._workers,))

    def horizon(self) -> float:
        """Return the end of this step, s; infinity once all tasks have ended."""
        return np.inf if self._workers.ended() else self._next

    def settle(self, now: float) -> None:
        """Account for the cores that nodes and neighbours have had until now."""
        self._meter.note(now)

    def decide(self, now: float) -> Sequence[Due]:
        """Measure each node at the end of a step; return the decision of all nodes."""
        over, self._over = self._over, self._workers.ended()
        if over or now < self._next:
            return ()
        view = self._measure(now)
        self._steps += 1
        if not view.present.any():
            self._carry_out(np.full(len(view.present), NO_LIMIT), now)
            return ()
        self._due = view
        return (Due(self, _ADMIT),)

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
        nodes = len(self._workers.state.base)
        channels = np.array(self._channels) if self._channels else np.zeros((0, nodes, 5))
        answers = np.array(self._answers).reshape(-1, nodes)
        return Observed(channels, answers, self._binding.counts(), self._every, tuple(self._counts))

    @property
    def _next(self) -> float:
        # A product, because a sum would drift from the multiples of the step.
        return (self._steps + 1) * self._every

    def _measure(self, now: float) -> AdmitSiteView:
        state = self._workers.state
        begin, cores = self._steps * self._every, self._meter.end(now)
        waiting_at = self._binding.waiting_at(self._tasks.unfinished)
        pressure = self._tasks.step(
            begin, now, self._binding.received(), state.start, state.end, state.worker,
            self._progress.arrived, waiting_at, cores,
        )  # fmt: skip
        channels = pressure.channels()
        channels[~cores.present] = np.nan
        self._channels.append(channels)
        metrics = self._metrics.step(channels) if self._reads.metrics else np.zeros((len(channels), 0))
        busy, ready = (channels[:, CHANNELS.index(name)] for name in ("busy", "ready"))
        return AdmitSiteView(now, metrics, busy, ready, cores.present, pressure.tasks)

    def _carry_out(self, limits: NDArray[np.int64], now: float) -> None:
        self._counts.append(self._binding.counts())
        self._binding.answer(limits, now)
        self._answers.append(limits == 0)
