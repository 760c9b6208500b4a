"""Tasks that all nodes reject and that are refused: against a plain version, with failures, delays and late binding."""

from __future__ import annotations

import numpy as np
import pytest
from plain_admission import GatedNaive, run_gated
from test_decentralised import SEED, Chance, stalled
from test_late_admission import drawn_answers, make_pair
from test_oracle import SPEEDS, shaky, workload

from windlass.dispatch.policies.rosella import Rosella
from windlass.experiment.dispatching import make_policy
from windlass.model.timetable import WorkerTimetable
from windlass.sim.telemetry.gate import gate


@pytest.mark.matrix
@pytest.mark.parametrize("name", ["pull", "sparrow"])
@pytest.mark.parametrize(("schedulers", "delay"), [(1, 0.0), (3, 0.4)])
@pytest.mark.parametrize("per_job", [1, 4])
@pytest.mark.parametrize("changes", [None, shaky, stalled])
def test_late_binding_refuses_what_arrives_while_all_nodes_reject(name, schedulers, delay, per_job, changes):
    submit, work = workload(tasks=800, load=0.5, per_job=per_job)
    timetable = changes(submit[-1]) if changes else WorkerTimetable.none()
    answers = drawn_answers(2.0 * submit[-1], every=1.7, share=0.8)
    policy, chance, several = make_pair(
        name, schedulers, lambda policy: Chance(policy, schedulers, submit, work, per_job)
    )
    done, counts = run_gated(
        policy, SPEEDS, submit, work, answers,
        timetable=timetable, schedulers=schedulers, delay=delay, per_job=per_job, seed=SEED, samples=37,
        full="refuse",
    )  # fmt: skip
    arrivals = np.repeat(submit, per_job)
    plain = GatedNaive(
        several, SPEEDS, arrivals, work, timetable, per_job, chance.sender, delay, sizes_known=False
    )
    plain.let_answer(answers, "refuse").check(done)
    assert (counts.accepted, counts.diverted, counts.forced) == (plain.accepted, 0, plain.forced)
    assert counts.refused == len(plain.refused) > 0
    assert counts.accepted + counts.forced + counts.refused == len(arrivals)


@pytest.mark.matrix
@pytest.mark.parametrize("name", ["jsq", "ppot", "ll", "least-outstanding"])
@pytest.mark.parametrize("delay", [0.0, 0.4])
@pytest.mark.parametrize("changes", [None, shaky])
def test_binding_at_once_refuses_what_is_sent_while_all_nodes_reject(name, delay, changes):
    """With failures, that includes tasks that lost their worker."""
    submit, work = workload(tasks=800, load=0.5)
    timetable = changes(submit[-1]) if changes else WorkerTimetable.none()
    answers = drawn_answers(2.0 * submit[-1], every=1.7, share=0.8)
    plain_policy = make_policy(name, np.array(SPEEDS), np.random.default_rng(5))
    done, counts = run_gated(
        plain_policy, SPEEDS, submit, work, answers,
        timetable=timetable, delay=delay, samples=37, sizes_known=True, full="refuse",
    )  # fmt: skip
    plain = GatedNaive(gate(plain_policy), SPEEDS, submit, work, timetable, delay=delay)
    plain.let_answer(answers, "refuse").check(done)
    assert counts.refused == len(plain.refused) > 0
    assert counts.forced == 0
    assert counts.accepted + counts.diverted + counts.refused == len(submit) + done.moved


@pytest.mark.parametrize("seed", range(3))
def test_a_task_that_lost_its_worker_and_is_refused_has_no_worker(seed):
    submit, work = np.zeros(4), np.full(4, 10.0)
    policy = make_policy("jsq", np.ones(2), np.random.default_rng(seed))
    # Each node runs one task and queues one as both begin to reject; then node 0 fails.
    done, counts = run_gated(
        policy, np.ones(2), submit, work, [(2.0, [True, True])],
        timetable=WorkerTimetable.failure(0, 5.0, 50.0), full="refuse",
    )  # fmt: skip
    assert done.refused.sum() == counts.refused == 2
    assert (done.worker[done.refused] == -1).all()
    assert np.isnan(done.start[done.refused]).all()
    assert np.isnan(done.end[done.refused]).all()
    assert sorted(done.end[~done.refused]) == [10.0, 20.0]


@pytest.mark.parametrize("name", ["jsq", "pull", "sparrow"])
def test_without_a_node_tasks_wait_and_are_not_refused(name):
    """Both nodes are down from 1 s to 5 s; the answer of 3 s concerns nodes that are not there."""
    submit, work = np.array([0.0, 2.0, 8.0]), np.full(3, 0.5)
    policy = make_policy(name, np.ones(2), np.random.default_rng(1))
    down = WorkerTimetable.failure(0, 1.0, 5.0) + WorkerTimetable.failure(1, 1.0, 6.0)
    answers = [(0.5, [True, True]), (3.0, [False, False]), (7.0, [True, True])]
    done, _ = run_gated(policy, np.ones(2), submit, work, answers, timetable=down, full="refuse")
    assert done.refused.tolist() == [False, False, True]
    assert done.end[:2].tolist() == [0.5, 5.5]


@pytest.mark.parametrize("name", ["jsq", "pull", "sparrow"])
def test_the_run_ends_with_a_task_that_is_refused(name):
    submit, work = np.array([0.0, 4.0, 5.0]), np.ones(3)
    policy = make_policy(name, np.ones(2), np.random.default_rng(1))
    done, counts = run_gated(policy, np.ones(2), submit, work, [(3.0, [True, True])], full="refuse")
    assert done.refused.tolist() == [False, True, True]
    assert (counts.accepted, counts.refused) == (1, 2)
    # Benchmark tasks, which policies that learn send all the time, end with the last task.
    rosella = Rosella(2, 2.0, rng=np.random.default_rng(1))
    done, _ = run_gated(rosella, np.ones(2), submit, work, [(3.0, [True, True])], full="refuse")
    assert done.refused.tolist() == [False, True, True]
    assert done.benchmarks + done.dropped < 100


@pytest.mark.parametrize("name", ["pull", "sparrow"])
def test_tasks_that_wait_already_run_while_all_nodes_reject(name):
    submit, work = np.array([0.0, 0.0, 0.5, 2.0]), np.ones(4)
    policy = make_policy(name, np.ones(2), np.random.default_rng(1))
    done, counts = run_gated(policy, np.ones(2), submit, work, [(0.75, [True, True])], full="refuse")
    assert done.start[2] == 1.0
    assert done.refused.tolist() == [False, False, False, True]
    assert (counts.accepted, counts.forced, counts.refused) == (2, 1, 1)
