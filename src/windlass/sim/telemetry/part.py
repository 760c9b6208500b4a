"""The part in which nodes measure themselves, and decide once a step whether they take tasks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.admit import AdmitPolicy, AdmitView
from windlass.model import PolicyError
from windlass.model.values import number
from windlass.sim.nodes import Ledger
from windlass.sim.part import Quiet
from windlass.sim.telemetry.gate import Counts, counts, tell
from windlass.sim.telemetry.metrics import Metrics
from windlass.sim.telemetry.pressure import QUEUED, UnfinishedTasks
from windlass.sim.telemetry.result import Observed
from windlass.sim.workers import slots
from windlass.sim.workers.part import WorkersPart

_ADMIT = "admit"


class TelemetryPart(Quiet):
    """Nodes that measure themselves: see :class:`windlass.sim.part.Part`.

    Every so many seconds each node sees its metrics and answers; its answer stands until the next time. Tasks that a
    node rejects are diverted by the dispatch policy's gate (:mod:`windlass.sim.telemetry.gate`).

    It is listed before the workers, so that at one instant nodes decide before tasks come. Benchmark tasks, which run
    where no other waits, are not counted as pressure.

    Parameters
    ----------
    workers
        Under a gated policy, with where and when each task ran kept, one on each node of a site.
    policies
        One for each node.
    metrics
        Draws what nodes measure.
    ledger, site
        Where the workers stand.
    every
        Seconds between two steps.

    Raises
    ------
    InputError
        The time between steps is not above 0.
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
        self._ledger, self._rows = ledger, ledger.rows(site)
        state = workers.state
        self._cores = ledger.nodes.whole[self._rows].astype(np.float64)
        self._watched = UnfinishedTasks(ledger.nodes.whole[self._rows], state.base.copy())
        self._at = np.full(len(state.submit), -1)
        # What neighbours hold now, since when, and the integral of it over this step.
        self._held, self._since, self._area = self._held_now(), 0.0, np.zeros(len(self._cores))
        self._steps = 0
        self._seen: list[NDArray[np.float64]] = []
        self._answers: list[NDArray[np.bool_]] = []
        self._counts: list[Counts] = []
        ledger.watch(site)

    def horizon(self) -> float:
        """The end of this step; never once all tasks have ended."""
        return np.inf if self._workers.ended() else self._next

    def settle(self, now: float) -> None:
        """Neighbours hold other cores from now on."""
        self._area += self._held * (now - self._since)
        self._held, self._since = self._held_now(), now

    def decide(self, now: float) -> tuple[()]:
        """Measure, and let each node answer."""
        if now >= self._next:
            self.settle(now)
            self._step(now)
            self._steps += 1
            self._area[:] = 0.0
        return ()

    def result(self) -> Observed:
        """What nodes measured and answered."""
        shape = (0, len(self._cores))
        seen = np.array(self._seen) if self._seen else np.zeros((*shape, 5))
        answers = np.array(self._answers).reshape(-1, shape[1])
        return Observed(seen, answers, counts(self._workers.state.ints), self._every, tuple(self._counts))

    @property
    def _next(self) -> float:
        # A product, as a sum would drift from the times that a user would name.
        return (self._steps + 1) * self._every

    def _held_now(self) -> NDArray[np.float64]:
        idle = np.maximum(self._ledger.nodes.idle[self._rows], 0)
        held: NDArray[np.float64] = 1.0 - idle / self._cores
        return held

    def _step(self, now: float) -> None:
        state = self._workers.state
        QUEUED.ready()(np.ascontiguousarray(state.line["head"]), state.after, self._at)
        begin = self._steps * self._every
        pressure = self._watched.step(
            begin, now, state.submit, state.start, state.end, state.worker,
            int(state.counts[slots.TASKS_ARRIVED]), self._at, self._area / (now - begin),
        )  # fmt: skip
        channels = pressure.channels()
        measured = self._metrics.step(channels)
        answers = np.zeros(len(measured), np.bool_)
        for node, (policy, row) in enumerate(zip(self._policies, measured, strict=True)):
            view = AdmitView(now, row, float(pressure.busy[node]), float(pressure.ready[node]))
            answer = policy.decide(view)
            try:
                answer.check()
            except PolicyError as error:
                raise PolicyError(str(error), _ADMIT) from error
            answers[node] = answer.reject
        self._counts.append(counts(state.ints))
        tell(state.ints, answers)
        self._seen.append(channels)
        self._answers.append(answers)
