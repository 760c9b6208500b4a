"""Nodes that measure themselves while their rows come and go."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tests.coupled.cases import Tasks, workers
from windlass.admit import Admission, AdmitSiteView, AdmitView, SiteAdmission
from windlass.admit.policies.ready import Ready
from windlass.admit.policies.utilisation import Utilisation
from windlass.admit.site import Reads, alike
from windlass.drive import drive
from windlass.experiment.dispatching import make_policy
from windlass.model import PolicyError
from windlass.model.timetable import NodeTimetable
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Part
from windlass.sim.telemetry.gate import gate
from windlass.sim.telemetry.metrics import Metrics, read_model
from windlass.sim.telemetry.part import TelemetryPart
from windlass.sim.telemetry.result import Observed
from windlass.sim.telemetry.site_policy import AdmitSitePolicy
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.result import Dispatched


class BusyNoting:
    """Rejects while its node's cores are all busy, and notes its views."""

    name = "noting"

    def __init__(self) -> None:
        self.views: list[AdmitView] = []

    def decide(self, view: AdmitView) -> Admission:
        self.views.append(view)
        return Admission(view.busy >= 1.0, "noted")


def run(
    tasks: Tasks, outages: NodeTimetable, dispatch: str = "jsq", cores: int = 4
) -> tuple[Observed, Dispatched, list[BusyNoting]]:
    """Run tasks on nodes with outages, and with a step a second."""
    nodes = len(tasks.speeds)
    ledger = Ledger([[cores] * nodes], parts=1)
    policy = gate(make_policy(dispatch, np.array(tasks.speeds), np.random.default_rng(1)))
    on_nodes = workers(tasks, ledger, policy=policy)
    noting = [BusyNoting() for _ in range(nodes)]
    telemetry = telemetry_part(on_nodes, ledger)
    parts: list[Part] = [Outages(outages, ledger), telemetry, on_nodes]
    _, observed, done = drive(Coupled(parts, ledger), {"dispatch": policy, "admit": AdmitSitePolicy(noting)})
    return observed, done, noting


def telemetry_part(on_nodes: WorkersPart, ledger: Ledger, **options: Any) -> TelemetryPart:
    """Return the telemetry of the nodes of some workers."""
    metrics = Metrics(read_model(), len(on_nodes.state.base), np.random.default_rng(2))
    return TelemetryPart(on_nodes, metrics, ledger, **options)


def steady(count: int, nodes: int) -> Tasks:
    """Return tasks that keep all nodes busy for most of the time."""
    rng = np.random.default_rng(3)
    submit = np.cumsum(rng.exponential(0.9 / nodes, count))
    return Tasks(submit.tolist(), rng.exponential(0.8, count).tolist(), [1.0] * nodes)


@pytest.mark.parametrize("dispatch", ["jsq", "pull", "sparrow"])
@pytest.mark.parametrize("kill", [False, True])
def test_a_node_may_leave_at_the_end_of_a_step(dispatch: str, kill: bool) -> None:
    # Its tasks have no worker when the others measure themselves.
    outages = NodeTimetable.outage(0, 30.0, 60.0, cores=4, kill=kill)
    observed, done, _ = run(steady(400, 4), outages, dispatch)
    assert not np.isnan(done.end).any()
    tasks = observed.tasks
    assert tasks.accepted + tasks.diverted + tasks.forced >= 400
    assert observed.present[29:59, 0].tolist() == [False] * 30


def test_a_task_that_loses_its_node_at_the_end_of_a_step_is_at_no_node() -> None:
    # Each node runs a task. As node 0 leaves at 2 s, node 1 measures itself before the task of node 0 comes.
    outages = NodeTimetable.outage(0, 2.0, 20.0, cores=4)
    observed, done, noting = run(Tasks([0.0, 0.0], [9.0, 9.0], [1.0, 1.0]), outages)
    assert sorted(done.end.tolist()) == [9.0, 18.0]
    assert observed.of("queue")[:3, 1].tolist() == [1 / 4, 1 / 4, 2 / 4]
    assert [view.tasks.waiting for view in noting[1].views[:3] if view.tasks is not None] == [0, 0, 1]


@pytest.mark.parametrize("dispatch", ["jsq", "pull"])
def test_a_node_without_cores_is_absent_and_rejects_nothing(dispatch: str) -> None:
    outages = NodeTimetable.outage(0, 30.0, 60.0, cores=4)
    observed, done, noting = run(steady(400, 4), outages, dispatch)
    steps = np.arange(1, len(observed.channels) + 1)
    # It is absent at the step that ends as it leaves, and has measured nothing when it comes back.
    away = (steps >= 30) & (steps <= 60)
    assert observed.present[:, 0].tolist() == (~away).tolist()
    assert observed.present[:, 1:].all()
    assert [view.now for view in noting[0].views] == steps[~away].tolist()
    assert not observed.rejects[away, 0].any()
    assert observed.downtime == observed.rejects.sum() / (len(steps) * 4 - away.sum()) > 0
    assert not ((done.worker == 0) & (done.start > 30.0) & (done.start < 60.0)).any()
    assert all(np.isfinite(view.metrics).all() for view in noting[0].views)


def test_a_node_with_part_of_its_cores_is_measured_against_those() -> None:
    # One task, for eight seconds at full speed; from 4 s on the node has one of four cores, for half of a step two.
    outages = NodeTimetable.outage(0, 4.0, None, cores=4, left=1) + NodeTimetable.outage(
        0, 2.5, 3.0, cores=4, left=2
    )
    observed, _, noting = run(Tasks([0.0], [8.0], [1.0]), outages)
    # Tasks per core: over the four cores, over three on average, and over the one that is left.
    assert observed.of("queue")[:7, 0].tolist() == [1 / 4, 1 / 4, 1 / 3, 1 / 4, 1.0, 1.0, 1.0]
    assert observed.of("ready")[:7, 0].tolist() == [0.0] * 7
    assert observed.of("busy")[:7, 0].tolist() == [1.0] * 7
    # The task arrived in the first step, in which the node could run one such task.
    assert observed.of("network")[:2, 0].tolist() == [1.0, 0.0]
    assert len(noting[0].views) == len(observed.channels)


