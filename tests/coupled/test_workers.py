"""Workers on nodes: their speeds, outages and failures."""

from __future__ import annotations

import numpy as np
import pytest

from tests.coupled.cases import Case, Tasks, jobs_of, none, run, workers
from windlass.drive import drive
from windlass.model.timetable import NodeTimetable, WorkerTimetable
from windlass.sim.coupled import Coupled
from windlass.sim.nodes import Ledger
from windlass.sim.outages import Outages


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
