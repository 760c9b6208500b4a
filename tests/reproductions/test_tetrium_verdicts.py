"""Tetrium's verdicts change with their inputs, and are None where the inputs leave a claim undecided."""

import math

import numpy as np
import pytest

from tests.reproductions.turning import rows_with_fixed_verdicts
from windlass.model.fleet import FleetJobs, StageSpec
from windlass.results import Summary
from windlass_reproductions.tetrium import classes, delay_scheduling, examples, rows, verdicts
from windlass_reproductions.tetrium.runs import Bench

LOW, HIGH = np.array([1.0, 1.1, 0.9, 1.0]), np.array([2.0, 2.1, 2.2, 1.9])


@pytest.mark.parametrize(
    ("mean", "half", "holds"),
    [
        (45.0, 3.0, True),
        (44.5, 3.0, True),
        (44.4, 3.0, None),
        (38.6, 3.0, None),
        (38.4, 3.0, False),
        (-42.0, 3.0, False),
        (80.0, math.nan, None),
    ],
)
def test_a_reduction_must_reach_the_published_one_significantly(mean, half, holds):
    assert verdicts.reaches(Summary("gain", mean, half), 42.0).holds is holds
    row = rows.gain_row("response", 42.0, Summary("gain", mean, half))
    assert row.holds is holds
    assert rows_with_fixed_verdicts([row]) == {}


def test_gains_must_rise_significantly_and_by_the_published_points():
    pairs = ((LOW, HIGH), (HIGH, LOW), (LOW, LOW[::-1] + 0.001))
    assert [verdicts.rises(pair).holds for pair in pairs] == [True, False, None]
    assert [verdicts.rises(pairs[0], pair).holds for pair in pairs] == [True, False, None]
    more = LOW[::-1] - LOW
    for points, holds in ((17.1, True), (16.9, False)):
        assert verdicts.rises_by(LOW, LOW + points, 18.0).holds is holds
    assert verdicts.rises_by(LOW, LOW + more + 17.0, 18.0).holds is None


def test_the_highest_must_be_above_all_others():
    assert verdicts.is_highest(HIGH, [LOW, LOW + 0.1]).holds is True
    assert verdicts.is_highest(LOW, [LOW - 1.0, HIGH]).holds is False
    assert verdicts.is_highest(LOW, [LOW - 1.0, LOW[::-1] + 0.001]).holds is None
    assert verdicts.is_highest(LOW, []).holds is None


def test_classes_are_compared_on_seeds_that_have_both():
    gains = np.array([[1.0, 2.0, np.nan, 1.0], [4.0, 5.5, 9.0, 4.0], [np.nan, np.nan, 0.0, -9.0]])
    # Only seed 3 has both classes 0 and 2.
    assert [classes.climbs(gains, step).holds for step in ((0, 1), (1, 0), (0, 2))] == [True, False, None]
    turning = {figure: holds for figure, *_, holds in classes._CLASSES}
    up, noise = np.arange(4.0)[:, None] + np.array([0.0, 0.1, 0.2]), np.array([0.0, 0.01, 0.0])
    peak = np.array([0.0, 1.0, 2.0, 1.0])[:, None] + noise
    for figure, good, bad in (
        ("4.16", up, up[::-1]),
        ("4.17", up, up[::-1]),
        ("4.19", up, peak),
        ("4.18", peak, up),
    ):
        assert turning[figure](good + noise).holds is True
        assert turning[figure](bad + noise).holds is False
        empty = good.copy()
        empty[-1] = np.nan
        assert turning[figure](empty).holds is None


@pytest.mark.parametrize(
    ("means", "holds"),
    [((50, 50, 50), True), ((30, 30, 30), False), ((50, 50, 30), None), ((42, 42, 42), None)],
)
def test_a_claim_that_depends_on_the_wait_is_undecided(means, holds):
    each = [verdicts.reaches(Summary("gain", float(mean), 1.0), 42.0) for mean in means]
    assert verdicts.whatever_the_wait(each).holds is holds


class FixedBench(Bench):
    """Fixed gains, by the wait of delay scheduling or without it."""

    def gain(self, policy, against, of=None, other=None, **setting):
        assert (against == "in-place") is (other is None)
        mean = {None: -70.0, 0.0: 50.0, 3.0: 50.0, 5.0: self.jobs}[(other or {}).get("wait")]
        return Summary("gain", mean, 1.0)


@pytest.mark.parametrize(("last", "holds"), [(50, True), (20, None)])
def test_a_gain_over_in_place_must_hold_for_each_wait(last, holds):
    row = rows.delayed_row(FixedBench((1,), last), "response", 42.0, "tetrium", {})
    assert row.holds is holds
    assert str(row.ours).endswith("without delay scheduling -70 ± 1")
    assert f"50 ± 1, 50 ± 1, {last} ± 1 against waits of 0, 3, 5 s" in str(row.ours)
    refuted = rows.delayed_row(FixedBench((1,), 50), "response", 60.0, "tetrium", {})
    assert refuted.note.startswith("fails for every wait; ")
    assert rows_with_fixed_verdicts([row, refuted]) == {}


def test_printed_numbers_must_be_matched_to_their_last_digit():
    assert [verdicts.is_as_printed(ours, 88.5, 0.1).holds for ours in (88.44, 88.46, 88.54, 88.56)] == [
        False,
        True,
        True,
        False,
    ]
    assert [verdicts.is_none(share, 1.0).holds for share in (0.0, 1.0, 1.1, 40.0)] == [
        True,
        True,
        False,
        False,
    ]


def test_verdicts_on_the_worked_examples_change_with_their_inputs(monkeypatch):
    held = [row.holds for row in examples.example_rows()]
    assert held.count(True) >= 6
    assert rows_with_fixed_verdicts(examples.example_rows()) == {}
    monkeypatch.setattr(examples, "MAP_S", 2.2)
    wrong = [row.holds for row in examples.example_rows()]
    assert wrong[:5] == [False] * 5


def test_being_ahead_requires_a_significant_gain_over_each_variant():
    assert delay_scheduling.ahead([HIGH, LOW]) is True
    assert delay_scheduling.ahead([HIGH, -LOW]) is False
    assert delay_scheduling.ahead([HIGH, LOW - 1.0]) is None


@pytest.mark.slow
def test_the_least_response_matches_srpt_on_one_machine():
    rng = np.random.default_rng(3)
    for _ in range(30):
        works, submit = rng.uniform(1, 20, 6), np.sort(rng.uniform(0, 30, 6))
        jobs = FleetJobs.of(submit.tolist(), [[StageSpec(float(work), (1,))] for work in works])
        # Simulate one machine that runs the job with the least remaining work, in small time steps.
        left, ends, step = works.copy(), np.zeros(6), 0.01
        for tick in range(20_000):
            there = np.flatnonzero((submit <= tick * step) & (left > 0))
            if len(there):
                one = there[np.argmin(left[there])]
                left[one] -= step
                ends[one] = (tick + 1) * step
        found = delay_scheduling.least_response(jobs, 1)
        assert found == pytest.approx(max((ends - submit).mean(), works.mean()), abs=0.1)
