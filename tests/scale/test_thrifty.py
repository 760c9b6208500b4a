"""Thrifty: spare instances by the probability of arrivals and the price of their type."""

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
    """Two types that differ in price, and hardly in anything else; no job fits both."""
    return (
        InstanceType("cheap", cores=CORES, price=cheap, launch=300.0, most=99),
        InstanceType("dear", gpus=GPU, price=dear, launch=300.0, most=99),
    )


def shown(row: int, jobs: list[int], kinds) -> ScaleView:
    """A view in which jobs of whole instances of each type arrived since the last row; earlier jobs have ended."""
    requests = [[0.0, CORES, 0.0]] * jobs[0] + [[GPU, 0.0, 0.0]] * jobs[1]
    running = Demands(
        np.array(requests).reshape(-1, 3),
        np.full(len(requests), row * PERIOD - 1.0),
        np.full(len(requests), np.inf),
    )
    used = ints(*jobs)
    history = np.array([jobs], float)
    return ScaleView(row * PERIOD, PERIOD, kinds, used, ints(0, 0), used, running, Demands.none(), history)


def answers(policy, kinds, rows: int = 600, often: float = 0.4):
    """(rows, 2) spare instances, where jobs of one or two instances of either type arrive equally often."""
    draw = np.random.default_rng(4)
    found = []
    for row in range(rows):
        jobs = (draw.integers(1, 3) * (draw.random(2) < often)).tolist()
        found.append(np.array(policy.decide(shown(row, jobs, kinds)).counts) - jobs)
    return np.array(found)


@pytest.mark.matrix(0)
def test_with_equal_prices_it_equals_hazard():
    for price in (1.0, 24.0, 0.0):
        kinds = types(price, price)
        assert np.array_equal(answers(Thrifty(3.0), kinds), answers(Hazard(3.0), kinds))


def test_an_expensive_type_is_spare_less_often_than_a_cheap_one():
    kinds = types(1.0, 20.0)
    by_price, by_hours = (
        answers(policy, kinds)[-300:].mean(axis=0) for policy in (Thrifty(3.0), Hazard(3.0))
    )
    assert by_hours.min() >= 0.5
    assert by_price[0] == by_hours[0]
    assert by_price[1] < by_hours[1] / 4


@pytest.mark.matrix(0)
def test_only_relative_prices_matter_and_the_cheapest_type_equals_hazard():
    one, two = (answers(Thrifty(30.0), types(*prices)) for prices in ((1.6, 20.0), (160.0, 2000.0)))
    assert np.array_equal(one, two)
    assert np.array_equal(one[:, 0], answers(Hazard(30.0), types(1.6, 20.0))[:, 0])


def test_a_type_without_a_price_counts_as_one_dollar():
    assert np.array_equal(answers(Thrifty(5.0), types(0.0, 4.0)), answers(Thrifty(5.0), types(1.0, 4.0)))


def test_a_poll_between_decisions_launches_no_reserve():
    policy, kinds = Thrifty(1000.0), types(1.0, 2.0)
    assert answers(policy, kinds)[-1].min() >= 1
    view = replace(shown(600, [1, 1], kinds), due=False)
    assert policy.decide(view).counts == (1, 1)


def test_an_invalid_worth_is_rejected():
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="worth"):
            Thrifty(worth=bad)
