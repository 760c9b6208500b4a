"""The Slurm driver against the adversary: however it is killed and however Slurm fails, the queue settles."""

import pytest

from tests.adversary.plan import FAULTS, draw
from tests.adversary.search import minimise, search
from tests.adversary.world import run

#: Seeds of the ordinary tests, of the slow ones, and of the nightly ones.
QUICK, SLOW, NIGHTLY = 120, 800, 16_000


def test_the_queue_settles_and_every_hold_is_kept(tmp_path):
    found = search(range(QUICK), tmp_path)
    assert found.seed is None, found.describe()
    # Each kind of fault was injected.
    assert set(found.injected) == set(FAULTS)


@pytest.mark.nightly
@pytest.mark.slow
def test_more_seeds(tmp_path):
    found = search(range(QUICK, SLOW), tmp_path)
    assert found.seed is None, found.describe()


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("first", range(SLOW, NIGHTLY, SLOW))
def test_many_seeds(first, tmp_path):
    found = search(range(first, min(first + SLOW, NIGHTLY)), tmp_path)
    assert found.seed is None, found.describe()


def test_a_seed_gives_the_same_run_again(tmp_path):
    one, other = (run(draw(7), tmp_path) for _ in range(2))
    assert one.injected
    assert (one.entries, one.written, one.slurm.log) == (other.entries, other.written, other.slurm.log)


def test_a_failing_plan_is_reduced_to_what_it_needs():
    plan = draw(0)
    assert len(plan.faults) > 1
    assert len(plan.jobs) > 1
    needed = plan.faults[-1], plan.jobs[0]

    def fails(plan):
        return needed[0] in plan.faults and needed[1] in plan.jobs

    found = minimise(plan, fails)
    assert (found.faults, found.actions, found.jobs) == ((needed[0],), (), (needed[1],))
