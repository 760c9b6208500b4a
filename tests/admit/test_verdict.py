"""The verdict on two signals: ahead, not ahead, or undecided."""

from __future__ import annotations

import numpy as np
import pytest

from windlass.admit.evaluation import FEWEST, RULE, TOLERANCE, VERDICTS, SignalDifference, ahead, difference


@pytest.mark.parametrize(
    ("interval", "onsets", "verdict"),
    [
        ((0.01, 0.3), FEWEST, "ahead"),
        ((0.01, 0.3), FEWEST - 1, "undecided"),
        ((0.0, 0.3), 90, "undecided"),
        ((-0.3, 0.04), 90, "not ahead"),
        ((-0.3, TOLERANCE), 90, "undecided"),
        ((-0.3, -0.1), 90, "not ahead"),
        ((-0.3, -0.1), FEWEST - 1, "undecided"),
        # A small lead is still ahead.
        ((0.01, 0.02), 90, "ahead"),
    ],
)
def test_verdicts_change_at_their_bounds(interval, onsets, verdict):
    assert VERDICTS[ahead(SignalDifference(sum(interval) / 2, interval), onsets)] == verdict


def test_the_rule_states_the_tolerance():
    assert f"below {TOLERANCE:g}, one onset in 20" in RULE
    assert f"From {FEWEST} onsets on" in RULE


@pytest.mark.parametrize(
    ("ours", "theirs", "wrong", "right"),
    [(0.5, 0.5, True, None), (0.8, 0.5, False, True), (0.5, 0.8, True, False)],
)
def test_verdicts_on_signals_of_known_recall_are_rarely_wrong(ours, theirs, wrong, right):
    # Would catch an interval that is too narrow, and a lead with the wrong sign.
    rng, verdict = np.random.default_rng(5), []
    for _ in range(200):
        hits, others = rng.random(90) < ours, rng.random(90) < theirs
        verdict.append(ahead(difference(hits, others, [np.arange(90)]), 90))
    # 2.5 % on one side, and three deviations.
    assert verdict.count(wrong) <= 0.06 * 200
    assert right is None or verdict.count(right) > 0.9 * 200
