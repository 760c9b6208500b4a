"""Tasks that wait for a node, as admission sees them: against a count over the times of all tasks."""

from __future__ import annotations

import numpy as np
import pytest

from tests.coupled.cases import Tasks, workers
from tests.coupled.test_telemetry import telemetry_part
from windlass.admit import AdmitSiteView, SiteAdmission
from windlass.admit.policies.ready import Ready
from windlass.admit.policies.relenting import Relenting
from windlass.admit.site import Reads, alike
from windlass.admit.view import Admission
from windlass.drive import drive
from windlass.experiment.dispatching import make_policy
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.telemetry.gate import gate
from windlass.sim.telemetry.site_policy import AdmitSitePolicy
from windlass.sim.workers.result import Dispatched


class Noting:
    """Accepts all tasks, and notes its views."""

    name = "noting"
    reads = Reads(metrics=False, tasks=False, unbound=True)

    def __init__(self) -> None:
        self.views: list[AdmitSiteView] = []

    def decide(self, view):
        raise AssertionError

    def decide_all(self, view: AdmitSiteView) -> SiteAdmission:
        self.views.append(view)
        return alike(Admission(False, "noted"), len(view.present))


def _run(policy, dispatch: str, load: float) -> Dispatched:
    """Run tasks of a load on two nodes of one core, with a step a second."""
    rng = np.random.default_rng(4)
    submit = np.cumsum(rng.exponential(0.5 / load, 300))
    tasks = Tasks(submit.tolist(), rng.exponential(1.0, 300).tolist(), [1.0, 1.0])
    ledger = Ledger([[1, 1]], parts=1)
    gated = gate(make_policy(dispatch, np.ones(2), np.random.default_rng(1)))
    on_nodes, site = workers(tasks, ledger, policy=gated), AdmitSitePolicy([policy])
    telemetry = telemetry_part(on_nodes, ledger, reads=site.reads)
    done: Dispatched = drive(Coupled([telemetry, on_nodes], ledger), {"dispatch": gated, "admit": site})[1]
    return done


@pytest.mark.parametrize("dispatch", ["pull", "sparrow"])
def test_tasks_without_a_node_are_counted(dispatch: str) -> None:
    policy = Noting()
    done = _run(policy, dispatch, 0.9)
    found = [view.unbound for view in policy.views]
    for view, unbound in zip(policy.views, found, strict=True):
        waits = done.submit[(done.submit <= view.now) & (done.start > view.now)]
        assert unbound.waiting == len(waits)
        assert unbound.oldest == (view.now - waits.min() if len(waits) else 0.0)
    assert max(unbound.waiting for unbound in found) > 3


def test_no_task_is_without_a_node_where_dispatch_binds_at_once() -> None:
    policy = Noting()
    _run(policy, "jsq", 0.9)
    assert {view.unbound.waiting for view in policy.views} == {0}


def test_relenting_bounds_a_queue_that_ready_lets_grow() -> None:
    # One of the nodes is mostly rejected: the rest has less capacity than tasks need.
    found = {
        name: _run(policy, "pull", 0.7)
        for name, policy in (
            ("ready", Ready(0.02, nodes=2)),
            ("relenting", Relenting(0.02, patience=1.0, nodes=2)),
            ("none", Noting()),
        )
    }
    waits = {name: float((done.start - done.submit).max()) for name, done in found.items()}
    assert waits["none"] <= waits["relenting"] <= waits["none"] + 2.0
    assert waits["ready"] >= waits["relenting"]
