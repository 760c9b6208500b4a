"""Several uncoordinated schedulers with delayed queue lengths, task by task as plain ones in Python."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from naive import Naive
from plain_rosella import PlainRosella
from test_oracle import SPEEDS, make, shaky, workload

from windlass.dispatch import POLICIES, Probing, Rosella, simulate
from windlass.dispatch.state import BENCHMARK_AT, COPIES, RNG
from windlass.experiment.workloads.tasks import draw_tasks
from windlass.model.timetable import WorkerTimetable
from windlass.policy.registry import capability

SEED, SAMPLES = 11, 37


class Chance:
    """Random values of the schedulers: streams, times of first benchmark tasks, and the scheduler of each job."""

    def __init__(self, policy, schedulers, submit, work, per_job=1):
        capacity = float(SPEEDS.sum())
        drawn = draw_tasks(len(work), None, submit, work, tasks_per_job=per_job, capacity=capacity, seed=SEED)
        rng = np.random.default_rng(drawn.schedulers)
        self.ints, self.floats = ints, floats = policy.split(schedulers, rng)
        self.words, self.benchmark_at = ints[:, RNG].tolist(), floats[:, BENCHMARK_AT].tolist()
        jobs = len(work) // per_job
        sender = rng.integers(schedulers, size=jobs) if schedulers > 1 else np.zeros(jobs, int)
        self.sender = np.repeat(sender, per_job)


def run_simulation(
    policy,
    submit,
    work,
    timetable,
    schedulers,
    delay,
    per_job=1,
    sizes_known=True,
    fetch=0.0,
    count_sent=False,
    trip=0.0,
):
    return simulate(
        policy,
        SPEEDS,
        tasks=len(work),
        seed=SEED,
        arrivals=submit,
        service=work,
        tasks_per_job=per_job,
        timetable=timetable,
        schedulers=schedulers,
        probe_delay=delay,
        fetch_delay=fetch,
        probe_trip=trip,
        count_sent=count_sent,
        sizes_known=sizes_known,
        samples=SAMPLES,
        record=True,
    )


def same(fast, plain):
    plain.check(fast)


@pytest.mark.matrix
@pytest.mark.parametrize("name", [name for name in POLICIES.names() if name != "rosella"])
@pytest.mark.parametrize(
    ("schedulers", "delay", "count_sent"),
    [(2, 0.0, False), (3, 0.4, False), (8, 1.5, False), (2, 0.0, True), (1, 0.4, True), (3, 0.4, True)],
)
def test_each_scheduler_acts_as_an_independent_policy_with_late_lengths(name, schedulers, delay, count_sent):
    submit, work = workload(tasks=1200)
    timetable, policy = shaky(submit[-1]), make(name)
    fast = run_simulation(policy, submit, work, timetable, schedulers, delay, count_sent=count_sent)
    chance = Chance(policy, schedulers, submit, work)
    several = [copy.deepcopy(policy) for _ in range(schedulers)]
    for each, ints, floats in zip(several, chance.ints, chance.floats, strict=True):
        each.ints, each.floats, each.copies = ints, floats, int(ints[COPIES])
    plain = Naive(
        several,
        SPEEDS,
        submit,
        work,
        timetable,
        sender=chance.sender,
        delay=delay,
        count_sent=count_sent,
    )
    same(fast, plain)


#: Round trips before a task reaches a worker; policies that are not listed send no probes.
TRIPS = {"pot": 1.0, "ppot": 1.0, "ppot-ll": 1.0, "ll": 1.0, "rosella": 1.0, "sparrow": 0.5, "prequal": 0.0}


@pytest.mark.matrix
@pytest.mark.parametrize("name", POLICIES.names())
def test_tasks_wait_for_probes(name):
    """An answer has the queue length of half a trip ago."""
    submit, work = workload(tasks=1200)
    timetable, policy = shaky(submit[-1]), make(name)
    fast = run_simulation(policy, submit, work, timetable, 1, 0.0, fetch=0.2, trip=0.6)
    plain_policy = copy.deepcopy(policy)
    plain_policy.copies = int(policy.ints[COPIES])
    delay, wait = (0.3, 0.6 * TRIPS[name]) if name in TRIPS else (0.0, 0.0)
    plain = Naive(plain_policy, SPEEDS, submit, work, timetable, delay=delay, fetch=0.2, wait=wait)
    same(fast, plain)


@pytest.mark.matrix(0)
def test_all_policies_that_probe_declare_their_trips():
    declared = {name: capability(POLICIES.find(name), Probing) for name in POLICIES.names()}
    assert {name: each.probe_trips for name, each in declared.items() if each is not None} == TRIPS
    one = dict(tasks=1, arrivals=[0.0], service=np.ones(1), fetch_delay=0.5, record=True)
    for name in POLICIES.names():
        done = simulate(name, [1.0], probe_trip=4.0, **one)
        fetched = 0.5 if name == "sparrow" else 0.0
        assert done.response.tolist() == [1.0 + 4.0 * TRIPS.get(name, 0.0) + fetched]
        assert (done.submit.tolist(), done.start.tolist()) == ([0.0], [done.response[0] - 1.0])


def test_a_scheduler_that_counts_what_it_sent_does_not_send_all_to_one_worker():
    four = dict(arrivals=[0.0, 0.1, 0.2, 0.3], service=np.full(4, 5.0), probe_delay=1.0, tasks=4, record=True)
    blind = simulate("jsq", np.ones(4), seed=1, **four)
    assert len(set(blind.worker)) < 4
    counting = simulate("jsq", np.ones(4), seed=1, count_sent=True, **four)
    assert sorted(counting.worker) == [0, 1, 2, 3]


def test_all_tasks_of_a_job_have_one_scheduler():
    submit, work = workload(tasks=1200, per_job=4)
    timetable, policy = shaky(submit[-1]), make("sparrow")
    fast = run_simulation(policy, submit, work, timetable, 3, 0.4, per_job=4)
    chance = Chance(policy, 3, submit, work, per_job=4)
    several = [copy.deepcopy(policy) for _ in range(3)]
    for each, word in zip(several, chance.words, strict=True):
        each.ints[RNG], each.copies = word, int(each.ints[COPIES])
    submit = np.repeat(submit, 4)
    same(fast, Naive(several, SPEEDS, submit, work, timetable, 4, chance.sender, delay=0.4))


@pytest.mark.matrix
@pytest.mark.parametrize(("schedulers", "delay", "per_job"), [(1, 0.0, 1), (3, 0.4, 4)])
@pytest.mark.parametrize("fetch", [0.05, 1.5])
@pytest.mark.parametrize("name", ["sparrow", "pull", "jsq"])
def test_a_worker_waits_for_the_tasks_that_it_fetches(name, fetch, schedulers, delay, per_job):
    submit, work = workload(tasks=1200, per_job=per_job)
    timetable, policy = shaky(submit[-1]), make(name)
    fast = run_simulation(policy, submit, work, timetable, schedulers, delay, per_job, fetch=fetch)
    chance = Chance(policy, schedulers, submit, work, per_job=per_job)
    several = [copy.deepcopy(policy) for _ in range(schedulers)]
    for each, ints, floats in zip(several, chance.ints, chance.floats, strict=True):
        each.ints, each.floats, each.copies = ints, floats, int(ints[COPIES])
    submit = np.repeat(submit, per_job)
    plain = Naive(several, SPEEDS, submit, work, timetable, per_job, chance.sender, delay=delay, fetch=fetch)
    same(fast, plain)
    # Policies that bind at once fetch nothing.
    at_once = run_simulation(policy, submit[::per_job], work, timetable, schedulers, delay, per_job)
    assert (at_once.response == fast.response).all() == (name == "jsq")


def test_fetching_costs_an_idle_worker_one_delay():
    done = simulate(
        "sparrow", [1.0], tasks=3, arrivals=[0.0, 0.5, 9.0], service=np.ones(3), fetch_delay=0.25, record=True
    )
    assert done.start.tolist() == [0.25, 1.5, 9.25]
    assert done.response.tolist() == [1.25, 2.0, 1.25]


def stalled(until):
    """A worker that stands still for half of the time, and others that leave and come back."""
    stall = WorkerTimetable.speeds([0.3 * until, 0.8 * until], [3, 3], [0.0, 0.5])
    return stall + WorkerTimetable.failure(4, 0.1 * until, 0.2 * until)


@pytest.mark.matrix
@pytest.mark.parametrize(("schedulers", "delay"), [(1, 0.0), (2, 0.0), (3, 0.4), (8, 1.5)])
@pytest.mark.parametrize("guaranteed", [SPEEDS.sum(), None], ids=["known", "unknown"])
@pytest.mark.parametrize(
    ("changes", "load", "window_scale"),
    [(shaky, 0.7, 0.02), (shaky, 0.7, 0.3), (stalled, 0.3, 0.02), (stalled, 0.95, 0.02)],
    ids=["shaky", "long windows", "stalled", "full"],
)
def test_each_scheduler_learns_as_plain_rosella(schedulers, delay, guaranteed, changes, load, window_scale):
    submit, work = workload(tasks=1500, load=load)
    timetable = changes(submit[-1])
    policy = Rosella(len(SPEEDS), guaranteed, rng=np.random.default_rng(5), window_scale=window_scale)
    fast = run_simulation(policy, submit, work, timetable, schedulers, delay)
    chance = Chance(policy, schedulers, submit, work)
    several = [
        PlainRosella(len(SPEEDS), guaranteed, schedulers, word, at, window_scale)
        for word, at in zip(chance.words, chance.benchmark_at, strict=True)
    ]
    same(fast, Naive(several, SPEEDS, submit, work, timetable, sender=chance.sender, delay=delay))


@pytest.mark.parametrize(("schedulers", "delay"), [(1, 0.0), (3, 0.4)])
def test_with_hidden_sizes_rosella_learns_from_service_times(schedulers, delay):
    submit, work = workload(tasks=1500)
    timetable = shaky(submit[-1])
    policy = Rosella(len(SPEEDS), SPEEDS.sum(), rng=np.random.default_rng(5))
    fast = run_simulation(policy, submit, work, timetable, schedulers, delay, sizes_known=False)
    chance = Chance(policy, schedulers, submit, work)
    several = [
        PlainRosella(len(SPEEDS), SPEEDS.sum(), schedulers, word, at)
        for word, at in zip(chance.words, chance.benchmark_at, strict=True)
    ]
    plain = Naive(
        several, SPEEDS, submit, work, timetable, sender=chance.sender, delay=delay, sizes_known=False
    )
    same(fast, plain)


@pytest.mark.parametrize("schedulers", [8, 32])
def test_a_returning_worker_gets_its_share_from_any_number_of_schedulers(schedulers):
    """Of eight equal workers, an eighth of the tasks; its queue is empty, so a little more at first."""
    back, shares = 300.0, []
    for seed in range(10):
        done = simulate(
            "rosella", np.ones(8), 0.8, 2200, seed, schedulers=schedulers, samples=0, record=True,
            timetable=WorkerTimetable.failure(0, 200.0, back), sizes_known=True,
        )  # fmt: skip
        soon = (done.submit >= back) & (done.submit < back + 10.0)
        shares.append(float((done.worker[soon] == 0).mean()))
    assert 0.11 < np.mean(shares) < 0.20
