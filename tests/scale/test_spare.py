"""Spare instances, and plans that weigh rent against waiting, equal those of plain loops."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.oracles.scaling import (
    PlainChange,
    bucket_of,
    counts_of,
    up,
)
from tests.scale.drawn import PERIOD, TYPES, drawn
from windlass.scale.forecast import Adapted
from windlass.scale.lib.arrivals import LEVELS, ArrivalLearner
from windlass.scale.lib.demand import Buckets, needed
from windlass.scale.lib.polling import serve_waiting
from windlass.scale.lib.spare_capacity import ExpectedArrivals, SpareCapacity
from windlass.scale.policies.hazard import Hazard
from windlass.scale.policies.newsvendor import Newsvendor
from windlass.scale.policies.predictive import Predictive
from windlass.scale.policies.thrifty import Thrifty


@pytest.mark.parametrize("thrifty", [True, False])
def test_gains_are_the_saved_waiting_less_the_rent(thrifty):
    rng = np.random.default_rng(8)
    chances, served = rng.random((3, 10)), rng.uniform(0, 3, (3, 10))
    late, prices = np.array([900.0, 4000.0, 1800.0]), [0.25, 1.0, 8.0]
    if thrifty:
        found = Thrifty(worth=7.0).gains(ExpectedArrivals(chances, served, late), PERIOD, np.array(prices))
    else:
        found = Hazard(worth=7.0).gains(chances, late, PERIOD, served)
    sizes = [1, 1, 1, 1, 2, 2, 4, 4, 16, 32]
    for kind in range(3):
        price = prices[kind] / 0.25 if thrifty else 1.0
        for level in range(10):
            won = chances[kind, level] * served[kind, level] * 7.0 * late[kind]
            rent = (1 - chances[kind, level]) * PERIOD * sizes[level] * price
            assert found[kind, level] == pytest.approx(won - rent)


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("name", ["hazard", "thrifty", "given"])
def test_spare_instances_have_the_highest_sum_of_gains(name):
    rng, shown = np.random.default_rng(9), []
    comers, buckets, spares = ArrivalLearner(), Buckets(), SpareCapacity()
    policy = {"hazard": Hazard(worth=4.0), "thrifty": Thrifty(worth=20.0), "given": None}[name]
    prices = np.array([kind.price for kind in TYPES])
    drawn_gains = rng.normal(-1.0, 4.0, (180, 3, 10))

    def gains(row, seen):
        if name == "given":
            return drawn_gains[row]
        if name == "thrifty":
            return policy.gains(seen, PERIOD, prices)
        return policy.gains(seen.chances, seen.late, PERIOD, seen.served)

    for row in range(180):
        view = drawn(rng, PERIOD * row, np.zeros((1, 3)), look=60.0 if row % 2 else None)
        answer = (
            policy.decide(view) if policy else spares.decide(view, lambda seen, row=row: gains(row, seen))
        )
        least = needed(view, buckets).least.tolist()
        chances = comers.follow(view, np.array(least), buckets.of(view))
        if chances is None:
            want = [max(a, b) for a, b in zip(least, (view.used + view.coming).tolist(), strict=True)]
            spare = [0, 0, 0]
            assert answer.why == ("too little data so far",) * 3
        else:
            half = 30.0 if row % 2 else PERIOD / 2
            late = np.array([kind.launch + half for kind in TYPES])
            found, spare = gains(row, ExpectedArrivals(chances, comers.served, late)), []
            for kind in range(3):
                sums = [float(sum(found[kind, : place + 1])) for place in range(10)]
                best = max(range(10), key=lambda place: (sums[place], -place))
                spare.append(int(LEVELS[best]) if sums[best] > 0 else 0)
            want = [a + b for a, b in zip(least, spare, strict=True)]
            shown.append(spare)
            chance = chances[0, 0]
            assert answer.why[0].startswith(f"{spare[0]} spare, worth the cost")
            assert answer.why[0].endswith(f"within {PERIOD:g} s with probability {chance:.2f}")
        assert answer.counts == tuple(min(a, kind.most) for a, kind in zip(want, TYPES, strict=True))
        look = drawn(rng, view.now + 60.0, view.history, look=60.0, due=False)
        need = needed(look, buckets)
        plan = need.least + np.array(spare)
        found = policy.decide(look) if policy else spares.decide(look, lambda seen: None)
        assert found.counts == serve_waiting(look, need, plan).counts
    assert len({tuple(each) for each in shown}) > 3


class Known:
    """A forecaster that always returns the same rows."""

    rows = np.array([[2.0, 1.0, 5.0], [3.0, 4.0, 4.0], [1.0, 6.0, 9.0]])

    def fit(self, series):
        return self

    def forecast(self, steps):
        return self.rows[:steps]

    def update(self, new_rows):
        pass


@pytest.mark.parametrize("forecasts", [False, True])
def test_the_newsvendor_plans_by_its_forecast_and_its_level(forecasts):
    forecaster = Adapted(Known()) if forecasts else None
    rng, policy = (
        np.random.default_rng(10),
        Newsvendor(wait_price=3.0, forecaster=forecaster, seasons=(2 * PERIOD,), ladder=[(0, 1), (3, 2)]),
    )
    far, buckets = [1, 3, 1], Buckets()
    plain = [PlainChange(each, 3, 5) for each in far]
    history, jobs_of, needs_of = [], np.zeros(3), np.zeros(3)
    for row in range(260):
        history.append(np.maximum(0.0, rng.normal(3.0, 1.0, 3)))
        view = drawn(rng, PERIOD * row, np.array(history[-5:]))
        answer = policy.decide(view)
        need = needed(view, buckets)
        now, waiting = need.now.tolist(), need.waiting.tolist()
        least, spread = need.least.tolist(), need.spread.tolist()
        end = view.now + 3 * PERIOD
        ending = view.running.since + view.running.walltime <= end
        leaves = counts_of(view.running.resources[ending], TYPES)
        moved = history[-1] - history[-2] if row else np.zeros(3)
        # From the second row on, the forecast covers the launch time of an instance.
        then = [max(Known.rows[: far[k], k]) - now[k] if forecasts and row else 0.0 for k in range(3)]
        seen = [np.array([1.0, waiting[k], leaves[k], moved[k], then[k]]) for k in range(3)]
        for kind in range(3):
            plain[kind].observe(view.now, now[kind], seen[kind])
        if plain[0].learned < 144:
            reserve = [2 if each >= 3 else 1 for each in least]
            assert answer.counts == tuple(
                min(a + b, k.most) for a, b, k in zip(least, reserve, TYPES, strict=True)
            )
            assert answer.why[0] == f"{reserve[0]} in reserve: too little data so far"
            continue
        on = [bucket_of(request, TYPES) for request in view.running.resources]
        jobs_of += 0.01 * (np.array([on.count(kind) for kind in range(3)]) - jobs_of)
        needs_of += 0.01 * (np.array(now) - needs_of)
        want, close = [], False
        for kind, of in enumerate(TYPES):
            shares = max(jobs_of[kind] / max(needs_of[kind], 1e-3), 1.0)
            wait = 3.0 * shares * of.launch
            level = wait / (wait + of.price * PERIOD)
            later = max(now[kind] + plain[kind].quantile(view.now, seen[kind], level), 0.0)
            close = close or abs(later - round(later)) < 1e-6
            want.append(min(max(least[kind], up(later) + spread[kind]), of.most))
            assert answer.why[kind].startswith(
                f"{later:.1f} are enough with probability {level:.2f} within {far[kind] * PERIOD:g} s"
            )
        assert close or answer.counts == tuple(want)
        look = drawn(rng, view.now + 60.0, view.history, look=60.0, due=False)
        assert (
            policy.decide(look).counts
            == serve_waiting(look, needed(look, buckets), np.array(answer.counts)).counts
        )


def test_a_changed_launch_time_restarts_the_learning_of_the_newsvendor():
    rng, policy = np.random.default_rng(12), Newsvendor(forecaster=None)
    for row in range(170):
        view = drawn(rng, PERIOD * row, rng.uniform(0, 3, (2, 3)))
        learned = "are enough" in policy.decide(view).why[0]
    assert learned
    slower = (*TYPES[:2], replace(TYPES[2], launch=9 * PERIOD))
    later = replace(view, now=view.now + PERIOD, types=slower)
    assert policy.decide(later).why[0].endswith("in reserve: too little data so far")


@pytest.mark.parametrize(
    "make", [Hazard, Thrifty, lambda: Newsvendor(forecaster=None), lambda: Predictive(Adapted(Silent()))]
)
def test_a_poll_before_the_first_decision_serves_waiting_jobs(make):
    rng = np.random.default_rng(2)
    for _ in range(4):
        view = drawn(rng, 5e4, np.zeros((1, 3)), look=60.0, due=False)
        need = needed(view, Buckets())
        plan = need.least if make in (Hazard, Thrifty) else 0 * need.least
        assert make().decide(view).counts == serve_waiting(view, need, plan).counts


class Silent:
    """A forecaster that is never called."""

    def fit(self, series):
        return self

    def forecast(self, steps):
        raise NotImplementedError

    def update(self, new_rows):
        raise NotImplementedError
