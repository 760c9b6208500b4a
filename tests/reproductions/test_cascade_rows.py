"""Each row of the reproduction of Cascade, with inputs that confirm it, refute it, and leave it undecided."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reproductions.turning import rows_with_fixed_verdicts
from windlass_reproductions.cascade import example, gains, heuristic, placement, types
from windlass_reproductions.cascade.drawn import CLASSIFIER, COUNTER, READER, TRACKER
from windlass_reproductions.cascade.setting import CAMERA, CLOUD, PRIVATE
from windlass_reproductions.cascade.verdicts import between, is_about, largest_gap, reaches, stays
from windlass_reproductions.verdicts import Interval

NOISE = np.array([0.99, 1.0, 1.01])


def holds(rows, part):
    (row,) = [row for row in rows if part in row.what]
    return row.holds


def accuracies(**means):
    """Return the same accuracies at one to five queries per camera."""
    table = {
        (name.replace("_", "-"), count): value * NOISE
        for name, value in means.items()
        for count in gains.COUNTS
    }
    return gains.Accuracies(
        "these",
        {("LP bound" if key[0] == "bound" else key[0], key[1]): v for key, v in table.items()},
        gains.COUNTS,
        0.1,
        0.02,
    )


def test_the_worked_example_holds():
    rows = example.example_rows()
    assert [row.holds for row in rows[:3]] == [True] * 3
    assert {row.what: row.ours for row in rows}["Section 5.3: mean accuracy of optimal"] == pytest.approx(
        0.75
    )
    assert rows_with_fixed_verdicts(rows) == {}


def test_the_worked_example_fails_with_other_plans(monkeypatch):
    # The same plans, but the second is better: both queries run it, and both fit at 1080p.
    better = (("1080p", 0.9, 0.3, 0.15, 0.3), ("480p", 0.95, 0.1, 0.1, 0.2), ("240p", 0.2, 0.1, 0.1, 0.1))
    monkeypatch.setattr(example, "_PLANS", better)
    rows = example.example_rows()
    assert [row.holds for row in rows[:3]] == [False] * 3
    assert rows_with_fixed_verdicts(rows) == {}


def test_verdicts_on_gains_change_with_their_inputs():
    good = dict(
        fair=0.02, videostorm=0.2, cascade=0.6, bound=0.61, refined=0.605, merged=1.1, merge_everything=0.7
    )
    rows = gains.rows_of(accuracies(**good))
    parts = (
        "5 queries a camera: Cascade",
        "gain over fair at 5",
        "VideoStorm, up to",
        "with merging at",
        "over no merging",
        "everything",
    )
    for part in parts:
        assert holds(rows, part) is True, part
    turned = dict(
        fair=0.6, videostorm=0.6, cascade=0.3, bound=0.9, refined=0.8, merged=0.31, merge_everything=0.5
    )
    rows = gains.rows_of(accuracies(**turned))
    for part in parts:
        assert holds(rows, part) is False, part
    assert all(row.note for row in rows if row.holds is False)
    assert rows_with_fixed_verdicts(rows) == {}
    # The limit of 0.94 lies between the ratios to the bound and to the best known plan, so the claim is undecided.
    unsure = gains.rows_of(accuracies(**(good | {"bound": 0.7, "refined": 0.61})))
    assert holds(unsure, "5 queries a camera: Cascade") is None
    assert rows_with_fixed_verdicts(unsure) == {}
    without_fair = gains.rows_of(accuracies(**(good | {"fair": 0.0})))
    assert holds(without_fair, "gain over fair at 5") is None
    assert gains.picture(accuracies(**good)).lines


def test_verdicts_on_bands_and_metrics_change_with_their_inputs():
    means, times = {1.0: 0.8 * NOISE, 2.0: 0.95 * NOISE}, {2.0: 0.15 * NOISE}
    assert [row.holds for row in heuristic.judge_bands(means, times)] == [True, True, True]
    means, times = {1.0: 0.5 * NOISE, 2.0: 0.7 * NOISE}, {2.0: 0.6 * NOISE}
    assert [row.holds for row in heuristic.judge_bands(means, times)] == [False, False, False]
    # Above the printed share is as far from it as below.
    means, times = {1.0: 0.95 * NOISE, 2.0: 0.95 * NOISE}, {2.0: 0.15 * NOISE}
    assert [row.holds for row in heuristic.judge_bands(means, times)] == [False, True, True]
    means, times = {1.0: 0.85 * NOISE, 2.0: 0.9 * NOISE}, {2.0: 0.2 * NOISE}
    rows = heuristic.judge_bands(means, times)
    assert [row.holds for row in rows] == [None, None, None]
    assert rows_with_fixed_verdicts(rows) == {}
    base = 0.6 * NOISE
    assert [row.holds for row in heuristic.judge_metrics(base, 0.85 * base, base - 0.12)] == [True, True]
    assert [row.holds for row in heuristic.judge_metrics(base, 0.99 * base, base + 0.02)] == [False, False]
    rows = heuristic.judge_metrics(base, 0.895 * base[::-1], (base - 0.09)[::-1])
    assert [row.holds for row in rows] == [None, None]
    assert rows_with_fixed_verdicts(rows) == {}


def test_verdicts_on_kinds_change_with_their_inputs():
    far = {READER.name: 0.87, CLASSIFIER.name: 1.02, COUNTER.name: 0.87, TRACKER.name: 1.02}
    best = {kind: 0.6 * NOISE for kind in far}
    fair = {kind: 0.6 * NOISE / 20 for kind in far}
    ours = {kind: part * NOISE * 0.6 for kind, part in far.items()}
    assert {row.holds for row in types.by_kind(ours, best, fair, fair)} == {True}
    near = {kind: (1.9 - part) * NOISE * 0.6 for kind, part in far.items()}
    rows = types.by_kind(near, best, best, best)
    assert {row.holds for row in rows} == {False}
    assert rows_with_fixed_verdicts(rows) == {}
    none = types.by_kind(ours, best, {kind: 0 * NOISE for kind in far}, fair)
    assert {row.holds for row in none if "5.21" in row.what} == {None}


@pytest.mark.parametrize(("ratio", "holds"), [(0.99, True), (0.90, False), (0.95, None)])
def test_verdicts_on_mixes_change_with_their_inputs(ratio, holds):
    # The claims range from 0.91 to 0.98; the ratio is higher with trackers than with readers.
    wide = np.array([0.9, 1.0, 1.1]) if holds is None else 0.001 * NOISE + 0.999
    found = {trackers: ratio * wide for trackers in range(6)}
    rows = types.mix_rows(found, "best")
    assert {row.holds for row in rows[:-1]} == {holds}
    nearer = [types.mix_rows(found | {5: ratio * wide + more}, "best")[-1].holds for more in (0.001, -0.001)]
    assert nearer == [True, False]
    assert types.mix_rows(found | {5: ratio * wide[::-1]}, "best")[-1].holds is None
    assert rows_with_fixed_verdicts(rows) == {}


@pytest.mark.parametrize(
    ("name", "means", "holds"),
    [
        ("private CPU", (0.95, 0.94), True),
        ("private CPU", (0.95, 0.80), False),
        ("private CPU", (0.95, 0.935), None),
        ("camera links", (0.80, 0.84), True),
        ("camera links", (0.80, 0.97), False),
        # The claim is "about 0.8", which a much lower value does not meet either.
        ("camera links", (0.80, 0.5), False),
        ("camera links", (0.80, 0.85), None),
    ],
)
def test_verdicts_on_more_capacity_change_with_their_inputs(name, means, holds):
    row = heuristic.sensitivity_row(name, "shown", [Interval(mean, 0.004) for mean in means], "0.9")
    assert row.holds is holds
    assert rows_with_fixed_verdicts([row]) == {}


@pytest.mark.parametrize(("percent", "holds"), [(0.05, True), (3.74, True), (3.76, False)])
def test_the_greedy_planner_s_time_may_not_exceed_the_printed_share(percent, holds):
    assert heuristic.in_range(percent).holds is holds


def test_verdicts_on_gains_over_one_level_change_with_their_inputs():
    gains_of = {CAMERA: 5.0 * NOISE, PRIVATE: 2.0 * NOISE, CLOUD: 3.1 * NOISE}
    assert [row.holds for row in placement.static_rows(gains_of)] == [True, True]
    turned = {CAMERA: 1.5 * NOISE, PRIVATE: 2.0 * NOISE, CLOUD: 2.5 * NOISE}
    assert [row.holds for row in placement.static_rows(turned)] == [False, False]
    unsure = {CAMERA: 3.0 * NOISE, PRIVATE: 2.0 * NOISE, CLOUD: 3.0 * NOISE[::-1]}
    assert [row.holds for row in placement.static_rows(unsure)] == [None, None]
    # If no query runs at a level in some draw, there is no gain to compare with.
    for level in (CAMERA, PRIVATE):
        assert [row.holds for row in placement.static_rows(gains_of | {level: None})] == [True, None]
    assert [row.holds for row in placement.static_rows(dict.fromkeys(gains_of))] == [None, None]
    for found_gains in (gains_of, turned, unsure):
        assert rows_with_fixed_verdicts(placement.static_rows(found_gains)) == {}


@pytest.mark.parametrize("limit", [-1.0, 0.0, 2.5])
def test_verdicts_on_intervals_change_with_their_distance_to_the_limit(limit):
    above, below, astride = (Interval(limit + shift, 0.1) for shift in (0.2, -0.2, 0.05))
    each = (above, below, astride)
    assert [reaches(found, limit).holds for found in each] == [True, False, None]
    assert [stays(found, limit).holds for found in each] == [False, True, None]
    assert is_about(above, limit, 0.4).holds is True
    assert is_about(above, limit + 1.0, 0.4).holds is False
    assert not np.isfinite(between([0.9], [1.0]).half)
    assert largest_gap(np.arange(4.0), np.arange(4.0) + 10) == 1.0
