"""Predictive autoscalers: their totals, and the cost of these."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scale.site import PERIOD, SMALL, bursts, demands, ints, play
from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.scale.forecast import Adapted
from windlass.scale.lib.change import Change
from windlass.scale.lib.demand import Buckets, needed
from windlass.scale.lib.steps import Ladder
from windlass.scale.policies.newsvendor import Newsvendor
from windlass.scale.policies.predictive import Predictive
from windlass.scale.view import Demands, ScaleView, Totals

HOUR = 12 * PERIOD


class FixedForecaster:
    """A forecaster that returns given values."""

    def __init__(self, *found: float) -> None:
        self.found, self.fits, self.rows = found, 0, 0

    def fit(self, series):
        self.fits, self.rows = self.fits + 1, len(series)
        return self

    def forecast(self, steps, quantiles=None):
        rows = np.array([self.found[min(x, len(self.found) - 1)] for x in range(steps)])[:, None]
        return rows if quantiles is None else np.stack([rows * q for q in quantiles])

    def update(self, new_rows):
        self.rows += len(new_rows)


class Reactive:
    """A policy that returns the current need."""

    def __init__(self) -> None:
        self.buckets = Buckets()

    def decide(self, view):
        return Totals(tuple(needed(view, self.buckets).least.tolist()), ("needed",))


def seen(row: int, history, used=0, waiting=0, coming=0, kind=SMALL):
    """A view at a row of a history of one type."""
    return ScaleView(
        row * PERIOD,
        PERIOD,
        (kind,),
        ints(used),
        ints(coming),
        ints(used),
        demands([0.0] * used, [np.inf] * used),
        demands([0.0] * waiting, [np.inf] * waiting),
        np.array(history, dtype=float)[-3000:, None],
    )


def test_a_forecast_above_the_need_is_planned_for():
    policy = Predictive(Adapted(FixedForecaster(6.2)), seasons=[HOUR])
    answer = policy.decide(seen(20, [3.0] * 20, used=3))
    assert answer.counts == (7,)
    assert answer.why == ("6.2 expected within 300 s, 3.0 needed now",)


def test_with_a_forecast_below_the_need_the_need_is_the_total():
    policy = Predictive(Adapted(FixedForecaster(1.0)), seasons=[HOUR])
    assert policy.decide(seen(20, [3.0] * 20, used=3, waiting=2)).counts == (5,)


def test_the_launch_time_sets_the_forecast_horizon():
    """A rise in two rows counts if an instance takes that long to launch; a later rise does not."""
    slow = InstanceType("slow", cores=4.0, memory=16e9, launch=2 * PERIOD)
    history = [1.0] * 20
    for kind, expected in ((SMALL, 2), (slow, 5)):
        policy = Predictive(Adapted(FixedForecaster(2.0, 5.0, 9.0)), seasons=[HOUR])
        assert policy.decide(seen(20, history, used=1, kind=kind)).counts == (expected,)


def test_a_quantile_is_planned_for():
    policy = Predictive(Adapted(FixedForecaster(10.0)), quantile=0.5, seasons=[HOUR])
    assert policy.decide(seen(20, [1.0] * 20, used=1)).counts == (5,)


def test_jobs_spread_over_more_instances_than_needed_are_not_packed():
    """Four instances hold jobs that would fit on two: of three more that are needed, none fits into the gaps."""
    policy = Predictive(Adapted(FixedForecaster(5.0)), seasons=[HOUR])
    assert policy.decide(seen(20, [2.0] * 20, used=4)).counts == (7,)


def test_jobs_that_fit_next_to_larger_ones_need_no_instances():
    """A need of four is met by one instance and gaps in others; one more in need adds one instance."""
    policy = Predictive(Adapted(FixedForecaster(5.0)), seasons=[HOUR])
    assert policy.decide(seen(20, [4.0] * 20, used=1)).counts == (2,)


def test_totals_are_at_most_the_maximum_of_the_type():
    few = InstanceType("few", cores=4.0, memory=16e9, launch=PERIOD, most=4)
    policy = Predictive(Adapted(FixedForecaster(50.0)), seasons=[HOUR])
    assert policy.decide(seen(20, [2.0] * 20, used=2, kind=few)).counts == (4,)


def test_the_ladder_applies_until_a_full_season_is_known():
    forecaster = FixedForecaster(9.0)
    policy = Predictive(Adapted(forecaster), seasons=[HOUR], ladder=[(0, 1), (4, 3)])
    assert policy.decide(seen(11, [2.0] * 11, used=2)).counts == (3,)
    assert policy.decide(seen(11, [4.0] * 11, used=4)).counts == (7,)
    assert forecaster.fits == 0
    assert policy.decide(seen(12, [2.0] * 12, used=2)).counts == (9,)


def test_each_row_is_passed_once_and_the_forecaster_is_refitted_on_schedule():
    forecaster = FixedForecaster(1.0)
    policy = Predictive(Adapted(forecaster), seasons=[HOUR], retrain=2 * HOUR)
    for row in range(12, 36):
        policy.decide(seen(row, np.arange(row)))
        assert forecaster.rows == row
    assert forecaster.fits == 1
    policy.decide(seen(36, np.arange(36)))
    assert forecaster.fits == 2


def test_a_clock_that_goes_back_restarts_learning():
    forecaster = FixedForecaster(5.0)
    policy = Predictive(Adapted(forecaster), seasons=[HOUR], ladder=[(0, 0)])
    assert policy.decide(seen(20, [1.0] * 20, used=1)).counts == (5,)
    assert policy.decide(seen(3, [1.0] * 3, used=1)).counts == (1,)
    assert policy.decide(seen(12, [1.0] * 12, used=1)).counts == (5,)
    assert forecaster.fits == 2
    ours = Newsvendor(forecaster=None, ladder=[(0, 2)])
    for row in (200, 3, 4):
        assert ours.decide(seen(row, [1.0] * 3, used=1)).counts == (3,)


def test_waiting_jobs_above_half_an_instance_do_not_share_one():
    requests = Demands(np.array([[0.0, 2.1, 1e9]] * 3), np.zeros(3), np.full(3, np.inf))
    view = seen(1, [1.0], used=1)
    view = ScaleView(
        view.now, PERIOD, view.types, view.ready, view.coming, view.used, view.running, requests, view.history
    )
    assert needed(view, Buckets()).least.tolist() == [4]
    halves = Demands(np.array([[0.0, 2.0, 1e9]] * 3), np.zeros(3), np.full(3, np.inf))
    view = ScaleView(
        view.now, PERIOD, view.types, view.ready, view.coming, view.used, view.running, halves, view.history
    )
    assert needed(view, Buckets()).least.tolist() == [3]


@settings(deadline=None)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=40), st.integers(0, 5), st.floats(0, 50))
def test_totals_are_between_the_need_and_the_maximum(history, waiting, price):
    policies = [Predictive("naive", seasons=[HOUR]), Newsvendor(wait_price=price, seasons=[HOUR])]
    for row, now in enumerate(history):
        for policy in policies:
            answer = policy.decide(seen(row, history[: row + 1], used=now, waiting=waiting))
            assert now + waiting <= answer.counts[0] <= SMALL.most


@pytest.mark.parametrize("make", [lambda: Predictive("ses"), lambda: Newsvendor(forecaster="ses")])
def test_a_pickled_copy_decides_the_same(make):
    policy = make()
    rng = np.random.default_rng(1)
    history = list(rng.poisson(5, 400))
    for row in range(350):
        policy.decide(seen(row, history[: row + 1], used=1))
    other = pickle.loads(pickle.dumps(policy))
    for row in range(350, 400):
        view = seen(row, history[: row + 1], used=1)
        assert policy.decide(view) == other.decide(view)


def test_the_level_balances_rent_and_waiting():
    policy = Newsvendor(wait_price=4.0)
    # One more instance pays while the waiting of three jobs costs more than its rent.
    kind = InstanceType("dear", cores=4.0, price=2.5, launch=600.0)
    level = policy.level(kind, 3.0, 300.0)
    assert (1 - level) * 4.0 * 3.0 * 600.0 == pytest.approx(level * 2.5 * 300.0)


def test_the_quantile_covers_the_need_as_often_as_its_level():
    """A need that jumps at random: the quantile is above the largest of the next rows as often as its level."""
    rng = np.random.default_rng(7)
    change, needs, below = Change(np.array([2]), 1), rng.poisson(8, 6000).astype(float), []
    one = np.ones((1, 1))
    for row, need in enumerate(needs[:-2]):
        change.observe(row * PERIOD, np.array([need]), one)
        if row > 1000:
            forecaster = need + change.quantile(row * PERIOD, one, 0.8)[0]
            below.append(max(needs[row + 1], needs[row + 2]) <= forecaster + 1e-6)
    assert 0.77 < np.mean(below) < 0.88


def test_ending_walltimes_lower_the_plan():
    """All jobs end at their walltime, and the plan learns that the need falls then."""
    rng = np.random.default_rng(3)
    policy, planned, running, history = Newsvendor(wait_price=4.0, forecaster=None), [], [], []
    for row in range(1500):
        now = row * PERIOD
        running = [x for x in running if x[0] + x[1] > now]
        running += [(now, 5 * PERIOD)] * int(rng.poisson(3) if row % 3 == 0 else 0)
        history.append(float(len(running)))
        view = seen(row, history[-10:], used=len(running))
        mine = demands([x[0] for x in running], [x[1] for x in running])
        view = ScaleView(
            now, PERIOD, view.types, view.ready, view.coming, ints(0), mine, view.waiting, view.history
        )
        ending = sum(x[0] + x[1] <= now + PERIOD for x in running)
        if row > 1000 and row % 3 == 1:
            planned.append((policy.decide(view).counts[0] - history[-1], ending))
        else:
            policy.decide(view)
    grown, ending = np.array(planned).T
    assert np.corrcoef(grown[ending > 0], ending[ending > 0])[0, 1] < -0.5


def test_invalid_parameters_are_named_in_the_error():
    for make, message in (
        (lambda: Predictive(quantile=1.5), "quantile is 1.5"),
        (lambda: Predictive(seasons=[]), "seasons: none given"),
        (lambda: Predictive(retrain=0.0), "retrain is 0.0"),
        (lambda: Newsvendor(wait_price=-1.0), "wait_price is -1.0"),
        (lambda: Ladder([(1, 1)]), r"ladder: steps begin at \[1\], expected rising numbers from 0"),
        (lambda: Ladder([(0, 1.5)]), r"ladder: step is \[0, 1.5\], expected two whole numbers"),
    ):
        with pytest.raises(InputError, match=message):
            make()


@pytest.mark.slow
def test_the_wait_price_trades_waiting_for_rent_and_beats_reactive_scaling():
    """Random jobs of three weeks, the first for learning, compared with reactive scaling at the same rent."""
    jobs, week = bursts(21, seed=1), 7 * 86_400.0
    reactive = play(Reactive(), jobs, idle=600.0, begin=week)
    low, high = (play(Newsvendor(wait_price=price), jobs, idle=0.0, begin=week) for price in (1.5, 8.0))
    assert low.hours < high.hours
    assert low.wait > high.wait
    assert low.hours < 1.01 * reactive.hours
    assert low.wait < 0.97 * reactive.wait
