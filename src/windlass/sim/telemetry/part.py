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
    binding, a node that rejects takes no waiting tasks (:mod:`windlass.sim.telemetry.late_gate`).

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
        self._ledger, self._site, self._rows = ledger, site, ledger.rows(site)
        state = workers.state
        self._progress = WorkersProgress.of(state.progress)
        self._cores = ledger.nodes.whole[self._rows].astype(np.float64)
        self._tasks = UnfinishedTasks(ledger.nodes.whole[self._rows], state.base.copy())
        self._binding = binding_of(workers)
        # Share of cores that neighbours hold now, since when, and its integral over this step.
        self._held, self._since, self._area = self._held_now(), 0.0, np.zeros(len(self._cores))
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
        """Account for the cores that neighbours have held until now."""
        self._area += self._held * (now - self._since)
        self._held, self._since = self._held_now(), now

    def decide(self, now: float) -> tuple[()]:
        """Measure each node and let its policy answer, at the end of a step."""
        # Other parts may go on after the last task; the steps then are none of this part's.
        if now >= self._next and not self._over:
            self.settle(now)
            self._step(now)
            self._steps += 1
            self._area[:] = 0.0
        return ()

    def result(self) -> Observed:
        """Return measurements and answers."""
        shape = (0, len(self._cores))
        channels = np.array(self._channels) if self._channels else np.zeros((*shape, 5))
        answers = np.array(self._answers).reshape(-1, shape[1])
        return Observed(channels, answers, self._binding.counts(), self._every, tuple(self._counts))

    @property
    def _next(self) -> float:
        # A product, because a sum would drift from the multiples of the step.
        return (self._steps + 1) * self._every

    def _held_now(self) -> NDArray[np.float64]:
        idle = np.maximum(self._ledger.nodes.idle[self._rows], 0)
        held: NDArray[np.float64] = 1.0 - idle / self._cores
        return held

    def _step(self, now: float) -> None:
        state = self._workers.state
        begin = self._steps * self._every
        pressure = self._tasks.step(
            begin, now, self._binding.received(), state.start, state.end, state.worker,
            self._progress.arrived, self._binding.waiting_at(), self._area / (now - begin),
        )  # fmt: skip
        channels = pressure.channels()
        measured = self._metrics.step(channels)
        limits = np.full(len(measured), NO_LIMIT)
        for node, (policy, row) in enumerate(zip(self._policies, measured, strict=True)):
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
