"""The driver of PBS against the adversary: holds of others are kept, and the queue settles or is given back."""

import pytest

from tests.adversary.pbs import FAULTS, Job, Plan, draw, run
from tests.adversary.plan import Action, Fault
from tests.adversary.search import search

QUICK, SLOW, NIGHTLY = 100, 700, 6_000


@pytest.mark.matrix(0)
def test_holds_are_kept_and_the_queue_settles(tmp_path):
    found = search(range(QUICK), tmp_path, "pbs")
    assert found.seed is None, found.describe()
    assert set(found.injected) == set(FAULTS)


@pytest.mark.nightly
@pytest.mark.slow
def test_more_seeds(tmp_path):
    found = search(range(QUICK, SLOW), tmp_path, "pbs")
    assert found.seed is None, found.describe()


@pytest.mark.nightly
@pytest.mark.slow
def test_many_seeds(tmp_path):
    found = search(range(SLOW, NIGHTLY), tmp_path, "pbs")
    assert found.seed is None, found.describe()


def test_a_seed_gives_the_same_run_again(tmp_path):
    one, other = run(draw(6), tmp_path), run(draw(6), tmp_path)
    assert one.injected
    assert (one.written, one.polls, one.pbs.log) == (other.written, other.polls, other.pbs.log)


@pytest.mark.parametrize("at", range(12))
@pytest.mark.parametrize("kind", ["killed before", "killed within", "killed after"])
def test_a_kill_at_any_write_leaves_the_queue_to_the_next_driver(tmp_path, kind, at):
    jobs = tuple(Job(number, 0.0, 4, 10.0) for number in (1, 2))
    done = run(Plan(0, "fcfs", jobs, (Action("requeued", 6.0, 1),), (Fault(kind, at, 0.5),)), tmp_path)
    assert done.problems == []
    assert sorted(set(done.pbs.ran)) == ["1.pbs", "2.pbs"]
    assert not done.pbs.jobs
