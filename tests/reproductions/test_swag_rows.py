"""Each row of the reproduction of SWAG, with runs that confirm it, refute it, and leave it undecided."""

import numpy as np
import pytest

from tests.reproductions.turning import lacks_reason, why_fixed
from windlass_reproductions.swag import bounds, exact, laws, settings
from windlass_reproductions.swag.runs import REORDERED, SHOWN, SRPT, Experiment, Run

NOISE = np.array([1.0, 1.02, 0.99, 1.01])
LATE, EACH = SRPT


def runs(values, slowdown=(1.0, 1.0, 1.0, 1.0), reported=1.0):
    return [
        Run(float(value), np.array(slowdown) * noise, reported, 1.0)
        for value, noise in zip(values, NOISE, strict=True)
    ]


def experiment_with(**means):
    """Return runs of all policies with these mean responses, 10 s by default."""
    named = {
        "fcfs": "FCFS",
        "one": LATE,
        "each": EACH,
        "one_put": REORDERED[0],
        "each_put": REORDERED[1],
        "swag": "SWAG",
    }
    return Experiment({name: runs(means.get(key, 10.0) * NOISE) for key, name in named.items()})


def room(swag=8.0, srpt=10.0, least=6.0):
    return bounds.Room(swag * NOISE, srpt * NOISE, least * NOISE)


def check(row, holds):
    assert row.holds is holds, (row.ours, row.note)
    assert why_fixed(row) == ""
    assert not lacks_reason(row)


@pytest.mark.parametrize(("worse", "holds"), [(20.0, True), (16.0, True), (15.8, False), (8.0, False)])
def test_the_gain_over_the_worse_srpt_must_be_as_large_as_published(worse, holds):
    check(laws.gain_row("here", 0.5, experiment_with(swag=8.0, one=8.0, each=worse), room()), holds)


@pytest.mark.parametrize(("better", "holds"), [(10.0, True), (9.1, True), (9.0, False), (7.0, False)])
def test_the_least_gain_is_measured_against_the_better_srpt(better, holds):
    check(laws.least_gain_row("here", experiment_with(swag=8.0, one=better, each=30.0), room()), holds)


def test_a_gain_of_one_workload_is_undecided():
    lone = Experiment({name: each[:1] for name, each in experiment_with(swag=4.0).runs.items()})
    check(laws.least_gain_row("here", lone, room()), None)


@pytest.mark.parametrize(
    ("one_put", "each_put", "swag", "verdicts"),
    [
        (9.0, 7.0, 6.5, [True, True, False]),
        (7.5, 7.0, 6.9, [True, True, True]),
        (9.5, 9.0, 9.2, [True, False, False]),
        (10.5, 7.0, 6.9, [False, True, False]),
    ],
)
def test_verdicts_on_reordering_change_with_its_responses(one_put, each_put, swag, verdicts):
    rows = laws.reordering_rows("here", experiment_with(one_put=one_put, each_put=each_put, swag=swag))
    for row, verdict in zip(rows, verdicts, strict=True):
        check(row, verdict)


@pytest.mark.parametrize(
    ("law", "base", "put", "swag", "holds"),
    [
        ("exponential", 1.40, 1.30, 1.25, [True, True, True]),
        ("exponential", 1.41, 1.31, 1.26, [False, False, False]),
        ("facebook", 1.30, 1.20, 1.0, [False, True, True]),
        ("google", 3.0, 2.0, 2.0, [True, True, True]),
        ("google", 0.9, 2.0, 2.0, [False, False, False]),
    ],
)
def test_large_jobs_must_be_slowed_down_as_published(law, base, put, swag, holds):
    by = {EACH: base, f"{EACH} w/Reordering": put, "SWAG": swag}
    high = Experiment({name: runs(NOISE, (1.0, 1.0, 1.0, large)) for name, large in by.items()})
    rows = laws.fairness_rows(law, "3.9", high)
    for row, each in zip(rows, holds, strict=True):
        check(row, each)


