"""The simulate function: defaults, many benchmark tasks, tasks that never end, and rejected input."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from naive import Naive
from test_oracle import SPEEDS

from tests.coupled.cases import Tasks, jobs_of, workers
from tests.coupled.test_steps import Endless
from windlass.dispatch import POLICIES, Rosella, simulate
from windlass.dispatch.view import check_choice
from windlass.experiment.dispatching import make_policy
from windlass.model import InputError, PolicyError
from windlass.model.timetable import NodeTimetable, WorkerTimetable
from windlass.order.site.policies.fcfs import Fcfs
from windlass.sim import coupled
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.site.part import SitePart
from windlass.sim.workers import part


def test_defaults_are_as_documented():
    bare = simulate("rosella", SPEEDS, 0.99)
    full = simulate(
        "rosella",
        SPEEDS,
        0.99,
        100_000,
        0,
        arrivals="poisson",
        service="exponential",
        tasks_per_job=1,
        timetable=None,
        schedulers=1,
        probe_delay=0.0,
        sizes_known=False,
        lane=8,
        samples=100,
        record=False,
    )
    # Some benchmark tasks found eight before them.
    assert bare.dropped > 0
    assert (bare.benchmarks, bare.dropped) == (full.benchmarks, full.dropped)
    for name in (
        "submit",
        "response",
        "job_response",
        "sample_time",
        "longest",
        "estimates",
        "start",
        "worker",
    ):
        assert getattr(bare, name).tobytes() == getattr(full, name).tobytes()
    assert (len(bare.sample_time), len(bare.start), bare.policy) == (100, 0, "rosella")
    assert bare.mean == np.mean(bare.response)
    assert bare.percentile(90.0) == np.percentile(bare.response, 90.0)
    assert (bare.end == bare.submit + bare.response).all()


def test_the_workload_depends_only_on_the_seed():
    one, other = (simulate(name, SPEEDS, 0.5, 200, seed=3).submit.tolist() for name in ("jsq", "uniform"))
    assert one == other
    assert one != simulate("jsq", SPEEDS, 0.5, 200, seed=4).submit.tolist()


def test_known_speeds_fill_missing_policy_parameters():
    rng = np.random.default_rng(1)
    assert make_policy("ppot", SPEEDS, rng).rates.tolist() == SPEEDS.tolist()
    assert make_policy("ppot", SPEEDS, rng, rates=[5.0, 6.0]).rates.tolist() == [5.0, 6.0]
    known, given = (
        make_policy("rosella", SPEEDS, np.random.default_rng(1), **more)
        for more in ({}, {"guaranteed": 10.5})
    )
    assert SPEEDS.sum() == 10.5
    assert known.floats.tolist() == given.floats.tolist()


@pytest.mark.matrix
@pytest.mark.parametrize("lane", [1, 2, 5])
@pytest.mark.parametrize(("speeds", "share"), [([2.0], 50.0), ([2.0], 5.0), ([1.0, 0.5, 3.0], 20.0)])
def test_real_tasks_precede_benchmark_tasks_in_full_lanes(lane, speeds, share):
    """Most find their lane full; others are lost with their worker, in hand and waiting."""
    rng, until = np.random.default_rng(3), 60.0
    submit, work = np.sort(rng.uniform(0, until, 60)), rng.exponential(0.5, 60) + 1e-9
    timetable = WorkerTimetable.none()
    for worker, speed in enumerate(speeds):
        timetable += WorkerTimetable.failure(worker, 10.0 + 3 * worker, 15.0 + worker)
        timetable += WorkerTimetable.speeds([30.0, 40.0], [worker, worker], [0.0, speed])
    policy = Rosella(len(speeds), sum(speeds), rng=np.random.default_rng(5), probe_share=share)
    done = simulate(
        policy,
        speeds,
        tasks=60,
        arrivals=submit,
        service=work,
        timetable=timetable,
        sizes_known=True,
        lane=lane,
        samples=20,
        record=True,
    )
    twin = copy.deepcopy(policy)
    twin.copies = 0
    Naive(twin, speeds, submit, work, timetable, lane=lane).check(done)
    assert min(done.dropped, done.benchmarks) > 30


@pytest.mark.parametrize("limit", [20, 1000])
def test_stuck_tasks_are_found_while_benchmark_tasks_continue(limit, monkeypatch):
    monkeypatch.setattr(part, "_STEPS_BETWEEN_REPORTS", limit)
    policy = Rosella(2, 2.0, rng=np.random.default_rng(1))
    stall = WorkerTimetable.speeds([5.0], [0], [0.0])
    with pytest.raises(InputError, match=r"timetable: [1-9]\d* tasks are left that no worker will run"):
        simulate(policy, [1.0, 1.0], 0.9, 40, timetable=stall)


def test_a_long_wait_for_a_timetable_change_is_not_an_error(monkeypatch):
    monkeypatch.setattr(part, "_STEPS_BETWEEN_REPORTS", 50)
    policy = Rosella(2, 2.0, rng=np.random.default_rng(1), probe_share=5.0)
    stall = WorkerTimetable.speeds([0.5, 900.0], [0, 0], [0.0, 1.0])
    submit = [0.0, 0.25, 0.375, 800.0]
    done = simulate(policy, [1.0, 1.0], None, 4, arrivals=submit, service=np.ones(4), timetable=stall)
    assert 900.0 < done.end.max() < 902.0
    assert done.benchmarks + done.dropped > 200


def test_a_long_wait_for_held_cores_is_not_an_error(monkeypatch):
    """A job leaves the worker of node 0 nothing for 400 s; at the other worker benchmark tasks run."""
    monkeypatch.setattr(part, "_STEPS_BETWEEN_REPORTS", 5)
    ledger = Ledger([[2, 2]], parts=1)
    jobs = SitePart(jobs_of((0.5, 400, 2)), Fcfs(), ledger)
    policy = Rosella(2, 2.0, rng=np.random.default_rng(1), probe_share=20.0)
    tasks = workers(Tasks([0.0, 0.0, 0.25, 0.25], [1.0] * 4, [1.0, 1.0], floor=0.0), ledger, policy=policy)
    cluster = Coupled([jobs, tasks, Endless()], ledger)
    assert cluster.wait() is None
    done = cluster.result()[1]
    assert done.benchmarks > 20
    assert done.end.max() >= 401.0 - 0.5


@pytest.mark.parametrize(
    ("arrivals", "work", "changes"),
    [
        # Nothing happens for long: a task runs, one is to come, or a change is.
        ([0.0], [300.0], WorkerTimetable.none()),
        ([0.0, 300.0], [1.0, 1.0], WorkerTimetable.none()),
        ([0.0], [1.0], WorkerTimetable.failure(0, 0.5, 300.0)),
    ],
)
def test_a_part_with_future_events_does_not_wait(arrivals, work, changes, monkeypatch):
    monkeypatch.setattr(coupled, "_MANY", 50)
    monkeypatch.setattr(coupled, "_CHECK_EVERY", 10)
    tasks = workers(Tasks(arrivals, work, [1.0]), None, timetable=changes)
    assert not tasks.waits()
    cluster = Coupled([tasks, Endless()])
    assert cluster.wait() is None
    assert cluster.result()[0].end.max() >= 300.0
    assert tasks.ended()
    assert not tasks.waits()


class Bare:
    """A policy without notifications of failures and returns."""

    name = "bare"

    def __init__(self, chosen):
        self.chosen = chosen

    def arrived(self, now): ...

    def completed(self, worker, work, seconds): ...

    def choose(self, lengths):
        return self.chosen


def test_a_policy_needs_no_notifications_of_failures():
    gone = WorkerTimetable.failure(1, 0.5, 2.0)
    done = simulate(
        Bare(0), [1.0, 1.0], None, 3, arrivals=[0.0, 1.0, 3.0], service=np.ones(3), timetable=gone
    )
    assert done.end.tolist() == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("chosen", [-1, -2, 2, 7, 1])
def test_choosing_a_down_or_unknown_worker_is_an_error(chosen):
    with pytest.raises(PolicyError, match=rf"chose worker {2 if chosen == -1 else chosen}, which is down"):
        simulate(Bare(chosen), [1.0, 1.0], 0.5, 10, timetable=WorkerTimetable.failure(1, 0.0))


def test_an_unknown_worker_is_named():
    with pytest.raises(InputError, match="timetable: worker 2, expected 0 to 1"):
        simulate("jsq", [1.0, 1.0], 0.5, 10, timetable=WorkerTimetable.failure(2, 1.0))
    with pytest.raises(InputError, match="speeds has 2 workers, but the policy was made for 3"):
        simulate(POLICIES.make("jsq", np.random.default_rng(1), workers=3), [1.0, 1.0], 0.5, 10)


@pytest.mark.parametrize(
    ("failure", "outage", "back"),
    [((1.0, 5.0), (3.0, 8.0), 8.0), ((3.0, 8.0), (1.0, 5.0), 8.0), ((1.0, 8.0), (3.0, 5.0), 8.0)],
)
def test_a_worker_returns_when_both_its_failure_and_outage_end(failure, outage, back):
    ledger = Ledger([[2]], parts=0)
    outages = Outages(NodeTimetable.outage(0, *outage, cores=2), ledger)
    tasks = workers(
        Tasks([0.0, 4.0, 6.0], [2.0, 1.0, 1.0], [1.0]), ledger, timetable=WorkerTimetable.failure(0, *failure)
    )
    cluster = Coupled([outages, tasks], ledger)
    assert cluster.wait() is None
    done = cluster.result()[1]
    # The task running at 1 s restarts.
    assert done.start.tolist() == [back, back + 2.0, back + 3.0]
    assert done.moved == 1


class ByFile(Bare):
    """A policy that is named by its file, and has nothing but what a dispatch policy must have."""

    name = "by file"

    def __init__(self):
        super().__init__(1)


def test_a_policy_may_be_named_by_its_file():
    done = simulate(
        f"{__file__}:ByFile", [1.0, 2.0], None, 2, arrivals=[0.0, 4.0], service=np.ones(2), record=True
    )
    assert (done.worker.tolist(), done.end.tolist()) == ([1, 1], [0.5, 4.5])


@pytest.mark.parametrize("chosen", range(-3, 6))
def test_the_loop_and_check_choice_reject_the_same_choices(chosen):
    refused = []
    for check in (
        lambda: check_choice(np.int64(chosen), 3),
        lambda: simulate(Bare(chosen), [1.0] * 3, 0.5, 4),
    ):
        try:
            check()
            refused.append(False)
        except PolicyError:
            refused.append(True)
    assert refused == [chosen not in range(3)] * 2


class Notified(Bare):
    """A policy in Python that logs which workers leave and join."""

    def __init__(self, worker):
        super().__init__(worker)
        self.log = log = []
        self.left = lambda worker: log.append(("left", worker))
        self.joined = lambda worker: log.append(("joined", worker))

    def __deepcopy__(self, memo):
        return self


def test_a_second_failure_of_a_down_worker_is_not_notified():
    policy = Notified(1)
    failures = WorkerTimetable.failure(0, 1.0, 5.0) + WorkerTimetable.failure(0, 2.0, 6.0)
    done = simulate(
        policy, [1.0, 1.0], tasks=2, arrivals=[0.0, 9.0], service=np.ones(2), timetable=failures, samples=0
    )
    assert policy.log == [("left", 0), ("joined", 0)]
    assert done.moved == 0


def test_progress_is_reported_after_each_call_of_a_policy_in_python():
    reports = []
    simulate(
        Bare(0),
        [1.0],
        tasks=3,
        arrivals=[0.0, 2.0, 4.0],
        service=np.ones(3),
        samples=0,
        progress=reports.append,
    )
    assert reports == sorted(reports)
    assert set(reports) == {0, 1, 2, 3}


@pytest.mark.parametrize("per_job", [1, 2, 4])
def test_a_job_ends_with_its_last_task(per_job):
    jobs = 8 // per_job
    done = simulate(
        "pot", [1.0, 2.0], tasks=8, arrivals=3.0 * np.arange(jobs), service=np.arange(1.0, 9.0),
        tasks_per_job=per_job, samples=0,
    )  # fmt: skip
    last = [max(done.response[first : first + per_job]) for first in range(0, 8, per_job)]
    assert done.job_response.tolist() == last
