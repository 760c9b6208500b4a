"""Compiled telemetry equals the one in Python, bit for bit: drawn rows that come and go, early and late binding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled.cases import Case, Tasks, cases, workers
from tests.coupled.test_concerns import outcome
from tests.coupled.test_instances import Until
from tests.oracles.telemetry import PlainTelemetry
from tests.oracles.workloads import CHECK
from tests.sim.instances import SMALL, part_of
from windlass.admit import Admission, AdmitSiteView, SiteAdmission
from windlass.admit.site import Reads
from windlass.experiment.dispatching import make_policy
from windlass.model.timetable import NodeTimetable
from windlass.model.vectors import VectorJobs
from windlass.order.site.policies.easy import Easy
from windlass.sim.instances.fleet import InstanceFleet, Interruptions
from windlass.sim.nodes import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Part
from windlass.sim.site.part import SitePart
from windlass.sim.telemetry.gate import gate
from windlass.sim.telemetry.metrics import Metrics, read_model
from windlass.sim.telemetry.part import TelemetryPart

_DISPATCH = st.sampled_from(["jsq", "pot", "least-outstanding", "pull", "sparrow"])


class AllDrawn:
    """Rejects or limits at random, and keeps all that it receives as bytes."""

    name = "all-drawn"

    def __init__(self, rejects: float) -> None:
        self.rng, self.rejects, self.seen = np.random.default_rng(7), rejects, list[Any]()

    def decide(self, view: AdmitSiteView) -> SiteAdmission:
        assert view.tasks is not None
        known = [view.metrics, view.busy, view.ready, view.present]
        known += [getattr(view.tasks, name) for name in type(view.tasks).__slots__]
        self.seen.append((view.now, *(np.asarray(each, np.float64).tobytes() for each in known)))
        answers = []
        for _ in view.present:
            limit = int(self.rng.integers(1, 4)) if self.rng.random() < 0.3 else None
            answers.append(Admission(bool(self.rng.random() < self.rejects), "drawn", limit=limit))
        return SiteAdmission.of(answers)


def telemetry_of(kind: Any, on_nodes: Any, ledger: Ledger, reads: Reads, every: float) -> Any:
    """Return telemetry of one of the two kinds."""
    metrics = Metrics(read_model(), len(on_nodes.state.base), np.random.default_rng(2))
    return kind(on_nodes, metrics, ledger, reads=reads, every=every)


def gated_workers(tasks: Tasks, ledger: Ledger, dispatch: str, **options: Any) -> Any:
    """Return workers under a gated policy."""
    policy = gate(make_policy(dispatch, np.array(tasks.speeds), np.random.default_rng(1)))
    return workers(tasks, ledger, policy=policy, **options)


def same(make: Callable[[Any], tuple[list[Part], Ledger, dict[str, Any]]]) -> None:
    """Check that results, and what the policy receives, are the same with both kinds."""
    found = []
    for kind in (TelemetryPart, PlainTelemetry):
        made = list[Any]()

        def remember(kind: Any = kind, made: list[Any] = made) -> tuple[list[Part], Ledger, dict[str, Any]]:
            made.append(make(kind))
            return made[-1]

        results = outcome(remember, all_parts=False)
        found.append((results, made[-1][2]["admit"].seen))
    assert found[0][1] == found[1][1]
    assert found[0][0] == found[1][0]


@settings(CHECK, max_examples=120)
@given(
    case=cases(with_tasks=True),
    dispatch=_DISPATCH,
    every=st.sampled_from([1.0, 0.5, 2.0, 1 / 3]),
    rejects=st.sampled_from([0.0, 0.3, 0.8, 1.0]),
    metrics=st.booleans(),
    schedulers=st.sampled_from([1, 1, 3]),
    delay=st.sampled_from([0.0, 0.0, 0.3]),
)
def test_compiled_telemetry_with_outages_and_jobs_equals_a_plain_one(
    case: Case, dispatch: str, every: float, rejects: float, metrics: bool, schedulers: int, delay: float
) -> None:
    outages = case.outages
    for node, cores in enumerate(case.cores):
        # No outage is for ever, so that all tasks end.
        outages += NodeTimetable.outage(node, 60.0, 61.0, cores=cores)

    def make(kind: Any) -> tuple[list[Part], Ledger, dict[str, Any]]:
        assert case.tasks is not None
        ledger = Ledger([case.cores], parts=1)
        on_nodes = gated_workers(case.tasks, ledger, dispatch, schedulers=schedulers, probe_delay=delay)
        telemetry = telemetry_of(kind, on_nodes, ledger, Reads(metrics=metrics), every)
        jobs = SitePart(case.jobs, Easy(), ledger, record=True)
        parts: list[Part] = [Outages(outages, ledger), jobs, telemetry, on_nodes]
        return parts, ledger, {"admit": AllDrawn(rejects)}

    same(make)


@pytest.mark.parametrize("dispatch", ["jsq", "pull", "sparrow"])
@pytest.mark.parametrize("seed", range(2))
def test_compiled_telemetry_of_instances_equals_a_plain_one(dispatch: str, seed: int) -> None:
    # Several hundred steps, and more tasks than there is room for at first.
    rng = np.random.default_rng(seed)
    submit, work = np.sort(rng.uniform(31, 260, 900)), rng.exponential(0.8, 900)
    jobs = VectorJobs.of(
        submit=np.sort(rng.integers(30, 300, 20)).astype(float),
        run=rng.integers(1, 60, 20).astype(float),
        cores=rng.integers(1, 4, 20),
    )

    def make(kind: Any) -> tuple[list[Part], Ledger, dict[str, Any]]:
        cuts = Interruptions(np.array([65.0, 120.0, 121.0]), np.zeros(3, np.int64), np.array([1, 0, 2]))
        fleet, policy = InstanceFleet((SMALL,), interruptions=cuts), Until(3)
        ledger = Ledger([fleet.rows()], parts=2)
        tasks = Tasks(submit.tolist(), work.tolist(), [1.0] * SMALL.most)
        on_nodes = gated_workers(tasks, ledger, dispatch)
        telemetry = telemetry_of(kind, on_nodes, ledger, Reads(metrics=False), 1.0)
        launched = part_of(jobs, fleet, ledger, policy, seed, others=True, begin=0.0)
        return [launched, telemetry, on_nodes], ledger, {"scale": policy, "admit": AllDrawn(0.4)}

    same(make)