def test_a_class_without_jobs_is_undecided():
    high = Experiment({name: runs(NOISE, (1.0, 1.0, 1.0, np.nan)) for name in SHOWN})
    for row in laws.fairness_rows("facebook", "3.9", high):
        check(row, None)
        assert "0 of 4 workloads have large jobs" in row.note


@pytest.mark.parametrize(
    ("known", "least", "holds"), [(10.0, 9.9, True), (10.0, 9.0, None), (9.7, 9.0, False)]
)
def test_the_optimum_lies_between_two_bounds(known, least, holds):
    found = room(swag=10.0, srpt=12.0, least=least)
    check(bounds.bound_row("3.6", "facebook", found, known * NOISE), holds)


def test_a_schedule_without_a_significant_gain_refutes_nothing():
    swag = 10.0 * np.ones(4)
    assert bounds.near_best(swag, swag / np.array([1.0, 1.08, 1.0, 1.08]), 0.5 * swag).holds is None
    assert bounds.near_best(swag, swag / np.array([1.07, 1.08, 1.07, 1.08]), 0.5 * swag).holds is False


@pytest.mark.parametrize(("least", "holds"), [(10.0, False), (9.0, False), (15.1, True), (15.0, False)])
def test_exceeding_a_limit_must_be_significant(least, holds):
    found = laws.over(least * np.ones(4))
    assert laws.above_limit(found, 15.0).holds is holds
    assert laws.above_limit(laws.over([14.0, 17.0]), 15.0).holds is None


@pytest.mark.parametrize(("ends", "holds"), [((18, 10, 7), True), ((18, 10, 8), False), ((17, 10, 7), False)])
def test_the_worked_example_must_match_to_the_digit(monkeypatch, ends, holds):
    monkeypatch.setattr(exact, "finish_instants", lambda *_: ends)
    row = exact.example_rows()[-1]
    assert row.what.startswith("Fig. 3.2, SWAG")
    check(row, holds)


@pytest.mark.parametrize(("swag", "holds"), [(1.0, True), (1.6, False), (3.0, False)])
def test_swag_must_report_the_least_state(swag, holds):
    high = {"Global-SRPT": 2.0 * NOISE, REORDERED[0]: 1.5 * NOISE, "SWAG": swag * NOISE}
    check(settings.state_row(high), holds)


@pytest.mark.parametrize(
    ("values", "holds"),
    [((0.5, 0.4, 0.3, 0.6), True), ((0.2, 0.4, 0.3, 0.6), False), ((0.5, 0.4, 0.3, 0.2), False)],
)
def test_the_largest_gain_must_be_between_the_extreme_skews(values, holds):
    check(settings.skew_row({str(skew): value * NOISE for skew, value in enumerate(values)}), holds)


def test_equal_responses_at_all_skews_are_undecided():
    check(settings.skew_row({"uniform": NOISE, "2": NOISE[::-1], "one-site": NOISE}), None)


@pytest.mark.parametrize(("other", "holds"), [(10.0, True), (10.001, False)])
def test_all_srpt_policies_must_agree_at_one_site(other, holds):
    check(settings.same_row(experiment_with(each_put=other)), holds)


@pytest.mark.parametrize(
    ("values", "holds"), [((0.5, 0.4, 0.3), True), ((0.3, 0.4, 0.5), False), ((0.5, 0.6, 0.5), None)]
)
def test_the_gain_must_grow_with_the_number_of_sites(values, holds):
    noise = NOISE if holds is not None else np.array([1.0, 1.1, 0.9, 1.02])
    by_sites = {sites: value * noise for sites, value in zip((10, 20, 30), values, strict=True)}
    if holds is None:
        by_sites[30] = by_sites[30][::-1]
    check(settings.sites_row(by_sites), holds)


@pytest.mark.parametrize(("true", "holds"), [(9.0, True), (11.0, False)])
def test_more_accurate_estimates_must_lower_the_response(true, holds):
    check(settings.accuracy_row({"0%": 10.0 * NOISE, "40%": 9.5 * NOISE, "100%": true * NOISE}), holds)
