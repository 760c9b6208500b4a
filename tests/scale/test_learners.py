"""Learners of autoscalers, compared with plain learners of one type and one level."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.scaling import (
    PlainArrivals,
    PlainChange,
    PlainOdds,
    need_of,
    totals_at_poll,
    up,
)
from tests.scale.drawn import PERIOD, TYPES, drawn
from windlass.experiment.checks.scale import drawn_view
from windlass.model.instances import InstanceType
from windlass.scale import Demands
from windlass.scale.lib import arrivals as comers_module
from windlass.scale.lib import change as change_module
from windlass.scale.lib import odds as odds_module
from windlass.scale.lib.arrivals import LEVELS, ArrivalLearner
from windlass.scale.lib.change import Change
from windlass.scale.lib.demand import Buckets, ahead, most, needed, peak
from windlass.scale.lib.odds import Odds
from windlass.scale.lib.polling import serve_waiting

seeds = st.integers(0, 2**32 - 1)


few = settings(max_examples=25, deadline=None)


@few
@given(seeds)
def test_needs_equal_sums_job_by_job(seed):
    rng, buckets = np.random.default_rng(seed), Buckets()
    for rows in (0, 1, 3):
        view = drawn(rng, 5e4, rng.uniform(0, 5, (rows, 3)).round(1))
        found = needed(view, buckets)
        now, waiting, least, spread = need_of(view)
        np.testing.assert_allclose(found.now, now)
        np.testing.assert_allclose(found.waiting, waiting, atol=1e-12)
        assert found.least.tolist() == least
        assert found.spread.tolist() == spread


def test_each_set_of_types_has_its_own_embedding():
    buckets, view = Buckets(), drawn(np.random.default_rng(1), 0.0, np.zeros((1, 3)))
    first = buckets.of(view)
    assert buckets.of(view) is first
    other = replace(view, types=TYPES[::-1])
    assert buckets.of(other).buckets.tolist() == first.buckets.tolist()[::-1]


@few
@given(seeds)
def test_a_poll_serves_waiting_jobs_and_launches_no_reserve(seed):
    rng = np.random.default_rng(seed)
    view, plan = drawn(rng, 5e4, rng.uniform(0, 5, (2, 3)), look=10.0, due=False), rng.integers(0, 12, 3)
    found = serve_waiting(view, needed(view, Buckets()), plan)
    assert found.counts == totals_at_poll(view, plan.tolist())
    for count, there, why in zip(found.counts, (view.ready + view.coming).tolist(), found.why, strict=True):
        assert why == (
            f"{count - there} more for waiting jobs" if count > there else "no waiting job needs more"
        )


def test_rows_until_ready_are_rounded_up_and_at_least_one():
    view = drawn(np.random.default_rng(1), 0.0, np.zeros((1, 3)))
    assert ahead(view).tolist() == [1, 3, 1]
    assert ahead(replace(view, period=900.0)).tolist() == [1, 5, 2]
    assert ahead(replace(view, types=(InstanceType("at once", cores=1, launch=0.0),))).tolist() == [1]
    assert most(view).tolist() == [9, 6, 5]
    rows = np.array([[-3.0, 1.0, 5.0], [-1.0, 4.0, 9.0], [8.0, 2.0, 9.5]])
    assert peak(rows, np.array([2, 1, 3])).tolist() == [-1.0, 1.0, 9.5]


@pytest.mark.parametrize("misses", [30, 2016])
def test_growth_equals_that_learned_one_type_at_a_time(monkeypatch, misses):
    monkeypatch.setattr(change_module, "_MISSES", misses)
    rng, far = np.random.default_rng(3), np.array([3, 1])
    found, plain = Change(far, 2), [PlainChange(each, 3, 2, misses) for each in far.tolist()]
    need = np.zeros(2)
    for row in range(220):
        now = 40_000.0 + PERIOD * row
        need = np.maximum(0.0, need + rng.integers(-2, 3, 2))
        seen = np.stack((np.ones(2), rng.integers(0, 3, 2) * (row % 2)), axis=1).astype(float)
        found.observe(now, need, seen)
        for kind in range(2):
            plain[kind].observe(now, need[kind], seen[kind])
        assert found.cases == plain[0].learned == max(0, row - 2)
        levels = np.array([0.9, 0.2]) if row % 50 < 40 else np.array([0.99, 0.0])
        want = [
            each.quantile(now, s, level) for each, s, level in zip(plain, seen, levels.tolist(), strict=True)
        ]
        np.testing.assert_allclose(found.quantile(now, seen, levels), want, rtol=1e-7, atol=1e-9)
    one = found.quantile(now, seen, 0.5)
    np.testing.assert_allclose(one, found.quantile(now, seen, np.array([0.5, 0.5])))


def test_errors_of_two_weeks_are_kept():
    rng = np.random.default_rng(4)
    found, plain, one = Change(np.array([1]), 1), PlainChange(1, 1, 1), np.ones((1, 1))
    for row in range(2060):
        need = float(rng.integers(0, 9)) + 50.0 * (row < 40)
        found.observe(600.0 * row, np.array([need]), one)
        plain.observe(600.0 * row, need, one[0])
    for level in (0.1, 0.5, 0.9, 0.98, 0.999, 1.0):
        assert found.quantile(0.0, one, level)[0] == pytest.approx(
            plain.quantile(0.0, one[0], level), rel=1e-6
        )


@pytest.mark.parametrize(("period", "keep"), [(1800.0, None), (40_000.0, None), (1800.0, 0.6)])
def test_chances_equal_those_learned_one_level_at_a_time(monkeypatch, period, keep):
    if keep is not None:
        # With fast forgetting, the uncertainty reaches its limit.
        monkeypatch.setattr(odds_module, "_KEEP", keep)
    rng, found = np.random.default_rng(5), Odds(2, 2, period)
    plain = [
        [PlainOdds(period, **({} if keep is None else {"keep": keep})) for _ in range(2)] for _ in range(2)
    ]
    for row in range(150):
        jobs = rng.integers(0, 3, 2).astype(float) * (row % 48 < 20)
        came = rng.random((2, 2)) < np.array([[0.6, 0.1], [0.3, 0.9]]) * (jobs > 0)[:, None]
        found.observe(period * row, jobs, came)
        for kind in range(2):
            for level in range(2):
                plain[kind][level].observe(period * row, jobs[kind], float(came[kind, level]))
        want = [[each.chance() for each in of] for of in plain]
        np.testing.assert_allclose(found.chances(), want, rtol=1e-6)
        assert found.rows == row + 1


@pytest.fixture
def observed(monkeypatch):
    """The observed rows: time, number of jobs, and which levels had arrivals."""
    rows, observe = [], Odds.observe

    def noted(self, now, jobs, came):
        rows.append((now, jobs.tolist(), came.tolist()))
        observe(self, now, jobs, came)

    monkeypatch.setattr(Odds, "observe", noted)
    return rows


def test_arrivals_equal_those_counted_job_by_job(observed):
    rng, found, plain, buckets = np.random.default_rng(6), ArrivalLearner(), PlainArrivals(), Buckets()
    served = np.ones((3, len(LEVELS)))
    for row in range(170):
        view = drawn(rng, PERIOD * row, np.zeros((1, 3)))
        least = needed(view, buckets).least
        chances = found.follow(view, least, buckets.of(view))
        assert (chances is None) == (row + 1 < 144)
        jobs, want = plain.came(view, least.tolist())
        assert observed[-1] == (view.now, jobs, (np.array(want) > 0).tolist())
        served += np.where(np.array(want) > 0, 0.02 * (np.array(want) - served), 0.0)
        np.testing.assert_allclose(found.served, served)
    assert len(observed) == 170


def test_each_rise_of_the_history_counts_as_one_job_except_the_latest(observed):
    rng = np.random.default_rng(7)
    history = rng.choice([0.0, 0.5, 1.0, 2.5, 7.0], (40, 3))
    view = replace(drawn(rng, 9e5, history), waiting=Demands.none(), running=Demands.none())
    ArrivalLearner().follow(view, view.used, Buckets().of(view))
    want = []
    for row in range(1, 39):
        rises = [up(history[row, kind]) - up(history[row - 1, kind]) for kind in range(3)]
        # The first level of at least the rise lets the job run; higher levels add nothing.
        first = [
            next((place for place, level in enumerate(LEVELS) if level >= rise > 0), -1) for rise in rises
        ]
        came = [[place == at for place in range(len(LEVELS))] for at in first]
        want.append((9e5 - (39 - row) * PERIOD, [float(rise > 0) for rise in rises], came))
    assert observed == [*want, (9e5, [0.0] * 3, [[False] * len(LEVELS)] * 3)]


@pytest.mark.parametrize("recalled", [1, 2, 6, 30])
def test_only_the_latest_rises_of_a_long_history_are_recalled(observed, monkeypatch, recalled):
    rng = np.random.default_rng(8)
    history = rng.choice([0.0, 1.0, 2.5, 7.0], (30, 3))
    view = replace(drawn(rng, 9e5, history), waiting=Demands.none(), running=Demands.none())
    ArrivalLearner().follow(view, view.used, Buckets().of(view))
    whole = list(observed)
    assert len(whole) == 28 + 1
    observed.clear()
    monkeypatch.setattr(comers_module, "_RECALLED", recalled)
    ArrivalLearner().follow(view, view.used, Buckets().of(view))
    # The rise to the latest row is the current one, which is observed as arriving jobs.
    assert observed == whole[-min(recalled, 29) :]


def test_the_default_recall_is_a_hundred_days():
    assert comers_module._RECALLED * 600.0 == 100 * 86_400.0


def test_levels_are_the_documented_ones():
    assert LEVELS.tolist() == [1, 2, 3, 4, 6, 8, 12, 16, 32, 64]


def test_the_need_of_a_random_view_equals_the_plain_one():
    rng = np.random.default_rng(11)
    for _ in range(5):
        view = drawn_view(rng, 6e5, rng.uniform(0, 5, (3, 3)))
        assert needed(view, Buckets()).least.tolist() == need_of(view)[2]
