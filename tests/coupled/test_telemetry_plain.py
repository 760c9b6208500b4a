"""Compiled telemetry, with policies in its loop and outside of it, equals the one in Python bit for bit."""

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
from windlass.admit import POLICIES as ADMIT
from windlass.admit import Admission, AdmitSiteView, SiteAdmission
from windlass.admit.context import AdmitContext
from windlass.admit.policies.utilisation import Utilisation
from windlass.admit.site import Reads
from windlass.drive import drive
from windlass.experiment.dispatching import make_policy
from windlass.jit import Kernel
from windlass.model import InputError
from windlass.model.timetable import NodeTimetable
from windlass.model.vectors import VectorJobs
from windlass.order.site.policies.easy import Easy
from windlass.sim.coupled import Coupled
from windlass.sim.instances.fleet import InstanceFleet, Interruptions
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Part
from windlass.sim.site.part import SitePart
from windlass.sim.telemetry.binding import binding_kernels
from windlass.sim.telemetry.gate import gate
from windlass.sim.telemetry.metrics import Metrics, read_model
from windlass.sim.telemetry.part import TelemetryPart, policy_kernels
from windlass.sim.telemetry.policy_call import OUTSIDE
from windlass.sim.telemetry.site_policy import AdmitSitePolicy
from windlass.sim.telemetry.steps import ACT
from windlass.sim.workers.part import kernels

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


def telemetry_of(kind: Any, on_nodes: Any, ledger: Ledger, reads: Reads, every: float, **more: Any) -> Any:
    """Return telemetry of one of the two kinds."""
    metrics = Metrics(read_model(), len(on_nodes.state.base), np.random.default_rng(2))
    return kind(on_nodes, metrics, ledger, reads=reads, every=every, **more)


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


@pytest.mark.matrix(0)
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


def on_instances(
    kind: Any, dispatch: str, seed: int, reads: Reads, **more: Any
) -> tuple[list[Part], Ledger, dict[str, Any]]:
    """Return telemetry of instances for several hundred steps; tasks are more than there is room for at first."""
    rng = np.random.default_rng(seed)
    submit, work = np.sort(rng.uniform(31, 260, 900)), rng.exponential(0.8, 900)
    jobs = VectorJobs.of(
        submit=np.sort(rng.integers(30, 300, 20)).astype(float),
        run=rng.integers(1, 60, 20).astype(float),
        cores=rng.integers(1, 4, 20),
    )
    cuts = Interruptions(np.array([65.0, 120.0, 121.0]), np.zeros(3, np.int64), np.array([1, 0, 2]))
    fleet, policy = InstanceFleet((SMALL,), interruptions=cuts), Until(3)
    ledger = Ledger([fleet.rows()], parts=2)
    tasks = Tasks(submit.tolist(), work.tolist(), [1.0] * SMALL.most)
    on_nodes = gated_workers(tasks, ledger, dispatch)
    telemetry = telemetry_of(kind, on_nodes, ledger, reads, 1.0, **more)
    launched = part_of(jobs, fleet, ledger, policy, seed, others=True, begin=0.0)
    return [launched, telemetry, on_nodes], ledger, {"scale": policy}


@pytest.mark.matrix
@pytest.mark.parametrize("dispatch", ["jsq", "pull", "sparrow"])
@pytest.mark.parametrize("seed", range(2))
def test_compiled_telemetry_of_instances_equals_a_plain_one(dispatch: str, seed: int) -> None:
    def make(kind: Any) -> tuple[list[Part], Ledger, dict[str, Any]]:
        parts, ledger, policies = on_instances(kind, dispatch, seed, Reads(metrics=False))
        return parts, ledger, {**policies, "admit": AllDrawn(0.4)}

    same(make)


#: Policies with a compiled function, and their parameters.
_IN_LOOP = st.one_of(
    st.tuples(
        st.sampled_from(["utilisation", "ready"]),
        st.fixed_dictionaries(
            {
                "threshold": st.sampled_from([0.2, 0.7]),
                "downtime": st.sampled_from([None, 0.3]),
                "between": st.booleans(),
                "spike": st.sampled_from([None, 0.4]),
            }
        ),
    ),
    st.tuples(
        st.just("rising"),
        st.fixed_dictionaries({"downtime": st.just(0.4), "rise": st.sampled_from([0.0, 1.0])}),
    ),
    st.tuples(st.just("concurrency"), st.fixed_dictionaries({"limit": st.integers(1, 3)})),
    st.tuples(st.sampled_from(["always", "never"]), st.just({})),
)


@settings(CHECK, max_examples=100)
@given(
    case=cases(with_tasks=True),
    dispatch=_DISPATCH,
    every=st.sampled_from([1.0, 0.5, 1 / 3]),
    policy=_IN_LOOP,
    schedulers=st.sampled_from([1, 1, 3]),
    delay=st.sampled_from([0.0, 0.0, 0.3]),
)
def test_a_policy_in_the_loop_decides_as_outside_of_it(
    case: Case, dispatch: str, every: float, policy: tuple[str, dict[str, Any]], schedulers: int, delay: float
) -> None:
    outages = case.outages
    for node, cores in enumerate(case.cores):
        outages += NodeTimetable.outage(node, 60.0, 61.0, cores=cores)

    def make(kind: Any, reads: Reads, **more: Any) -> tuple[list[Part], Ledger, dict[str, Any]]:
        assert case.tasks is not None
        ledger = Ledger([case.cores], parts=1)
        on_nodes = gated_workers(case.tasks, ledger, dispatch, schedulers=schedulers, probe_delay=delay)
        telemetry = telemetry_of(kind, on_nodes, ledger, reads, every, **more)
        jobs = SitePart(case.jobs, Easy(), ledger, record=True)
        return [Outages(outages, ledger), jobs, telemetry, on_nodes], ledger, {}

    same_in_loop(make, policy, len(case.cores))


