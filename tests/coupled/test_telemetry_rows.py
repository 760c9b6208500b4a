"""Telemetry on rows that come and go at the ends of steps, drawn: outages, jobs, instances."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled.cases import Case, Tasks, cases, workers
from tests.coupled.test_concerns import outcome
from tests.coupled.test_instances import Until
from tests.oracles.workloads import CHECK
from tests.sim.instances import SMALL, part_of
from windlass.admit import Admission, AdmitView
from windlass.experiment.dispatching import make_policy
from windlass.model.timetable import NodeTimetable
from windlass.model.vectors import VectorJobs
from windlass.order.site import POLICIES
from windlass.sim.instances.fleet import InstanceFleet, Interruptions
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Part
from windlass.sim.site.part import SitePart
from windlass.sim.telemetry.gate import WhenFull, gate
from windlass.sim.telemetry.metrics import Metrics, read_model
from windlass.sim.telemetry.part import TelemetryPart
from windlass.sim.telemetry.result import Observed
from windlass.sim.telemetry.site_policy import AdmitSitePolicy
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.state import WorkersProgress

_DISPATCH = st.sampled_from(["jsq", "pot", "least-outstanding", "pull", "sparrow"])
_EVERY = st.sampled_from([1.0, 0.5, 2.0, 1 / 3])


class Drawn:
    """Rejects or limits at random, and notes when it was called."""

    name = "drawn"

    def __init__(self, node: int, rejects: float) -> None:
        self.rng, self.rejects, self.times = np.random.default_rng([7, node]), rejects, list[float]()

    def decide(self, view: AdmitView) -> Admission:
        self.times.append(view.now)
        assert not math.isnan(view.busy)
        assert not math.isnan(view.ready)
        assert not np.isnan(view.metrics).any()
        assert view.tasks is not None
        limit = int(self.rng.integers(1, 4)) if self.rng.random() < 0.3 else None
        return Admission(bool(self.rng.random() < self.rejects), "drawn", limit=limit)


def measured(
    tasks: Tasks,
    ledger: Ledger,
    dispatch: str,
    every: float,
    rejects: float,
    site: int = 0,
    full: WhenFull = "force",
) -> tuple[TelemetryPart, WorkersPart, list[Drawn]]:
    """Return telemetry and tasks on the rows of a site, and the policy of each node."""
    nodes = len(tasks.speeds)
    policy = gate(make_policy(dispatch, np.array(tasks.speeds), np.random.default_rng(1)), full)
    on_nodes = workers(tasks, ledger, site=site, policy=policy)
    metrics = Metrics(read_model(), nodes, np.random.default_rng(2))
    part = TelemetryPart(on_nodes, metrics, ledger, site=site, every=every)
    return part, on_nodes, [Drawn(node, rejects) for node in range(nodes)]


def check(observed: Observed, on_nodes: WorkersPart, drawn: list[Drawn], count: int) -> None:
    """Check what holds for any rows: absent ones answer nothing, and each task counts once for each dispatch."""
    present = observed.present
    assert not observed.rejects[~present].any()
    assert np.isnan(observed.channels[~present]).all()
    assert np.isfinite(observed.channels[present]).all()
    assert (observed.of("busy")[present] <= 1.0).all()
    assert (observed.channels[present] >= 0.0).all()
    for node, each in enumerate(drawn):
        assert each.times == [(step + 1) * observed.every for step in np.flatnonzero(present[:, node])]
    # With late binding, a task counts as it starts; else at each dispatch, also after it has lost its node.
    again = 0 if on_nodes.binds_late else WorkersProgress.of(on_nodes.state.progress).moved
    assert observed.tasks.accepted + observed.tasks.rejected == count + again
    assert min(observed.tasks.accepted, observed.tasks.diverted, observed.tasks.forced) >= 0
    done = on_nodes.result()
    assert done.refusals == observed.tasks.refused == done.refused.sum()
    assert np.array_equal(done.refused, done.worker < 0)
    assert np.array_equal(done.refused, np.isnan(done.start))


@settings(CHECK, max_examples=80)
@given(
    case=cases(with_tasks=True),
    dispatch=_DISPATCH,
    every=_EVERY,
    rejects=st.sampled_from([0.0, 0.3, 1.0]),
    order=st.sampled_from(["fcfs", "easy"]),
    full=st.sampled_from(["force", "refuse"]),
)
def test_nodes_with_outages_and_jobs(
    case: Case, dispatch: str, every: float, rejects: float, order: str, full: WhenFull
) -> None:
    outages = case.outages
    for node, cores in enumerate(case.cores):
        # No outage is for ever, so that all tasks end.
        outages += NodeTimetable.outage(node, 60.0, 61.0, cores=cores)
    made = list[tuple[TelemetryPart, WorkersPart, list[Drawn]]]()

    def make() -> tuple[list[Part], Ledger, dict[str, Any]]:
        assert case.tasks is not None
        ledger = Ledger([case.cores], parts=1)
        made.append(measured(case.tasks, ledger, dispatch, every, rejects, full=full))
        telemetry, on_nodes, drawn = made[-1]
        jobs = SitePart(case.jobs, POLICIES.find(order)(), ledger, record=True)
        parts: list[Part] = [Outages(outages, ledger), jobs, telemetry, on_nodes]
        return parts, ledger, {"admit": AdmitSitePolicy(drawn)}

    found = outcome(make, all_parts=False)
    assert found == outcome(make, all_parts=True)
    assert case.tasks is not None
    if not isinstance(found, str):
        for telemetry, on_nodes, drawn in made:
            check(telemetry.result(), on_nodes, drawn, len(case.tasks.submit))


@pytest.mark.matrix
@pytest.mark.parametrize("dispatch", ["jsq", "pull", "sparrow"])
@pytest.mark.parametrize("seed", range(3))
def test_nodes_that_are_launched_and_removed_at_whole_seconds(dispatch: str, seed: int) -> None:
    made = list[tuple[TelemetryPart, WorkersPart, list[Drawn]]]()
    rng = np.random.default_rng(seed)
    submit, work = np.sort(rng.integers(31, 400, 150)).astype(float), rng.exponential(2.0, 150)
    jobs = VectorJobs.of(
        submit=np.sort(rng.integers(30, 300, 20)).astype(float),
        run=rng.integers(1, 60, 20).astype(float),
        cores=rng.integers(1, 4, 20),
    )

    def make() -> tuple[list[Part], Ledger, dict[str, Any]]:
        cuts = Interruptions(np.array([65.0, 120.0, 121.0]), np.zeros(3, np.int64), np.array([1, 0, 2]))
        fleet, policy = InstanceFleet((SMALL,), interruptions=cuts), Until(3)
        ledger = Ledger([fleet.rows(), [4, 4]], parts=2)
        made.append(
            measured(Tasks(submit.tolist(), work.tolist(), [1.0] * SMALL.most), ledger, dispatch, 1.0, 0.4)
        )
        telemetry, on_nodes, drawn = made[-1]
        launched = part_of(jobs, fleet, ledger, policy, seed, others=True, begin=0.0)
        # A second site, whose instants concern none of these parts.
        elsewhere = workers(Tasks((submit + 0.5).tolist(), work.tolist(), [1.0] * 2), ledger, site=1)
        parts: list[Part] = [launched, telemetry, on_nodes, elsewhere]
        return parts, ledger, {"scale": policy, "admit": AdmitSitePolicy(drawn)}

    found = outcome(make, all_parts=False)
    assert found == outcome(make, all_parts=True)
    for telemetry, on_nodes, drawn in made:
        observed = telemetry.result()
        check(observed, on_nodes, drawn, 150)
        # Before the first launch is ready, at 30 s, there is no node; one row is never launched.
        assert not observed.present[:30].any()
        assert observed.present[40:200].any()
        assert not observed.present.all(axis=1).any()
