"""Bad input is rejected by name; unusual input is placed."""

import numpy as np
import pytest

from windlass.model import InputError
from windlass.place import map_stage, reduce_stage

GOOD = {
    "slots": [4, 4, 4],
    "up": [1e9, 1e9, 1e9],
    "down": [1e9, 1e9, 1e9],
    "tasks": 10,
    "task_s": 1.0,
}
DATA = [1e9, 2e9, 3e9]


@pytest.fixture(params=[map_stage, reduce_stage], ids=["map", "reduce"])
def place(request):
    return request.param


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("name", ["slots", "up", "down"])
def test_a_bad_column_is_named_with_place_and_value(place, name, value):
    with pytest.raises(InputError, match=rf"{name}\[1\] is {value}"):
        place(DATA, **GOOD | {name: [1.0, value, 1.0]})


@pytest.mark.parametrize("value", [-1.0, np.nan])
def test_bad_bytes_are_named(place, value):
    with pytest.raises(InputError, match=rf"_bytes\[2\] is {value}"):
        place([1.0, 1.0, value], **GOOD)


@pytest.mark.parametrize("name", ["tasks", "task_s", "wan_budget"])
@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_a_bad_number_is_named(place, name, value):
    with pytest.raises(InputError, match=f"{name} is {value}"):
        place(DATA, **GOOD | {name: value})


@pytest.mark.parametrize("name", ["slots", "up", "down"])
def test_a_wrong_shape_is_named(place, name):
    with pytest.raises(InputError, match=rf"{name} has shape \(2,\), expected \(3,\)"):
        place(DATA, **GOOD | {name: [1.0, 1.0]})
    with pytest.raises(InputError, match=f"{name} has shape"):
        place(DATA, **GOOD | {name: [[1.0, 1.0, 1.0]]})


def test_no_sites_at_all_is_named(place):
    with pytest.raises(InputError, match="_bytes has shape"):
        place([], **GOOD)


def test_text_input_is_rejected(place):
    with pytest.raises(InputError, match="_bytes"):
        place(["a", "b", "c"], **GOOD)


def test_an_infeasible_budget_is_named():
    with pytest.raises(InputError, match=r"wan_budget is 1000000000\.0 bytes"):
        reduce_stage(DATA, **GOOD, wan_budget=1e9)
    with pytest.raises(InputError, match="wan_budget is 0"):
        map_stage(DATA, **GOOD | {"slots": [0, 4, 4]}, wan_budget=0.0)


def test_no_slots_anywhere_is_named(place):
    with pytest.raises(InputError, match="slots"):
        place(DATA, **GOOD | {"slots": [0, 0, 0]})


def test_unreadable_data_is_named():
    with pytest.raises(InputError, match=r"input_bytes\[0\] is 1e\+09 bytes"):
        map_stage(DATA, **GOOD | {"slots": [0, 4, 4], "up": [0, 1e9, 1e9]})


def test_one_site_runs_all(place):
    plan = place([5e9], [3], [0], [0], 6, 2.0)
    assert plan.share.tolist() == [1.0]
    assert (plan.transfer_s, plan.compute_s) == (0.0, 4.0)


def test_tasks_without_input_follow_the_slots(place):
    plan = place([0, 0, 0], **GOOD | {"slots": [4, 0, 12]})
    np.testing.assert_allclose(plan.share, [0.25, 0.0, 0.75])
    assert plan.transfer_s == 0.0


def test_tasks_without_compute_time_stay_at_their_data():
    plan = map_stage(DATA, **GOOD | {"task_s": 0.0})
    np.testing.assert_allclose(plan.flow, np.diag(np.array(DATA) / 6e9))
    assert plan.stage_s == 0.0


def test_no_tasks_are_placed_in_no_time(place):
    assert place(DATA, **GOOD | {"tasks": 0}).compute_s == 0.0


def test_of_optimal_plans_the_one_that_moves_least_is_chosen():
    plan = map_stage([1e9, 1e9], [10, 10], [1e9, 1e9], [1e9, 1e9], 20, 1.0)
    np.testing.assert_allclose(plan.flow, np.diag([0.5, 0.5]))


def test_more_budget_is_never_slower(place):
    data, rng = np.array([4e9, 1e9, 2e9]), np.random.default_rng(2)
    sites = rng.integers(2, 50, 3), *rng.uniform(1e7, 1e9, (2, 3))
    budgets = np.linspace(3.001e9, 7e9, 20)
    times = [place(data, *sites, 100, 5.0, budget).stage_s for budget in budgets]
    assert (np.diff(times) <= 1e-9).all()