def same_in_loop(
    make: Callable[..., tuple[list[Part], Ledger, dict[str, Any]]],
    policy: tuple[str, dict[str, Any]],
    nodes: int,
) -> Any:
    """Check that results, and the state of the policy, are the same in the loop and outside; return the results."""
    name, parameters = policy
    found, later = list[Any](), list[Any]()
    for kind, in_loop in ((TelemetryPart, True), (TelemetryPart, False), (PlainTelemetry, False)):
        context = AdmitContext(np.random.default_rng(5), 1, nodes=nodes)
        site = AdmitSitePolicy([ADMIT.make(name, context, **parameters)])

        def made(
            kind: Any = kind, in_loop: bool = in_loop, site: AdmitSitePolicy = site
        ) -> tuple[list[Part], Ledger, dict[str, Any]]:
            parts, ledger, policies = make(kind, site.reads, **({"policy": site} if in_loop else {}))
            return parts, ledger, policies if in_loop else {**policies, "admit": site}

        found.append(outcome(made, all_parts=False))
        # The simulation has changed the state of the policy itself.
        half = np.full(nodes, 0.5)
        answer = site.decide(AdmitSiteView(0.0, np.zeros((nodes, 0)), half, half, half > 0.0))
        later.append((answer.reject.tolist(), answer.limit.tolist(), list(answer.why)))
    assert found[0] == found[1] == found[2]
    assert later[0] == later[1] == later[2]
    return found[0]


@pytest.mark.matrix(0)
@pytest.mark.parametrize("dispatch", ["jsq", "pull", "sparrow"])
@pytest.mark.parametrize(
    "policy",
    [
        ("never", {}),
        ("concurrency", {"limit": 1}),
        ("utilisation", {"threshold": 0.5}),
        ("ready", {"downtime": 0.3, "between": True, "spike": 0.4}),
        ("rising", {"downtime": 0.4, "between": False}),
    ],
    ids=lambda policy: policy[0],
)
def test_a_policy_in_the_loop_decides_for_instances_as_outside_of_it(
    dispatch: str, policy: tuple[str, dict[str, Any]]
) -> None:
    results, _ = same_in_loop(
        lambda kind, reads, **more: on_instances(kind, dispatch, 0, reads, **more), policy, SMALL.most
    )
    # Of `Observed`: (dtype, shape, bytes) of what nodes reject.
    assert any(results[1][1][2]) == (policy[0] != "concurrency")


@pytest.mark.parametrize("dispatch", ["jsq", "pull"])
def test_the_announced_kernels_of_a_policy_in_the_loop_are_the_used_ones(
    monkeypatch: pytest.MonkeyPatch, dispatch: str
) -> None:
    called, policy = set[Kernel](), AdmitSitePolicy([Utilisation(0.5, nodes=2)])
    gated = gate(make_policy(dispatch, np.ones(2), np.random.default_rng(1)))
    announced = {
        *TelemetryPart.kernels,
        *binding_kernels(gated),
        *policy_kernels(policy),
        *kernels(gated),
    }

    def recording(method: Callable[[Kernel], Any]) -> Callable[[Kernel], Any]:
        def recorded(kernel: Kernel) -> Any:
            called.add(kernel)
            return method(kernel)

        return recorded

    for method in ("ready", "entry", "as_argument"):
        monkeypatch.setattr(Kernel, method, recording(getattr(Kernel, method)))
    ledger = Ledger([[4, 4]], parts=0)
    tasks = Tasks(np.linspace(0.0, 30.0, 60).tolist(), [1.0] * 60, [1.0, 1.0])
    on_nodes = workers(tasks, ledger, policy=gated)
    telemetry = telemetry_of(TelemetryPart, on_nodes, ledger, policy.reads, 1.0, policy=policy)
    observed, _ = drive(Coupled([telemetry, on_nodes], ledger), {})
    assert observed.rejects.any()
    assert {*policy_kernels(policy)} <= called <= announced - {OUTSIDE, ACT}


def test_a_policy_for_other_nodes_is_refused() -> None:
    ledger = Ledger([[4, 4]], parts=0)
    on_nodes = gated_workers(Tasks([0.0], [1.0], [1.0, 1.0]), ledger, "jsq")
    policy = AdmitSitePolicy([Utilisation(0.5, nodes=3)])
    with pytest.raises(InputError, match="Utilisation is for 3 nodes, expected 2; pass nodes=2"):
        telemetry_of(TelemetryPart, on_nodes, ledger, policy.reads, 1.0, policy=policy)
    # A policy of each node is called outside of the loop.
    assert AdmitSitePolicy([Utilisation(0.5), Utilisation(0.5)]).compiled is None
