"""Spare instances by the chance that somebody comes, weighed by what their type costs."""

from dataclasses import replace

import numpy as np
import pytest

from tests.scale.site import PERIOD, ints
from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.scale.policies.hazard import Hazard
from windlass.scale.policies.thrifty import Thrifty
from windlass.scale.view import Demands, ScaleView

CORES, GPU = 4.0, 8.0


def types(cheap: float, dear: float):
    """Two that differ in price, and hardly in anything else; no job fits under both."""
    return (
        InstanceType("cheap", cores=CORES, price=cheap, launch=300.0, most=99),
        InstanceType("dear", gpus=GPU, price=dear, launch=300.0, most=99),
    )


def shown(row: int, jobs: list[int], kinds) -> ScaleView:
    """Whole instances of each type that jobs came for since the row before; those of before have ended."""
    asked = [[0.0, CORES, 0.0]] * jobs[0] + [[GPU, 0.0, 0.0]] * jobs[1]
    running = Demands(
        np.array(asked).reshape(-1, 3), np.full(len(asked), row * PERIOD - 1.0), np.full(len(asked), np.inf)
    )
    used = ints(*jobs)
    history = np.array([jobs], float)
    return ScaleView(row * PERIOD, PERIOD, kinds, used, ints(0, 0), used, running, Demands.none(), history)


def answers(policy, kinds, rows: int = 600, often: float = 0.4):
    """(rows, 2) spare ones, where one of either comes as often, or two."""
    draw = np.random.default_rng(4)
    found = []
    for row in range(rows):
        jobs = (draw.integers(1, 3) * (draw.random(2) < often)).tolist()
        found.append(np.array(policy.decide(shown(row, jobs, kinds)).counts) - jobs)
    return np.array(found)


def test_where_types_have_one_price_it_answers_as_hazard_does():
    for price in (1.0, 24.0, 0.0):
        kinds = types(price, price)
        assert np.array_equal(answers(Thrifty(3.0), kinds), answers(Hazard(3.0), kinds))


def test_a_dear_one_is_spare_less_often_than_a_cheap_one_that_is_needed_as_often():
    kinds = types(1.0, 20.0)
    by_price, by_hours = (
        answers(policy, kinds)[-300:].mean(axis=0) for policy in (Thrifty(3.0), Hazard(3.0))
    )
    assert by_hours.min() >= 0.5
    assert by_price[0] == by_hours[0]
    assert by_price[1] < by_hours[1] / 4


def test_the_cheapest_type_is_as_of_hazard_and_what_prices_are_counted_in_does_not_matter():
    one, two = (answers(Thrifty(30.0), types(*prices)) for prices in ((1.6, 20.0), (160.0, 2000.0)))
    assert np.array_equal(one, two)
    assert np.array_equal(one[:, 0], answers(Hazard(30.0), types(1.6, 20.0))[:, 0])


def test_a_type_without_a_price_counts_as_one_dollar():
    assert np.array_equal(answers(Thrifty(5.0), types(0.0, 4.0)), answers(Thrifty(5.0), types(1.0, 4.0)))


def test_a_look_between_decisions_launches_nothing_in_reserve():
    policy, kinds = Thrifty(1000.0), types(1.0, 2.0)
    assert answers(policy, kinds)[-1].min() >= 1
    view = replace(shown(600, [1, 1], kinds), due=False)
    assert policy.decide(view).counts == (1, 1)


def test_what_it_cannot_be_worth():
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="worth"):
            Thrifty(worth=bad)
