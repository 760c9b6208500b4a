"""The driver of Kubernetes Jobs against the adversary: each Job is resumed once, and the queue settles."""

import pytest

from tests.adversary.jobs import FAULTS, Job, Plan, draw, run
from tests.adversary.plan import Action, Fault
from tests.adversary.search import search

QUICK, SLOW, NIGHTLY = 100, 700, 6_000


@pytest.mark.matrix(0)
def test_each_job_is_resumed_once_and_the_queue_settles(tmp_path):
    found = search(range(QUICK), tmp_path, "jobs")
    assert found.seed is None, found.describe()
    assert set(found.injected) == set(FAULTS)


@pytest.mark.nightly
@pytest.mark.slow
def test_more_seeds(tmp_path):
    found = search(range(QUICK, SLOW), tmp_path, "jobs")
    assert found.seed is None, found.describe()


@pytest.mark.nightly
@pytest.mark.slow
def test_many_seeds(tmp_path):
    found = search(range(SLOW, NIGHTLY), tmp_path, "jobs")
    assert found.seed is None, found.describe()


def test_a_seed_gives_the_same_run_again(tmp_path):
    one, other = run(draw(6), tmp_path), run(draw(6), tmp_path)
    assert one.injected
    assert (one.written, one.polls, one.cluster.history) == (
        other.written,
        other.polls,
        other.cluster.history,
    )


def test_a_driver_killed_after_a_resumption_leaves_it_to_the_next_one(tmp_path):
    jobs = tuple(Job(number, 0.0, 4, 10.0) for number in (1, 2))
    # The first writes are the Lease, the decision, the intent, and the resumption.
    done = run(Plan(0, "fcfs", jobs, (), (Fault("killed after", 3),)), tmp_path)
    assert done.problems == []
    assert done.stops["killed"] == 1
    assert done.cluster.resumptions() == ["lab/j1", "lab/j2"]


def test_a_suspension_after_the_resumption_is_kept_by_all_drivers(tmp_path):
    jobs = (Job(1, 0.0, 1, 60.0), Job(2, 0.0, 1, 60.0))
    faults = (Fault("interrupted", 30.0), Fault("interrupted", 60.0))
    done = run(Plan(0, "easy", jobs, (Action("suspends", 20.0, 1),), faults, give_back_every=1), tmp_path)
    assert done.problems == []
    assert done.drivers >= 3
    assert done.cluster.jobs()["lab/j1"]["spec"]["suspend"] is True
    assert done.cluster.ended == {"lab/j2": 1}


def test_a_late_request_of_a_killed_driver_resumes_no_job_again(tmp_path):
    jobs = (Job(1, 0.0, 1, 5.0),)
    for number in range(1, 40):
        plan = Plan(
            0, "fcfs", jobs, (Action("suspends for Windlass", 12.0, 1),), (Fault("delayed", number, 0.9),)
        )
        done = run(plan, tmp_path)
        assert done.problems == []
