"""Each row of the reproduction of Rosella, with runs that confirm it, refute it, and leave it undecided."""

from types import SimpleNamespace

import numpy as np
import pytest

from tests.reproductions.turning import lacks_reason, why_fixed
from windlass_reproductions.rosella import examples, growth, learning, table

NOISE = np.array([1.0, 1.02, 0.99, 1.01])
SIZES = np.array([10, 100, 1000])


def check(row, holds):
    assert row.holds is holds, (row.ours, row.note)
    assert why_fixed(row) == ""
    assert not lacks_reason(row)


def run(rate):
    """Return a run whose waiting tasks grow at this rate in the second half and are constant in the first."""
    times = np.linspace(0.0, 100.0, 201)
    waiting = np.where(times < 50.0, 9000.0, 9000.0 + rate * (times - 50.0))
    return SimpleNamespace(waiting=waiting.astype(np.int64), sample_time=times)


def test_growth_is_measured_over_the_second_half():
    assert examples.growth(run(20.0)) == pytest.approx(20.0)
    assert examples.growth(run(-20.0)) == pytest.approx(-20.0)


@pytest.mark.parametrize(
    ("rate", "holds"), [(3.6, [True, True, False, False]), (0.0, [False, False, True, True])]
)
def test_an_example_holds_if_its_queues_behave_as_published(monkeypatch, rate, holds):
    monkeypatch.setattr(examples, "simulate", lambda *_, seed, **__: run(rate * NOISE[seed]))
    for row, verdict in zip(examples.examples(True).rows, holds, strict=True):
        check(row, verdict)


def test_each_growth_is_compared_with_its_own_rate():
    between = 1.5 * NOISE
    assert examples.is_unstable(between, 3.6).holds is False
    assert examples.is_unstable(between, 2.34).holds is True
    assert examples.is_stable(between, 2.34).holds is False
    assert examples.is_stable(np.array([0.0, 2.3]), 2.34).holds is None


def test_the_surplus_matches_the_examples():
    large = examples.surplus(np.repeat([1.0, 6.0], [900, 100]), 1350.0, 2)
    assert large == pytest.approx(0.81 * 1350.0 - 900.0)
    assert examples.surplus(np.repeat([1.0, 6.0], [9, 1]), 14.0, 1) == pytest.approx(9 * (1.4 - 1.0))


def fast(there):
    return examples.Fast(there * NOISE, 1.0 * NOISE, 99.0 * NOISE)


@pytest.mark.parametrize(
    ("sq", "ll", "holds"), [(0.1, 1.0, [True, True]), (1.7, 1.6, [False, False]), (0.1, 0.4, [False, True])]
)
def test_verdicts_on_the_fast_worker_change_with_its_response(sq, ll, holds):
    slow, longest, less, of_all = examples.fast_rows(fast(sq), fast(ll), 100)
    check(slow, holds[0])
    check(less, holds[1])
    check(longest, None)
    check(of_all, None)


@pytest.mark.parametrize(("mean", "holds"), [(6.667, True), (6.5, False), (7.0, False)])
def test_separate_queues_must_respond_as_theory_predicts(mean, holds):
    check(examples.exact_row(mean + 0.001 * NOISE), holds)


def longest(slope, axis):
    return 3.0 + slope * axis(SIZES) + 0.01 * NOISE[:, None] * np.arange(3)


def loglog(sizes):
    return np.log(np.log(sizes))


@pytest.mark.parametrize(
    ("pss", "ppot", "holds"),
    [
        (longest(9.0, np.log), longest(1.0, loglog), [True, True, True]),
        (longest(10.0, np.log), longest(3.0, loglog), [False, False, True]),
        (longest(0.1, np.log), longest(1.0, loglog), [True, True, False]),
    ],
)
def test_queues_must_grow_no_faster_than_the_published_laws(pss, ppot, holds):
    for row, verdict in zip(growth.growth_rows(SIZES, pss, ppot), holds, strict=True):
        check(row, verdict)


@pytest.mark.parametrize(("rosella", "holds"), [(1.0, True), (20.0, False)])
def test_the_adaptive_policy_must_respond_faster(rosella, holds):
    time, adapts = learning.shock_rows({"rosella": 30.0, "halo": 600.0}, rosella * NOISE, 10.0 * NOISE, 4)
    check(time, None)
    check(adapts, holds)


@pytest.mark.parametrize(("added", "holds"), [(-0.1, True), (0.0, True), (0.01, False)])
def test_benchmark_tasks_must_not_slow_other_tasks_down(added, holds):
    check(learning.benchmark_row(0.3, {0.0: NOISE, 0.1: NOISE + added}), holds)


def test_benchmark_tasks_without_a_significant_effect_are_undecided():
    check(learning.benchmark_row(0.3, {0.0: NOISE, 0.1: NOISE[::-1]}), None)


@pytest.mark.parametrize(("axis", "holds"), [(np.log, True), (np.asarray, False)])
def test_learning_time_must_follow_the_logarithm_of_the_workers(axis, holds):
    found = 1.0 + 0.5 * axis(SIZES.astype(float)) + 0.01 * NOISE[:, None]
    check(learning.size_row(SIZES, found), holds)


@pytest.mark.parametrize(("slope", "holds"), [(10.0, True), (-10.0, False)])
def test_learning_time_must_grow_with_the_load(slope, holds):
    loads = (0.3, 0.5, 0.9)
    check(learning.load_row(loads, 20.0 + slope * np.array(loads) + 0.01 * NOISE[:, None]), holds)


def against_sparrow(rosella, sparrow=10.0):
    return table.AgainstSparrow("some", rosella * NOISE, sparrow * NOISE)


@pytest.mark.parametrize(
    ("found", "holds"),
    [
        ([against_sparrow(3.5), against_sparrow(1.0)], True),
        ([against_sparrow(3.6), against_sparrow(11.0)], False),
        ([against_sparrow(3.5), against_sparrow(3.6)], None),
        ([against_sparrow(3.6), against_sparrow(1.0, sparrow=20.0)], False),
        ([against_sparrow(1.0, sparrow=20.0)], None),
    ],
)
def test_the_verdict_on_sparrow_uses_all_stable_settings(found, holds):
    row = table.sparrow_row(found, "words")
    check(row, holds)
    stable = sum(each.sparrow.mean() < 20.0 for each in found)
    assert f"{stable} settings" in row.what


def test_the_share_is_the_reduction_below_sparrow():
    assert against_sparrow(4.0).share == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("every", "two", "holds"),
    [(1.0, 1.04, [True, True]), (1.06, 2.0, [False, False]), (1.04, 1.06, [True, False])],
)
def test_verdicts_compare_rosella_with_the_better_learner(every, two, holds):
    means = {table.ROSELLA: two, table.ROSELLA_ALL: every, table.LEARNERS[0]: 1.0, table.LEARNERS[1]: 3.0}
    cells = [table.Cell(contender.label, 0.8, mean * NOISE) for contender, mean in means.items()]
    cells.append(table.Cell("ppot", 0.8, 1.5 * NOISE))
    for row, verdict in zip(table.learner_rows(cells, 0.8, "some"), holds, strict=True):
        check(row, verdict)
