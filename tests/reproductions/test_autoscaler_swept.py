"""Swept baselines: what is chosen on training weeks, and how it is judged on test weeks."""

import numpy as np
import pytest

from windlass_reproductions.autoscaler.curve_runs import Blocks, Measured, Point
from windlass_reproductions.autoscaler.swept import baselines, judge, on_front, ours, row, within


def blocks(usd, wait):
    """Four weeks of 100 jobs each, of which the third is twice as expensive."""
    share = np.array([0.2, 0.2, 0.4, 0.2])
    return Blocks(
        np.full(4, 100.0),
        400.0 * wait * share,
        usd * share,
        usd * share,
        np.zeros(4),
        np.zeros(4),
        np.full(400, wait),
    )


def measured(policy, knob, learned, judged):
    """A point with money and mean wait in the training weeks and in the test weeks."""
    return Measured(Point(policy, str(knob), policy), blocks(*learned), blocks(*judged))


BASE = [
    measured("reactive", 10, (100.0, 90.0), (200.0, 80.0)),
    measured("reactive", 60, (140.0, 60.0), (260.0, 50.0)),
    measured("buffer", 1, (100.0, 70.0), (210.0, 60.0)),
    # The best in the test weeks, which is not on the front of the training weeks.
    measured("buffer", 2, (150.0, 65.0), (200.0, 1.0)),
]


def test_the_front_and_the_choice_are_those_of_the_training_weeks():
    front = on_front(BASE)
    assert [(each.point.policy, each.point.knob) for each in front] == [("buffer", "1"), ("reactive", "60")]
    assert within(139.0, front) is BASE[2]
    assert within(140.0, front) is BASE[1]
    assert within(1.0, front) is BASE[2]


@pytest.mark.parametrize(
    ("wait", "expected"), [(48.0, "ahead"), (55.0, "open"), (62.0, "open"), (64.0, "behind")]
)
def test_the_verdict_turns_with_the_wait_at_equal_money(wait, expected):
    first, _ = judge(BASE, [measured("thrifty", 3, (99.0, 50.0), (210.0, wait))])
    assert first.baseline is BASE[2]
    assert first.saved.value == pytest.approx(1.0 - wait / 60.0)
    assert first.verdict() == expected


def test_a_side_that_cannot_be_as_cheap_is_behind():
    first, _ = judge(BASE, [measured("thrifty", 3, (300.0, 1.0), (400.0, 1.0))])
    assert first.verdict() == "behind"


def test_a_row_names_both_choices():
    class Named:
        name = "KTH"

    second = list(judge(BASE, [measured("thrifty", 3, (99.0, 50.0), (210.0, 40.0))]))[1]
    assert row(Named(), second).startswith(
        "| KTH | reactive, 60 min | reactive 60 | 50.0 | 50 | 260 | thrifty 3 | 40.0 | 40 | 210 | 20.0 % ("
    )


def test_every_side_has_knobs_of_its_own():
    points = [*baselines(), *ours("thrifty"), *ours("hazard")]
    assert len({(each.policy, each.parameters) for each in points}) == len(points)
    assert {each.policy for each in baselines()} == {"reactive", "buffer", "static"}


def test_thrifty_may_spend_as_much_as_the_largest_reserve():
    assert max(dict(each.parameters)["worth"] for each in ours("thrifty")) == 2560.0
    assert max(dict(each.parameters).get("spare", 0) for each in baselines()) == 32
