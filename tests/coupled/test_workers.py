"""Workers on nodes: their speeds, outages and failures."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.coupled.cases import Case, Tasks, cases, jobs_of, none, run, workers
from tests.coupled.test_instances import Until
from tests.oracles.workloads import CHECK
from tests.sim.instances import SMALL, part_of
from windlass.drive import drive
from windlass.model import InputError
from windlass.model.timetable import NodeTimetable, WorkerTimetable
from windlass.model.vectors import VectorJobs
from windlass.sim.coupled import Coupled
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Part


def test_a_worker_on_a_node_without_cores_starts_down() -> None:
    tasks = Tasks([0.0, 0.0, 0.5], [1.0, 1.0, 1.0], [1.0, 1.0])
    ran = run(Case(jobs_of((0, 0, 1)), [0, 2], none(), tasks))
    assert ran.tasks is not None
    assert ran.tasks.worker.tolist() == [1, 1, 1]


def test_a_worker_accounts_for_cores_held_before_it_started() -> None:
    ledger = Ledger([[4]], parts=1)
    ledger.hold(0, 0, 3)
    (ran,) = drive(Coupled([workers(Tasks([0.0], [1.0], [1.0]), ledger)], ledger), {})
    assert ran.response.tolist() == [4.0]


def workers_of_tasks(failed: WorkerTimetable, outage: NodeTimetable) -> tuple[list[int], set[int]]:
    """Where tasks at 4 s ran, and where those at 11 s did, when worker 0 fails in two ways."""
    ledger = Ledger([[2, 2]], parts=0)
    tasks = Tasks([4.0, 4.0, 11.0, 11.0], [1.0] * 4, [1.0, 1.0])
    part = workers(tasks, ledger, timetable=failed)
    worker = drive(Coupled([Outages(outage, ledger), part], ledger), {})[1].worker.tolist()
    return worker[:2], set(worker[2:])


@pytest.mark.parametrize("kind", ["drained", "in part"])
def test_the_return_of_a_node_does_not_restore_a_failed_worker(kind: str) -> None:
    outage = NodeTimetable.outage(0, 2.0, 3.0, cores=2, left=0 if kind == "drained" else 1)
    assert workers_of_tasks(WorkerTimetable.failure(0, 1.0, 10.0), outage) == ([1, 1], {0, 1})


def test_a_returning_worker_stays_down_while_its_node_has_no_cores() -> None:
    outage = NodeTimetable.outage(0, 1.0, 10.0, cores=2)
    assert workers_of_tasks(WorkerTimetable.failure(0, 2.0, 3.0), outage) == ([1, 1], {0, 1})


def run_many_failures(first_log: int, monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Many nodes lose their cores, and get them back, at once, while what schedulers see is late."""
    nodes = 200
    monkeypatch.setattr("windlass.sim.workers.setup._FIRST_LOG", first_log)
    ledger, times = Ledger([[2] * nodes], parts=0), NodeTimetable.none()
    for node in range(1, nodes):
        times += NodeTimetable.outage(node, 5.0, 10.0, cores=2)
    # Each has a task when it fails, and none when it is back.
    submit = [*np.linspace(0.0, 1.0, nodes).tolist(), *np.linspace(12.0, 13.0, 300).tolist()]
    tasks = Tasks(submit, [4.5] * len(submit), [1.0] * nodes)
    part = workers(tasks, ledger, probe_delay=1.5)
    ran = drive(Coupled([Outages(times, ledger), part], ledger), {})[1]
    return [ran.response.tobytes(), ran.worker.tobytes()]


def test_many_workers_may_fail_at_once_with_delayed_probes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run_many_failures(16, monkeypatch) == run_many_failures(4096, monkeypatch)


@settings(CHECK, max_examples=60)
@given(
    case=cases(with_tasks=True), split=st.integers(1, 5), dispatch=st.sampled_from(["jsq", "ppot", "pull"])
)
def test_workers_on_two_sites_run_as_on_one(case: Case, split: int, dispatch: str) -> None:
    assume(split < len(case.cores))
    assert case.tasks is not None
    # Two parts change the rows of an instant site by site, so one part has to as well.
    order = np.lexsort((case.outages.node, case.outages.time))
    changed = (case.outages.time, case.outages.node, case.outages.cores)
    both = NodeTimetable(*(each[order] for each in changed), np.zeros(len(order), bool))
    found = list[tuple[object, ...]]()
    for sites in ([case.cores], [case.cores[:split], case.cores[split:]]):
        ledger = Ledger(sites, parts=0)
        parts: list[Part] = []
        for site, first in enumerate((0, split)[: len(sites)]):
            mine = (both.node >= first) & (both.node < first + len(sites[site]))
            columns = both.time[mine], both.node[mine] - first, both.cores[mine], both.kill[mine]
            parts.append(Outages(NodeTimetable(*columns), ledger, site))
        parts.append(workers(case.tasks, ledger, site=range(len(sites)), policy=dispatch))
        try:
            done = drive(Coupled(parts, ledger), {})[-1]
            found.append((done.response.tobytes(), done.worker.tobytes()))
        except InputError as error:
            found.append((str(error),))
    assert found[0] == found[1]


def test_tasks_run_on_nodes_and_on_instances_while_these_are_up() -> None:
    fleet = InstanceFleet((SMALL,))
    ledger, policy = Ledger([[4], fleet.rows()], parts=1), Until(1)
    jobs = VectorJobs.of(submit=[50.0], run=[200.0], cores=1)
    part = part_of(jobs, fleet, ledger, policy, 1, site=1, others=True, begin=0.0)
    tasks = Tasks([1.0, 1.0, 100.0, 100.0], [5.0] * 4, [1.0] * (1 + SMALL.most))
    done = drive(Coupled((part, workers(tasks, ledger, site=(0, 1))), ledger), {"scale": policy})[1]
    # The instance comes up at 30 s. The job leaves three of its four cores.
    assert done.worker.tolist()[:2] == [0, 0]
    assert sorted(done.worker.tolist()[2:]) == [0, 1]
    assert sorted(done.response.tolist()[2:]) == pytest.approx([5.0, 5.0 / 0.75])


def test_the_number_of_workers_on_several_sites_is_checked() -> None:
    ledger = Ledger([[4], [4, 4]], parts=0)
    with pytest.raises(InputError, match="site 0, 1: 3 nodes, expected one for each of 2 workers"):
        workers(Tasks([0.0], [1.0], [1.0, 1.0]), ledger, site=(0, 1))
