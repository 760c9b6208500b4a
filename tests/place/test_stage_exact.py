"""The fast solver compared with HiGHS, and its plans checked against the constraints."""

import numpy as np
import pytest

from tests.place.cases import case
from windlass.model import InputError
from windlass.place import map_stage, reduce_stage
from windlass.place.functions.oracle import map_stage_highs, reduce_stage_highs

CLOSE = 1e-9
SEEDS = range(1000)


def solve_both(ours, theirs, arguments, budget):
    """Both plans, or None where both say that there is none."""
    try:
        plan = ours(*arguments, budget)
    except InputError:
        with pytest.raises(InputError):
            theirs(*arguments, budget)
        return None
    return plan, theirs(*arguments, budget)


def budgets(least, most, seed):
    """No limit for half of the cases, else a limit between the least and the most that can move."""
    return None if seed % 2 else least + np.random.default_rng(seed).choice([1e-3, 0.1, 0.5]) * (most - least)


def check_map(plan, given, budget):
    data, slots, up, down = given.sites()
    moved = plan.flow * data.sum()
    leaving, coming = moved.sum(axis=1) - np.diag(moved), moved.sum(axis=0) - np.diag(moved)
    slack = 1e-12 * data.sum()
    assert (plan.flow >= 0).all()
    np.testing.assert_allclose(moved.sum(axis=1), data, atol=slack, rtol=0)
    assert (leaving <= up * plan.transfer_s + slack).all()
    assert (coming <= down * plan.transfer_s + slack).all()
    assert (given.tasks * given.task_s * plan.share <= slots * plan.compute_s * (1 + 1e-12) + 1e-9).all()
    assert budget is None or leaving.sum() <= budget + slack


def check_reduce(plan, given, budget):
    data, slots, up, down = given.sites()
    slack = 1e-12 * data.sum()
    assert (plan.share >= 0).all()
    assert plan.share.sum() == pytest.approx(1, abs=1e-12)
    assert (data * (1 - plan.share) <= up * plan.transfer_s + slack).all()
    assert ((data.sum() - data) * plan.share <= down * plan.transfer_s + slack).all()
    assert (given.tasks * given.task_s * plan.share <= slots * plan.compute_s * (1 + 1e-12) + 1e-9).all()
    assert budget is None or (data * (1 - plan.share)).sum() <= budget + slack


def run_map(seed):
    given = case(seed)
    budget = budgets(0.0, given.data.sum(), seed)
    both = solve_both(map_stage, map_stage_highs, given.arguments(), budget)
    if both is None:
        return False
    check_map(both[0], given, budget)
    assert both[0].stage_s == pytest.approx(both[1].stage_s, rel=CLOSE)
    return True


def run_reduce(seed):
    given = case(seed)
    budget = budgets(given.data.sum() - given.data.max(), given.data.sum(), seed)
    both = solve_both(reduce_stage, reduce_stage_highs, given.arguments(), budget)
    if both is None:
        return False
    check_reduce(both[0], given, budget)
    assert both[0].stage_s == pytest.approx(both[1].stage_s, rel=CLOSE)
    return True


@pytest.mark.parametrize(
    ("ours", "theirs"), [(map_stage, map_stage_highs), (reduce_stage, reduce_stage_highs)]
)
@pytest.mark.parametrize(("tasks", "task_s"), [(1, 0.25), (2, 0.5), (1, 4.0), (8, 0.0)])
def test_little_work_counts_in_full_and_no_work_takes_no_time(ours, theirs, tasks, task_s):
    # Reading takes a hundredth of a second at most: to compute at both sites is best however short that is.
    sites = ([4e6, 1e6], [1, 3], [1e9, 1e9], [1e9, 1e9])
    plan, found = ours(*sites, tasks, task_s), theirs(*sites, tasks, task_s)
    assert found.stage_s == pytest.approx(plan.stage_s, rel=1e-9)
    assert found.compute_s == pytest.approx(tasks * task_s / 4, rel=0.2)
    assert plan.compute_s == pytest.approx(tasks * task_s / 4, rel=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("run", [run_map, run_reduce])
def test_a_sample_agrees_with_highs(run):
    assert sum(run(seed) for seed in range(90)) > 50


@pytest.mark.slow
@pytest.mark.parametrize("run", [run_map, run_reduce])
def test_a_thousand_cases_agree_with_highs(run):
    assert sum(run(seed) for seed in SEEDS) > 600
