"""Input of forecasters, and the reserve before there is a forecaster."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.scale.drawn import PERIOD, drawn, drawn_jobs
from windlass.model.instances import InstanceType
from windlass.scale.lib.forecast_input import DAY, ForecastInput, Schedule, seed_of
from windlass.scale.lib.steps import Ladder
from windlass.scale.policies.newsvendor import Newsvendor
from windlass.scale.policies.predictive import Predictive


def test_each_step_of_a_ladder_applies_from_its_start():
    ladder = Ladder([(0, 1), (8, 2), (32, 4)])
    assert ladder.reserve(np.array([0, 7, 8, 31, 32, 900])).tolist() == [1, 1, 2, 2, 4, 4]
    assert Ladder([(0.0, 0)]).reserve(np.array([3])).tolist() == [0]


@pytest.mark.parametrize("policy", [Predictive, Newsvendor])
def test_without_history_the_default_ladder_sets_the_reserve(policy):
    for used, reserve in ((0, 1), (7, 1), (8, 2), (31, 2), (32, 4), (127, 4), (128, 8)):
        of = (InstanceType("small", cores=4, most=500),)
        view = drawn(np.random.default_rng(1), 0.0, np.zeros((1, 1)))
        none = np.zeros(1, np.int64)
        jobs = drawn_jobs(np.random.default_rng(1), 0, 0.0)
        view = replace(view, types=of, ready=none, coming=none, used=none + used, waiting=jobs, running=jobs)
        made = policy(RecordingForecaster()) if policy is Predictive else policy(forecaster=None)
        assert made.decide(view).counts == (used + reserve,)


class RecordingForecaster:
    """A forecaster that records its calls."""

    def __init__(self, least=2):
        self.least, self.calls = least, []

    def fit(self, series):
        self.calls.append(("fit", series.ravel().tolist()))
        return self

    def update(self, new_rows):
        self.calls.append(("update", new_rows.ravel().tolist()))

    def forecast(self, steps, quantiles=None):
        raise NotImplementedError


def at(row, rows, columns=1):
    """A view at a row; its history holds `rows` rows up to it."""
    view = drawn(np.random.default_rng(1), PERIOD * row, np.zeros((1, 3)))
    numbers = np.arange(row - rows + 1, row + 1, dtype=np.float64)
    return replace(view, history=np.repeat(numbers[:, None], columns, axis=1))


def test_a_forecaster_is_fitted_to_the_kept_rows_and_updated_with_new_ones():
    kept = RecordingForecaster()
    feed = ForecastInput(kept, Schedule((4 * PERIOD, 9 * PERIOD), retrain=6 * PERIOD, keep=5 * PERIOD))
    assert feed.at(at(2, 3)) is None
    assert kept.calls == []
    assert feed.at(at(3, 4)) is kept
    assert feed.at(at(3, 4)) is kept
    assert feed.at(at(4, 5)) is kept
    # Two rows at once, since one decision was missed.
    assert feed.at(at(6, 7)) is kept
    assert kept.calls == [("fit", [0.0, 1.0, 2.0, 3.0]), ("update", [4.0]), ("update", [5.0, 6.0])]
    kept.calls.clear()
    feed.at(at(8, 9))
    assert kept.calls == [("update", [7.0, 8.0])]
    # It is refitted after six rows, to the latest five.
    feed.at(at(9, 10))
    assert kept.calls[1:] == [("fit", [5.0, 6.0, 7.0, 8.0, 9.0])]
    kept.calls.clear()
    # More rows are missed than the history holds: it is refitted.
    feed.at(at(14, 4))
    assert kept.calls == [("fit", [11.0, 12.0, 13.0, 14.0])]


def test_a_clock_that_goes_back_or_other_types_cause_a_refit():
    kept = RecordingForecaster()
    feed = ForecastInput(kept, Schedule((2 * PERIOD,), retrain=90 * PERIOD))
    assert feed.at(at(9, 3)) is kept
    assert feed.at(at(8, 1)) is None
    assert feed.at(at(9, 2)) is kept
    assert feed.at(at(10, 3, columns=2)) is kept
    assert [what for what, _ in kept.calls] == ["fit", "fit", "fit"]


def test_a_forecaster_is_not_fitted_before_it_has_enough_rows():
    kept = RecordingForecaster(least=6)
    feed = ForecastInput(kept, Schedule((2 * PERIOD,)))
    assert feed.at(at(4, 5)) is None
    assert feed.at(at(5, 6)) is kept
    assert (feed.at(at(6, 7)), kept.calls[-1]) == (kept, ("update", [6.0]))


def test_a_named_forecaster_is_made_with_seasons_in_rows_and_the_seed():
    made = []

    def make(name, seasons, seed, **options):
        made.append((name, list(seasons), seed, options))
        return RecordingForecaster()

    from windlass.scale.lib import forecast_input as module

    before, module.make = module.make, make
    try:
        ForecastInput("known", Schedule((PERIOD, 2.4 * PERIOD, 7 * PERIOD)), {"window": 3}, seed=5).at(
            at(9, 9)
        )
    finally:
        module.make = before
    assert made == [("known", [2, 2, 7], 5, {"window": 3})]
    assert seed_of(None) == 1
    assert seed_of(np.random.default_rng(3)) == int(np.random.default_rng(3).integers(1, 2**31))
    assert (Schedule().seasons, Schedule().retrain, Schedule().keep) == (
        (86400.0, 604800.0),
        28 * DAY,
        84 * DAY,
    )
