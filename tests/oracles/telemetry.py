"""Telemetry and admission in Python with NumPy: the oracle of the compiled part, bit for bit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.oracles.pressure import ArrayTasks
from windlass.admit.site import NO_LIMIT, AdmitSiteView, Reads, SiteAdmission
from windlass.sim.ledger import Ledger
from windlass.sim.part import Concerns, Due, Quiet
from windlass.sim.telemetry.answers import Counts, counts, set_answers
from windlass.sim.telemetry.cores import StepCores
from windlass.sim.telemetry.late_gate import set_late_answers
from windlass.sim.telemetry.metrics import Metrics
from windlass.sim.telemetry.result import Observed
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.state import REFUSED_END, WorkersProgress


class PlainMeter:
    """Cores of nodes, summed over each step."""

    def __init__(self, ledger: Ledger, site: int) -> None:
        rows = ledger.rows(site)
        own = slice(rows.start, rows.stop)
        self.whole = ledger.nodes.whole[own].copy()
        self.capacity, self.idle = ledger.nodes.capacity[own], ledger.nodes.idle[own]
        self.begin = self.since = 0.0
        self.seen = self.capacity.copy(), self.idle.copy()
        self.held, self.cores, self.up, self.lost = np.zeros((4, len(rows)))

    def note(self, now: float, always: bool = False) -> None:
        capacity, idle = self.seen
        if not always and (capacity == self.capacity).all() and (idle == self.idle).all():
            return
        seconds = now - self.since
        here = capacity > 0
        share = 1.0 - np.maximum(idle, 0) / np.where(here, capacity, 1)
        self.held += np.where(here, share * seconds, 0.0)
        self.cores += np.where(here, capacity * seconds, 0.0)
        self.up += np.where(here, seconds, 0.0)
        self.lost += (self.whole - capacity) * seconds
        self.seen, self.since = (self.capacity.copy(), self.idle.copy()), now

    def end(self, now: float) -> StepCores:
        self.note(now, always=True)
        seconds, complete, measured = now - self.begin, self.lost == 0.0, self.up > 0.0
        found = StepCores(
            np.where(complete, self.held / seconds, self.held / np.where(measured, self.up, 1.0)),
            np.where(complete, self.whole, self.cores / seconds),
            np.where(complete, 1.0, self.up / seconds),
            measured & (self.capacity > 0),
        )
        self.held, self.cores, self.up, self.lost = np.zeros((4, len(self.whole)))
        self.begin = now
        return found


class PlainTelemetry(Quiet):
    """As :class:`windlass.sim.telemetry.part.TelemetryPart`, with a policy outside of the part."""

    def __init__(
        self,
        workers: WorkersPart,
        metrics: Metrics,
        ledger: Ledger,
        *,
        reads: Reads,
        site: int = 0,
        every: float = 1.0,
    ) -> None:
        self.workers, self.metrics, self.reads, self.site, self.every = workers, metrics, reads, site, every
        self.progress, state = WorkersProgress.of(workers.state.progress), workers.state
        self.meter = PlainMeter(ledger, site)
        self.tasks = ArrayTasks(ledger.nodes.whole[ledger.rows(site)], state.base.copy())
        self.steps, self.over = 0, False
        self.rejecting = np.zeros(len(state.base), np.bool_)
        self.waiting, self.arrived, self.started, self.forced = np.zeros(0, np.int64), 0, 0, 0
        self.channels: list[Any] = []
        self.rejects: list[Any] = []
        self.before: list[Counts] = []
        self.due: AdmitSiteView | None = None
        ledger.watch(site)

    def concerns(self) -> Concerns:
        return Concerns(sites=(self.site,), parts=(self.workers,))

    def horizon(self) -> float:
        self.over = self.workers.ended()
        return np.inf if self.over else (self.steps + 1) * self.every

    def settle(self, now: float) -> None:
        self.meter.note(now)

    def decide(self, now: float) -> Sequence[Due]:
        if self.over or now < (self.steps + 1) * self.every:
            return ()
        view = self.measure(now)
        self.steps += 1
        if view.present.any():
            self.due = view
            return (Due(self, "admit"),)
        self.carry_out(np.full(len(view.present), NO_LIMIT), now)
        return ()

    def wants(self, decision: str) -> bool:
        return self.due is not None

    def view(self, decision: str) -> AdmitSiteView:
        assert self.due is not None
        return self.due

    def act(self, decision: str, answer: SiteAdmission) -> None:
        view = self.view(decision)
        self.due = None
        self.carry_out(np.where(view.present, np.where(answer.reject, 0, answer.limit), NO_LIMIT), view.now)

    def result(self) -> Observed:
        nodes = len(self.rejecting)
        channels, rejects = np.array(self.channels), np.array(self.rejects, np.bool_)
        return Observed(
            channels.reshape(-1, nodes, 5),
            rejects.reshape(-1, nodes),
            self.counts(),
            self.every,
            tuple(self.before),
        )

    def measure(self, now: float) -> AdmitSiteView:
        state, late = self.workers.state, self.workers.binds_late
        cores = self.meter.end(now)
        received = state.start if late else state.submit
        # A row that never has cores is measured against none.
        with np.errstate(invalid="ignore"):
            pressure = self.tasks.step(
                self.steps * self.every, now, received, state.start, state.end, state.worker,
                self.progress.arrived, self.places(), cores,
            )  # fmt: skip
        names = ("busy", "queue", "ready", "memory", "network")
        channels = np.stack([getattr(pressure, name) for name in names], axis=1)
        channels[~cores.present] = np.nan
        self.channels.append(channels)
        metrics = self.metrics.step(channels) if self.reads.metrics else np.zeros((len(channels), 0))
        return AdmitSiteView(now, metrics, channels[:, 0], channels[:, 2], cores.present, pressure.tasks)

    def places(self) -> NDArray[np.int64]:
        """Return the node in whose queue each task waits, or -1."""
        state = self.workers.state
        at = np.full(len(state.submit), -1)
        if not self.workers.binds_late:
            for node, task in enumerate(state.line["head"].tolist()):
                while task >= 0:
                    at[task], task = node, int(state.after[task])
        return at

    def carry_out(self, limits: NDArray[np.int64], now: float) -> None:
        self.before.append(self.counts())
        self.rejecting = limits == 0
        self.rejects.append(self.rejecting)
        if not self.workers.binds_late:
            set_answers(self.workers.state.ints, limits)
        elif set_late_answers(self.workers.state.ints, limits):
            self.workers.send_waiting(now)

    def counts(self) -> Counts:
        """Return the tasks by answer; with late binding, those that started under the same answers count now."""
        state = self.workers.state
        if not self.workers.binds_late:
            return counts(state.ints, self.progress.refused)
        waiting = np.concatenate([self.waiting, np.arange(self.arrived, self.progress.arrived)])
        node = state.worker[waiting]
        self.started += int((node >= 0).sum())
        self.forced += int(self.rejecting[node[node >= 0]].sum())
        self.waiting = waiting[(node < 0) & (state.end[waiting] != REFUSED_END)]
        self.arrived = self.progress.arrived
        return Counts(self.started - self.forced, 0, self.forced, self.progress.refused)
