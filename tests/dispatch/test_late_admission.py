"""Admission with late binding: against a plain version, and what holds for all answers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from plain_admission import GatedNaive, GatedPull, GatedSparrow, run_gated
from test_decentralised import SEED, Chance, stalled
from test_oracle import SPEEDS, shaky, workload

from windlass.dispatch.policies.pull import Pull
from windlass.dispatch.policies.sparrow import Sparrow
from windlass.model.timetable import WorkerTimetable
from windlass.sim.telemetry.answers import limits_of
from windlass.sim.telemetry.gate import gate
from windlass.sim.telemetry.late_gate import set_late_answers


def drawn_answers(until, every, share, seed=4):
    rng = np.random.default_rng(seed)
    return [(time, rng.random(len(SPEEDS)) < share) for time in np.arange(every, until, every)]


def make_pair(name, schedulers, chance_of):
    """Return a policy, and the plain schedulers with its random values."""
    if name == "sparrow":
        policy = Sparrow(len(SPEEDS), np.random.default_rng(5))
        chance = chance_of(policy)
        return policy, chance, [GatedSparrow(len(SPEEDS), word, 2).start() for word in chance.words]
    policy = Pull(len(SPEEDS), rng=np.random.default_rng(5))
    chance = chance_of(policy)
    words = zip(chance.words, chance.benchmark_at, strict=True)
    return policy, chance, [GatedPull(len(SPEEDS), None, schedulers, word, at).start() for word, at in words]


@pytest.mark.matrix
@pytest.mark.parametrize("name", ["pull", "sparrow"])
@pytest.mark.parametrize(("schedulers", "delay"), [(1, 0.0), (3, 0.4)])
@pytest.mark.parametrize("per_job", [1, 4])
@pytest.mark.parametrize("changes", [None, shaky, stalled])
@pytest.mark.parametrize("share", [0.3, 0.8])
def test_tasks_run_as_in_the_plain_version(name, schedulers, delay, per_job, changes, share):
    submit, work = workload(tasks=800, load=0.5, per_job=per_job)
    timetable = changes(submit[-1]) if changes else WorkerTimetable.none()
    answers = drawn_answers(2.0 * submit[-1], every=1.7, share=share)
    policy, chance, several = make_pair(
        name, schedulers, lambda policy: Chance(policy, schedulers, submit, work, per_job)
    )
    done, counts = run_gated(
        policy, SPEEDS, submit, work, answers,
        timetable=timetable, schedulers=schedulers, delay=delay, per_job=per_job, seed=SEED, samples=37,
    )  # fmt: skip
    arrivals = np.repeat(submit, per_job)
    plain = GatedNaive(
        several, SPEEDS, arrivals, work, timetable, per_job, chance.sender, delay, sizes_known=False
    )
    plain.let_answer(answers).check(done)
    assert (counts.accepted, counts.diverted, counts.forced) == (plain.accepted, 0, plain.forced)
    assert counts.forced > 0 or share < 0.5


@pytest.mark.parametrize("name", ["pull", "sparrow"])
def test_events_of_one_instant_come_in_the_same_order_as_in_the_plain_version(name):
    """Tasks of one second end, arrive, and find new answers at whole seconds."""
    submit, work = np.repeat(np.arange(40.0), 3), np.ones(120)
    answers = drawn_answers(200.0, every=1.0, share=0.4)
    timetable = WorkerTimetable.speeds([0.0] * 5, [*range(5)], [1.0] * 5)
    policy, chance, several = make_pair(name, 1, lambda policy: Chance(policy, 1, submit, work))
    done, counts = run_gated(policy, SPEEDS, submit, work, answers, timetable=timetable, seed=SEED, samples=7)
    plain = GatedNaive(several, SPEEDS, submit, work, timetable, sender=chance.sender, sizes_known=False)
    plain.let_answer(answers).check(done)
    assert (counts.accepted, counts.forced) == (plain.accepted, plain.forced)


def make_named(name, nodes):
    if name == "sparrow":
        return Sparrow(nodes, np.random.default_rng(1))
    return Pull(nodes, float(nodes), rng=np.random.default_rng(1), probe_share=0.0)


@pytest.mark.parametrize("name", ["pull", "sparrow"])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_nodes_that_reject_start_no_task_while_another_accepts(name, data):
    nodes = data.draw(st.integers(2, 5))
    # Tasks start and end at multiples of 0.5 s, and answers change at none of them.
    submit = np.sort(data.draw(st.lists(st.integers(0, 30), min_size=1, max_size=40))) / 2.0
    rows = data.draw(st.lists(st.lists(st.booleans(), min_size=nodes, max_size=nodes), max_size=12))
    answers = [(1.1 * step + 1.113, np.array(row)) for step, row in enumerate(rows)]
    done, counts = run_gated(make_named(name, nodes), np.ones(nodes), submit, np.ones(len(submit)), answers)
    assert np.isfinite(done.response).all()
    times, forced = np.array([0.0, *(time for time, _ in answers)]), 0
    rejects = np.array([np.zeros(nodes, bool), *(row for _, row in answers)])
    for start, worker in zip(done.start, done.worker, strict=True):
        row = rejects[np.searchsorted(times, start, side="right") - 1]
        assert row.all() or not row[worker]
        forced += row.all()
    assert (counts.accepted, counts.diverted, counts.forced) == (len(submit) - forced, 0, forced)
    if name == "pull":
        check_no_open_node_is_idle(done, times, rejects)


def check_no_open_node_is_idle(done, times, rejects):
    """Check that no task waits while a node takes tasks and is idle; all nodes are equally fast."""
    instants = np.unique(np.concatenate([done.submit, done.end, times]))
    for now, until in zip(instants, [*instants[1:], np.inf], strict=True):
        middle = min(now + 1e-6, (now + until) / 2)
        row = rejects[np.searchsorted(times, middle, side="right") - 1]
        busy = set(done.worker[(done.start <= middle) & (middle < done.end)].tolist())
        takes = {node for node in range(len(row)) if row.all() or not row[node]}
        waits = ((done.submit <= middle) & (middle < done.start)).any()
        assert not waits or takes <= busy


@pytest.mark.parametrize("name", ["pull", "sparrow"])
@pytest.mark.parametrize(("schedulers", "delay"), [(1, 0.0), (3, 0.4)])
@pytest.mark.parametrize("share", [0.0, 1.0], ids=["none rejects", "all reject"])
def test_without_a_node_to_prefer_nothing_changes(name, schedulers, delay, share):
    submit, work = workload(tasks=2000)
    policy = make_pair(name, 1, lambda policy: Chance(policy, 1, submit, work))[0]
    more = {"timetable": shaky(submit[-1]), "schedulers": schedulers, "delay": delay}
    done, counts = run_gated(
        policy, SPEEDS, submit, work, drawn_answers(submit[-1], 1.3, share, seed=1), **more
    )
    plain, _ = run_gated(policy, SPEEDS, submit, work, None, **more)
    for field in ("response", "start", "worker"):
        assert np.array_equal(getattr(done, field), getattr(plain, field)), field
    assert counts.accepted + counts.forced == len(submit)
    assert (counts.forced > 0) == (share == 1.0)


def test_an_idle_node_that_accepts_again_gets_the_task_that_waits():
    """Node 0 is busy from 0 to 10 s; node 1 rejects from 0.5 s to 3 s, and the second task arrives at 1 s."""
    submit, work = np.array([0.0, 0.0, 1.0]), np.array([10.0, 0.25, 1.0])
    answers = [(0.5, [False, True]), (3.0, [False, False])]
    done, _ = run_gated(make_named("pull", 2), np.ones(2), submit, work, answers)
    assert done.start.tolist() == [0.0, 0.0, 3.0]
    # The reservation of the third task is placed on the node that accepts, and stays there.
    done, _ = run_gated(Sparrow(2, np.random.default_rng(1)), np.ones(2), submit, work, answers)
    assert done.start[2] == 10.0


def test_reservations_leave_a_node_that_begins_to_reject():
    """Both nodes have a reservation of the third task; the first one that ends a task takes it."""
    submit, work = np.array([0.0, 0.0, 1.0]), np.array([10.0, 4.0, 1.0])
    policy = Sparrow(2, np.random.default_rng(1))
    done, _ = run_gated(policy, np.ones(2), submit, work, [])
    assert done.start.tolist() == [0.0, 0.0, 4.0]
    rejects = np.arange(2) == done.worker[1]
    for back, start in ((3.0, 4.0), (20.0, 10.0)):
        done, _ = run_gated(policy, np.ones(2), submit, work, [(2.0, rejects), (back, ~rejects)])
        assert done.start.tolist() == [0.0, 0.0, start]


def test_speeds_of_nodes_that_reject_are_not_forgotten():
    policy = gate(Pull(3, 3.0, rng=np.random.default_rng(1)))
    for _ in range(30):
        for worker, seconds in enumerate((1.0, 0.1, 0.5)):
            policy.completed(worker, 1.0, seconds)
    policy.arrived(1.0)
    assert list(policy.offers()) == [1, 2, 0]
    assert set_late_answers(policy.ints[None], limits_of(np.array([False, True, False])))
    assert list(policy.offers()) == [2, 0]
    assert policy.takes(1, 2.0, 9) == 0
    # Without the fastest one, the next takes the first task.
    assert policy.takes(2, 2.0, 1) == 1
    assert set_late_answers(policy.ints[None], limits_of(np.array([False, False, True])))
    assert list(policy.offers()) == [1, 0]
    assert set_late_answers(policy.ints[None], limits_of(np.array([False, True, False])))
    policy.left(2)
    policy.left(0)
    # The only node that is up rejects, so the gate is open.
    assert list(policy.offers()) == [1]
    policy.joined(0)
    assert list(policy.offers()) == [0]
    assert set_late_answers(policy.ints[None], limits_of(np.zeros(3, bool)))
    assert sorted(policy.offers()) == [0, 1]
    assert not set_late_answers(policy.ints[None], limits_of(np.zeros(3, bool)))