def test_a_task_that_lost_its_node_waits_at_the_next_one() -> None:
    # The second task runs on node 1, which fails at 2.5 s; it waits behind the first, and node 1 is back at 4 s.
    outages = NodeTimetable.outage(1, 2.5, 4.0, cores=4, kill=True)
    observed, done, noting = run(Tasks([0.0, 0.0], [10.0, 5.0], [1.0, 1.0]), outages)
    assert done.worker.tolist() == [0, 0]
    assert observed.present[:5, 1].tolist() == [True, True, False, False, True]
    waiting = [view.tasks.waiting for view in noting[0].views[:5] if view.tasks is not None]
    assert waiting == [0, 0, 1, 1, 1]
    # The step in which it came; it has waited there since its arrival in the third one.
    assert observed.of("ready")[3:5, 0].tolist() == [0.25, 0.25]
    assert observed.of("busy")[4, 1] == 0.0


def test_without_any_node_tasks_wait_with_their_scheduler() -> None:
    # The third task waited in the queue of node 0 before both nodes left.
    outages = NodeTimetable.outage(0, 2.5, 6.0, cores=4) + NodeTimetable.outage(1, 2.5, 5.0, cores=4)
    observed, done, noting = run(Tasks([0.0, 0.0, 1.0], [9.0, 9.0, 1.0], [1.0, 1.0]), outages)
    assert not np.isnan(done.end).any()
    assert observed.present[:7].tolist() == [[True] * 2] * 2 + [[False] * 2] * 3 + [[False, True], [True] * 2]
    assert observed.of("queue")[5, 1] == pytest.approx(3 / 4)
    assert all(not math.isnan(view.busy) for each in noting for view in each.views)


def test_the_answers_of_each_step_pass_through_the_engine() -> None:
    ledger, tasks = Ledger([[4] * 3], parts=0), steady(60, 3)
    policy = gate(make_policy("jsq", np.ones(3), np.random.default_rng(1)))
    on_nodes, noted = workers(tasks, ledger, policy=policy), list[Any]()
    # The second node is away from 4 s to 8 s, and from 20 s on all are away for a while.
    away = NodeTimetable.outage(1, 3.5, 8.5, cores=4)
    for node in range(3):
        away += NodeTimetable.outage(node, 19.5, 22.5, cores=4)
    parts = [Outages(away, ledger), telemetry_part(on_nodes, ledger), on_nodes]
    site = AdmitSitePolicy([Utilisation(threshold=0.7, nodes=3)])
    observed = drive(Coupled(parts, ledger), {"admit": site}, lambda *each: noted.append(each))[1]
    views, answers = [view for _, view, _ in noted], [answer for _, _, answer in noted]
    assert {decision for decision, _, _ in noted} == {"admit"}
    # Without any node there is nothing to decide.
    times = [step for step in range(1, len(observed.channels) + 1) if step not in (20, 21, 22)]
    assert [view.now for view in views] == times
    assert [view.present.tolist() for view in views] == [
        observed.present[step - 1].tolist() for step in times
    ]
    for step, answer in zip(times, answers, strict=True):
        rejects = answer.reject & observed.present[step - 1]
        assert observed.rejects[step - 1].tolist() == rejects.tolist()
        assert all(answer.why)
    assert not observed.rejects[19:22].any()
    assert observed.rejects.any()


def test_only_what_the_policy_reads_is_provided() -> None:
    noted = list[Any]()
    policy = gate(make_policy("jsq", np.ones(2), np.random.default_rng(1)))
    for reads in (Reads(metrics=False), Reads(tasks=False), Reads()):
        on_nodes = workers(steady(20, 2), ledger := Ledger([[4] * 2], parts=0), policy=policy)
        parts = [telemetry_part(on_nodes, ledger, reads=reads), on_nodes]
        drive(
            Coupled(parts, ledger),
            {"admit": AdmitSitePolicy([Ready(nodes=2)])},
            lambda *each: noted.append(each),
        )
        assert {view.metrics.shape for _, view, _ in noted} == {(2, read_model().dim if reads.metrics else 0)}
        assert {view.tasks is not None for _, view, _ in noted} == {reads.tasks}
        noted.clear()


@pytest.mark.parametrize("nodes", [1, 3])
def test_an_answer_for_other_nodes_is_an_error_that_names_the_policy(nodes: int) -> None:
    policy = gate(make_policy("jsq", np.ones(2), np.random.default_rng(1)))
    on_nodes = workers(steady(20, 2), ledger := Ledger([[4] * 2], parts=0), policy=policy)
    parts = [telemetry_part(on_nodes, ledger), on_nodes]
    with pytest.raises(PolicyError, match=rf"policy 'short' reject has type bool and shape \({nodes},\)"):
        drive(Coupled(parts, ledger), {"admit": AdmitSitePolicy([Short(nodes)])})


class Short:
    """Answers for a constant number of nodes."""

    name = "short"

    def __init__(self, nodes: int) -> None:
        self.nodes = nodes

    def decide(self, view: AdmitView) -> Admission:
        return Admission(True, "alone")

    def decide_all(self, view: AdmitSiteView) -> SiteAdmission:
        return alike(Admission(True, "all"), self.nodes)
