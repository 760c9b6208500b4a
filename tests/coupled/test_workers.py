"""Workers on nodes: their speeds to the last bit, who is down, and what they are told."""

from __future__ import annotations

from tests.coupled.cases import Case, Tasks, jobs_of, none, run, workers
from windlass.drive import drive
from windlass.sim.coupled import Coupled
from windlass.sim.nodes import Ledger


def test_a_worker_on_a_node_without_cores_is_down_from_the_beginning() -> None:
    tasks = Tasks([0.0, 0.0, 0.5], [1.0, 1.0, 1.0], [1.0, 1.0])
    ran = run(Case(jobs_of((0, 0, 1)), [0, 2], none(), tasks))
    assert ran.tasks is not None
    assert ran.tasks.worker.tolist() == [1, 1, 1]


def test_a_worker_sees_what_was_held_before_it_came() -> None:
    ledger = Ledger([[4]], parts=1)
    ledger.hold(0, 0, 3)
    (ran,) = drive(Coupled([workers(Tasks([0.0], [1.0], [1.0]), ledger)], ledger), {})
    assert ran.response.tolist() == [4.0]
