"""The part in which nodes measure themselves and decide once a step whether they accept tasks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.admit import AdmitPolicy, AdmitView
from windlass.model import PolicyError
from windlass.model.values import number
from windlass.sim.nodes import Ledger
from windlass.sim.part import Concerns, Quiet
from windlass.sim.telemetry.answers import NO_LIMIT, Counts
from windlass.sim.telemetry.binding import binding_of
from windlass.sim.telemetry.cores import CoreMeter
from windlass.sim.telemetry.metrics import Metrics
from windlass.sim.telemetry.pressure import UnfinishedTasks
from windlass.sim.telemetry.result import Observed
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.state import WorkersProgress

_ADMIT = "admit"


class TelemetryPart(Quiet):
    """Nodes that measure themselves; a :class:`windlass.sim.part.Part`.

    At each step, the policy of each node gets the node's metrics and answers; the answer is valid until the next step.
    The gate of the dispatch policy diverts tasks that a node rejects (:mod:`windlass.sim.telemetry.gate`); with late
    binding, a node that rejects takes no waiting tasks (:mod:`windlass.sim.telemetry.late_gate`). A node without cores
    is absent: it measures nothing, its policy is not called, and it rejects nothing.

    This part must be listed before the workers, so that nodes decide before tasks of the same instant arrive. Benchmark
    tasks, which run only if no other task waits, do not count as pressure.

    Parameters
    ----------
    workers
        Workers under a gated policy, one on each node of a site, with starts and workers of tasks recorded.
    policies
        The policy of each node.
    metrics
        Draws the metrics of the nodes.
    ledger, site
        The ledger, and the site with one row for each node.
    every
        Time between two steps, s.

    Raises
    ------
    InputError
        ``every`` is not above 0.
    """

    def __init__(
        self,
        workers: WorkersPart,
        policies: Sequence[AdmitPolicy],
        metrics: Metrics,
        ledger: Ledger,
        *,
        site: int = 0,
        every: float = 1.0,
    ) -> None:
        self._every = number("every", every, 0.0, open_below=True)
        self._workers, self._policies, self._metrics = workers, policies, metrics
        self._site, state = site, workers.state
        self._progress = WorkersProgress.of(state.progress)
        self._meter = CoreMeter(ledger, site)
        self._tasks = UnfinishedTasks(ledger.nodes.whole[ledger.rows(site)], state.base.copy())
        self._binding = binding_of(workers)
        self._steps, self._over = 0, False
        self._channels: list[NDArray[np.float64]] = []
        self._answers: list[NDArray[np.bool_]] = []
        self._counts: list[Counts] = []
        ledger.watch(site)

    def concerns(self) -> Concerns:
        """Return the site of the nodes, and the workers."""
        return Concerns(sites=(self._site,), parts=(self._workers,))

    def horizon(self) -> float:
        """Return the end of this step, s; infinity once all tasks have ended."""
        self._over = self._workers.ended()
        return np.inf if self._over else self._next

    def settle(self, now: float) -> None:
        """Account for the cores that nodes and neighbours have had until now."""
        self._meter.note(now)

    def decide(self, now: float) -> tuple[()]:
        """Measure each node and let its policy answer, at the end of a step."""
        # Other parts may go on after the last task; the steps then are none of this part's.
        if now >= self._next and not self._over:
            self._step(now)
            self._steps += 1
        return ()

    def result(self) -> Observed:
        """Return measurements and answers."""
        nodes = len(self._policies)
        channels = np.array(self._channels) if self._channels else np.zeros((0, nodes, 5))
        answers = np.array(self._answers).reshape(-1, nodes)
        return Observed(channels, answers, self._binding.counts(), self._every, tuple(self._counts))

    @property
    def _next(self) -> float:
        # A product, because a sum would drift from the multiples of the step.
        return (self._steps + 1) * self._every

    def _step(self, now: float) -> None:
        state = self._workers.state
        begin, cores = self._steps * self._every, self._meter.end(now)
        waiting_at = self._binding.waiting_at(self._tasks.unfinished)
        pressure = self._tasks.step(
            begin, now, self._binding.received(), state.start, state.end, state.worker,
            self._progress.arrived, waiting_at, cores,
        )  # fmt: skip
        channels = pressure.channels()
        channels[~cores.present] = np.nan
        measured = self._metrics.step(channels)
        limits = np.full(len(measured), NO_LIMIT)
        for node in np.flatnonzero(cores.present).tolist():
            policy, row = self._policies[node], measured[node]
            view = AdmitView(
                now, row, float(pressure.busy[node]), float(pressure.ready[node]), pressure.tasks.of(node)
            )
            answer = policy.decide(view)
            try:
                answer.check(view)
            except PolicyError as error:
                raise PolicyError(str(error), _ADMIT) from error
            if answer.reject:
                limits[node] = 0
            elif answer.limit is not None:
                limits[node] = answer.limit
        self._counts.append(self._binding.counts())
        self._binding.answer(limits, now)
        self._channels.append(channels)
        self._answers.append(limits == 0)
