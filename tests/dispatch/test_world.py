"""Invariants of every run: no task lost or run twice, lanes in order, estimates converge, errors are named."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_oracle import SPEEDS, Naive, make, shaky, workload

from windlass.dispatch import POLICIES, Rosella, simulate
from windlass.experiment.workloads.arrivals import Bursty
from windlass.experiment.workloads.drift import drift, shocks
from windlass.experiment.workloads.service import Pareto
from windlass.model import PolicyError
from windlass.model.timetable import WorkerTimetable


@settings(max_examples=25, deadline=None)
@given(
    name=st.sampled_from(["rosella", "pot", "sparrow", "least-outstanding", "ppot"]),
    seed=st.integers(0, 2**32),
    failures=st.lists(st.tuples(st.integers(0, 4), st.floats(0, 60), st.floats(0.1, 30)), max_size=12),
    delay=st.sampled_from([0.0, 0.3]),
    schedulers=st.integers(1, 3),
)
def test_no_task_is_lost_or_ended_twice_under_failures(name, seed, failures, delay, schedulers):
    timetable = WorkerTimetable.none()
    for worker, down, length in failures:
        timetable = timetable + WorkerTimetable.failure(worker, down, down + length)
    result = simulate(
        name,
        SPEEDS,
        0.7,
        400,
        seed=seed,
        timetable=timetable,
        record=True,
        probe_delay=delay,
        schedulers=schedulers,
    )
    assert np.isfinite(result.response).all()
    assert (result.start >= result.submit).all()
    # One task at a time: what ran to its end on one worker never overlaps.
    for worker in range(len(SPEEDS)):
        mine = result.worker == worker
        order = np.argsort(result.start[mine])
        ends, starts = result.end[mine][order], result.start[mine][order]
        assert (starts[1:] >= ends[:-1] - 1e-9).all()


def test_the_naive_oracle_runs_each_task_once():
    submit, work = workload(tasks=500)
    plain = Naive(make("pot"), SPEEDS, submit, work, shaky(submit[-1]))
    plain.run()
    assert set(Counter(task for _, what, _, task in plain.events if what == "end").values()) == {1}


def test_tasks_of_a_worker_start_in_order():
    result = simulate("rosella", SPEEDS, 0.8, 20_000, seed=3, record=True)
    for worker in range(len(SPEEDS)):
        assert (np.diff(result.start[result.worker == worker]) > 0).all()


def test_benchmark_tasks_never_overtake_real_ones():
    """A benchmark task begins only on an idle worker: real tasks that wait leave no gap between them."""
    submit = np.zeros(50)
    policy = Rosella(1, guaranteed=1.0, rng=np.random.default_rng(1), probe_share=50.0)
    result = simulate(policy, [1.0], tasks=50, arrivals=submit, service=np.ones(50), record=True)
    np.testing.assert_allclose(result.start, np.arange(50.0))


def test_down_workers_get_no_tasks():
    down = WorkerTimetable.failure(4, 5.0)
    for worker in range(4):
        down = down + WorkerTimetable.failure(worker, 5.0, 50.0)
    result = simulate("rosella", SPEEDS, 0.5, 2000, seed=1, timetable=down, record=True)
    late = result.start > 5.0
    assert (result.worker[late] != 4).all()
    assert not ((result.start > 5.0) & (result.start < 50.0)).any()


@pytest.mark.parametrize("known", [True, False], ids=["sizes known", "sizes hidden"])
def test_estimates_converge_to_true_rates(known):
    speeds = np.array([1.0, 1.0, 2.0, 4.0, 8.0])
    policy = Rosella(5, guaranteed=16.0, rng=np.random.default_rng(1), window_scale=1.0)
    result = simulate(policy, speeds, 0.6, 200_000, seed=2, sizes_known=known)
    # The paper holds estimates back by 1 − ε, with ε = 0.3 (1 − load).
    settled = result.estimates[-20:].mean(axis=0) / (1 - 0.3 * 0.4)
    np.testing.assert_allclose(settled, speeds, rtol=0.02 if known else 0.08)


@pytest.mark.parametrize(("name", "learns"), [("rosella", True), ("jsq", False)])
def test_sizes_are_hidden_by_default(name, learns):
    bare, hidden, known = (
        simulate(name, SPEEDS, 0.7, 3000, seed=1, **options).mean
        for options in ({}, {"sizes_known": False}, {"sizes_known": True})
    )
    assert bare == hidden
    assert (known != hidden) == learns


def test_a_silent_worker_has_rate_zero_until_benchmark_tasks_complete():
    speeds = np.array([1.0] * 8)
    stall = WorkerTimetable.speeds([500.0, 3000.0], [0, 0], [0.0, 1.0])
    policy = Rosella(8, guaranteed=8.0, rng=np.random.default_rng(1), window_scale=0.1)
    result = simulate(policy, speeds, 0.5, 40_000, seed=1, timetable=stall, sizes_known=True)
    time, first = result.sample_time, result.estimates[:, 0]
    assert (first[time < 500] > 0).all()
    assert (first[(time > 2500) & (time < 3000)] == 0).all()
    assert (first[time > 9000] > 0.7).all()


def test_all_rates_zero_falls_back_to_any_worker():
    policy = Rosella(4, guaranteed=4.0, rng=np.random.default_rng(1), gaps=10)
    policy.arrived(0.0)
    policy.choose(np.zeros(4, np.int64))
    policy.arrived(1e12)
    chosen = Counter(policy.choose(np.zeros(4, np.int64)) for _ in range(4000))
    assert (policy.rates == 0).all()
    assert min(chosen[worker] for worker in range(4)) > 800


def test_overload_is_clamped_and_tasks_still_complete():
    policy = Rosella(3, guaranteed=3.0, rng=np.random.default_rng(1))
    result = simulate(policy, np.ones(3), 1.5, 20_000, seed=1)
    assert np.isfinite(result.response).all()
    assert result.benchmarks + result.dropped > 0


def test_uniform_and_pot_are_unstable_with_one_fast_worker():
    """Examples 1 and 2: uniform and PoT are unstable, PSS and PPoT are not."""
    speeds = np.array([1.0] * 9 + [6.0])
    last = {
        name: simulate(name, speeds, 14 / 15, 400_000, seed=1).waiting[-20:].mean()
        for name in ("uniform", "pot", "pss", "ppot")
    }
    # 9 · 0.4 tasks/s pile up under uniform, 2.34 under PoT.
    assert last["uniform"] > 50_000
    assert last["pot"] > 30_000
    assert last["pss"] < 2000
    assert last["ppot"] < 300


def test_delayed_queue_lengths_increase_the_response():
    speeds = np.array([1.0, 1.0, 2.0, 4.0] * 4)
    alone = simulate("ppot", speeds, 0.8, 100_000, seed=1).mean
    parted = simulate("ppot", speeds, 0.8, 100_000, seed=1, schedulers=5).mean
    late = simulate("ppot", speeds, 0.8, 100_000, seed=1, schedulers=5, probe_delay=1.0).mean
    assert parted == pytest.approx(alone, rel=0.05)
    assert late > 1.05 * alone
    learned = simulate(
        "rosella", speeds, 0.8, 100_000, seed=1, schedulers=5, probe_delay=0.1, sizes_known=True
    ).mean
    assert learned < 1.5 * alone


@pytest.mark.matrix
@pytest.mark.parametrize("name", POLICIES.names())
def test_the_same_seed_gives_the_same_result_after_pickling(name):
    policy = make(name)
    again = pickle.loads(pickle.dumps(policy))
    before = policy.ints.copy()
    first = simulate(policy, SPEEDS, 0.7, 5000, seed=4)
    assert (policy.ints == before).all()
    second = simulate(again, SPEEDS, 0.7, 5000, seed=4)
    assert (first.response == second.response).all()


class Plain:
    """A policy of a few lines, not compiled."""

    name = "plain"

    def __init__(self):
        self.completions = 0
        self.gone = []

    def arrived(self, now):
        self.now = now

    def choose(self, queue_lengths):
        allowed = [worker for worker in range(len(queue_lengths)) if worker not in self.gone]
        return min(allowed, key=lambda worker: (queue_lengths[worker], worker))

    def completed(self, worker, work, seconds):
        self.completions += 1

    def left(self, worker):
        self.gone.append(worker)

    def joined(self, worker):
        self.gone.remove(worker)


def test_a_python_policy_runs_as_in_the_naive_world():
    submit, work = workload(tasks=800)
    timetable = shaky(submit[-1])
    fast = simulate(Plain(), SPEEDS, tasks=800, arrivals=submit, service=work, timetable=timetable)
    oracle = Plain()
    oracle.benchmark_at, oracle.copies = np.inf, 0
    np.testing.assert_allclose(fast.response, Naive(oracle, SPEEDS, submit, work, timetable).run())


def test_a_policy_that_chooses_no_worker_is_rejected():
    policy = Plain()
    policy.choose = lambda lengths: -1
    with pytest.raises(PolicyError, match="plain"):
        simulate(policy, SPEEDS, 0.5, 10)


@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"speeds": [1.0, -1.0]}, "speeds"),
        ({"speeds": [1.0, np.nan]}, "speeds"),
        ({"speeds": [0.0, 0.0]}, "speeds"),
        ({"speeds": []}, "speeds"),
        ({"speeds": [[1.0]]}, "speeds"),
        ({"load": -0.5}, "load"),
        ({"load": np.nan}, "load"),
        ({"load": None}, "load"),
        ({"tasks": 0}, "tasks"),
        ({"tasks": 2.5}, "tasks"),
        ({"tasks": 7, "tasks_per_job": 2}, "tasks"),
        ({"seed": -1}, "seed"),
        ({"arrivals": "often"}, "arrivals"),
        ({"arrivals": [0.0, 2.0, 1.0], "load": None, "tasks": 3}, "arrivals"),
        ({"arrivals": [0.0, 1.0], "load": None, "tasks": 3}, "arrivals"),
        ({"arrivals": [0.0, np.nan], "load": None, "tasks": 2}, "arrivals"),
        ({"service": "long"}, "service"),
        ({"service": [1.0, -1.0], "tasks": 2}, "service"),
        ({"schedulers": 0}, "schedulers"),
        ({"probe_delay": -1.0}, "probe_delay"),
        ({"fetch_delay": -1.0}, "fetch_delay"),
        ({"lane": 0}, "lane"),
        ({"samples": -1}, "samples"),
        ({"timetable": WorkerTimetable.failure(7, 1.0)}, "timetable"),
        ({"timetable": WorkerTimetable.failure(0, 0.0) + WorkerTimetable.failure(1, 0.0)}, "timetable"),
        ({"policy": "rosela"}, "rosella"),
        ({"policy": POLICIES.make("uniform", np.random.default_rng(1), workers=3)}, "speeds"),
    ],
)
def test_bad_arguments_are_named(change, names):
    arguments = {"policy": "uniform", "speeds": [1.0, 1.0], "load": 0.5, "tasks": 10, "seed": 0, **change}
    with pytest.raises(ValueError, match=names):
        simulate(**arguments)


@pytest.mark.parametrize(
    ("make_it", "names"),
    [
        (lambda: Rosella(0, 1.0, rng=np.random.default_rng(1)), "workers"),
        (lambda: Rosella(2, 0.0, rng=np.random.default_rng(1)), "guaranteed"),
        (lambda: Rosella(2, 1.0, rng=np.random.default_rng(1), gaps=0), "gaps"),
        (lambda: Rosella(2, 1.0, rng=np.random.default_rng(1), probe_share=-1), "probe_share"),
        (lambda: Rosella(2, 1.0, rng=np.random.default_rng(1), window_scale=np.nan), "window_scale"),
        (lambda: Rosella(2, 1.0, rng=np.random.default_rng(1), most_load=1.0), "most_load"),
        (lambda: Rosella(2, 1.0, rng=np.random.default_rng(1), by="luck"), "by"),
        (lambda: Rosella(2, 1.0, rng=np.random.default_rng(1), probes=1), "probes"),
        (lambda: make("ppot", speeds=[1.0, -1.0]), "rates"),
        (lambda: make("pss", speeds=[0.0, 0.0]), "rates"),
        (lambda: make("ppot").choose([1, 2]), "queue_lengths"),
        (lambda: make("ppot").choose([0, 0, 0, 0, -1]), "queue_lengths"),
        (lambda: make("ppot").choose([0, 0, 0, 0, 0.5]), "queue_lengths"),
        (lambda: make("ppot").arrived(np.nan), "now"),
        (lambda: make("rosella").completed(5, 1.0, 1.0), "worker"),
        (lambda: make("rosella").completed(0, -1.0, 1.0), "work"),
        (lambda: make("rosella").completed(0, 1.0, np.nan), "seconds"),
        (lambda: make("ppot").set_rate(0, -1.0), "rate"),
        (lambda: Bursty(ratio=0.5), "ratio"),
        (lambda: Pareto(shape=1.0), "shape"),
        (lambda: shocks([1.0], 0.0, 1.0, np.random.default_rng(1)), "every"),
        (lambda: drift([1.0], [[-1.0, 2.0]], 1.0), "series"),
        (lambda: WorkerTimetable.failure(0, 2.0, 1.0), "up"),
    ],
)
def test_bad_values_are_named(make_it, names):
    with pytest.raises(ValueError, match=names):
        make_it()


def test_drift_follows_measured_series():
    series = np.abs(np.sin(np.arange(200.0)))[None] + 0.2
    timetable = drift(np.ones(8), series, step=5.0)
    result = simulate("rosella", np.ones(8), 0.6, 5000, seed=1, timetable=timetable)
    assert np.isfinite(result.response).all()
