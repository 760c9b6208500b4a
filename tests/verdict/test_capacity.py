"""The smallest size of a sweep that keeps a metric within today's."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from windlass.report.capacity import capacity_sentences
from windlass.report.phrases import in_words
from windlass.results import At, Outcome, Results, VariantResult
from windlass.results.capacity import TOLERANCE, CapacityAnswer, SizeVerdict, _refused, capacity
from windlass.results.metrics.site import batch_metrics

JOBS = 1000
RNG = np.random.default_rng(3)
SUBMIT = np.sort(RNG.uniform(0.0, 1e5, JOBS))
NOISE = RNG.uniform(0.0, 20.0, JOBS)
#: Every tenth job is 100 wide, every tenth is 70 wide, and all others are 10 wide.
PROCS = np.where(np.arange(JOBS) % 10 == 0, 100, np.where(np.arange(JOBS) % 10 == 5, 70, 10))


def outcome(size: int, wait: np.ndarray, seed: int = 0, shift: float = 0.0) -> Outcome:
    """The jobs that fit a size, each with its wait and a run time of 50 s."""
    fits = size >= PROCS
    submit, procs = SUBMIT[fits] + shift, PROCS[fits]
    start = submit + wait[fits]
    end = start + 50.0
    table = pl.DataFrame(
        {
            "job": np.arange(1, JOBS + 1)[fits],
            "submit_s": submit,
            "start_s": start,
            "end_s": end,
            "procs": procs,
        }
    )
    return Outcome(seed, batch_metrics(submit, start, end, procs, size), table, size)


def swept(
    waits: dict[int, float | np.ndarray],
    recorded: float | np.ndarray | None = None,
    policy: str = "easy",
    load: str = "",
) -> list[VariantResult]:
    """Variants of one policy by size, with the mean waits of jobs; and the recorded schedule, if it has one."""
    made = []
    named = [(policy, {size: NOISE + wait for size, wait in waits.items()}, False)]
    if recorded is not None:
        # The noise has another order, so that paired differences vary.
        named.append(("recorded", {size: NOISE[::-1] + recorded for size in waits}, True))
    for name, by_size, logged in named:
        for size, wait in by_size.items():
            at = (At("cluster.processors", size), *([At("load", load)] if load else []))
            point = ", ".join(each.label for each in at)
            made.append(
                VariantResult(f"{name}, {point}", (), (outcome(size, wait),), point, at, recorded=logged)
            )
    return made


def answers(*variants: VariantResult, metric: str = "mean_wait_s", better: int = -1) -> list[CapacityAnswer]:
    return list(capacity(Results("", "", variants), metric, better))


def only(*variants: VariantResult) -> CapacityAnswer:
    (found,) = answers(*variants)
    return found


def test_refused_jobs_without_any_work_are_no_share_of_it():
    made = [outcome(size, NOISE) for size in (100, 60)]
    empty = [replace(each, jobs=each.jobs.with_columns(end_s="start_s")) for each in made]
    assert _refused(*(VariantResult("easy", (), (each,)) for each in empty)) == (200, 0.0)


def test_the_smallest_size_within_the_recorded_wait_suffices():
    found = only(*swept({100: 0.0, 60: 900.0, 80: 100.0}, recorded=300.0))
    assert [each.size for each in found.sizes] == [60, 80, 100]
    assert [each.keeps for each in found.sizes] == [False, True, True]
    assert (found.recorded, found.smallest.size, found.exceptions) == (True, 80, ())
    # 100 jobs are wider than 80 and 200 are wider than 60.
    assert [each.refused for each in found.sizes] == [200, 100, 0]
    work = PROCS / PROCS.sum()
    assert [each.refused_work for each in found.sizes] == pytest.approx(
        [work[PROCS > 60].sum(), work[PROCS > 80].sum(), 0.0]
    )
    # Today's mean is over the jobs that fit, with the sign of the difference positive for a worse size.
    for each in found.sizes:
        fits = each.size >= PROCS
        assert each.today == pytest.approx((NOISE[::-1] + 300.0)[fits].mean())
        assert each.difference.mean == pytest.approx(each.mean - each.today)
        assert each.difference.low < each.difference.mean < each.difference.high
    lines = capacity_sentences([found])
    assert lines[0].startswith(
        "80 processors are the smallest size of the sweep that keeps the mean wait within today's"
    )
    assert lines[1] == (
        "100 jobs wider than 80 processors would be refused (40.0 % of the work); "
        "the smallest size that refuses none is 100 processors."
    )
    assert lines[2].startswith(
        "Today's mean wait is that of the recorded schedule, in the jobs that fit the size."
    )
    assert "at most 5 % above it." in lines[2]


def test_no_size_suffices():
    found = only(*swept({60: 900.0, 80: 800.0, 100: 700.0}, recorded=300.0))
    assert (found.smallest, found.exceptions) == (None, ())
    lines = capacity_sentences([found])
    assert lines[0].startswith(
        "No size of the sweep keeps the mean wait within today's under easy: the largest, 100"
    )
    assert lines[1] == "100 jobs wider than 80 processors would be refused at that size (40.0 % of the work)."


def test_all_sizes_suffice():
    found = only(*swept({60: 30.0, 80: 20.0, 100: 10.0}, recorded=300.0))
    assert found.smallest.size == 60
    assert (
        "; all sizes of the sweep do, so a smaller one may too; it would refuse 200 wider jobs (68.0 % of the work)."
        in capacity_sentences([found])[0]
    )


def test_a_size_counts_only_if_all_larger_ones_suffice_too():
    found = only(*swept({60: 10.0, 80: 900.0, 100: 20.0}, recorded=300.0))
    assert (found.smallest.size, [each.size for each in found.exceptions]) == (100, [60])
    lines = capacity_sentences([found])
    assert "60 keeps it too, but the larger 80 does not." in lines
    assert lines[1].startswith(
        "100 processors refuse no job that fits the largest size; 100 jobs wider than 80 proc"
    )


def test_without_a_recorded_schedule_the_largest_size_is_today():
    found = only(*swept({60: 900.0, 80: 0.0, 100: np.where(PROCS == 100, 5000.0, 0.0)}))
    assert (found.recorded, found.smallest.size) == (False, 80)
    # The waits of jobs that do not fit are no part of today's mean.
    assert [each.today for each in found.sizes[:2]] == pytest.approx(
        [NOISE[PROCS <= 60].mean(), NOISE[PROCS <= 80].mean()]
    )
    assert found.sizes[-1].difference is None
    assert found.sizes[-1].keeps
    lines = capacity_sentences([found])
    assert "Today's mean wait is that of the largest size, 100 processors, under the same policy" in lines[-1]
    alone = only(*swept({60: 900.0, 100: 0.0}))
    assert alone.smallest.size == 100
    assert capacity_sentences([alone])[0].startswith(
        "Only the largest size of the sweep, 100 processors, keeps"
    )


def test_a_significantly_worse_size_within_the_tolerance_does_not_suffice():
    # A constant difference of 1 % is significant, since it has no spread.
    found = only(*swept({80: 1010.0, 100: 1000.0}))
    assert found.sizes[0].mean < (1 + TOLERANCE) * found.sizes[0].today
    assert (found.sizes[0].difference.low > 0, found.sizes[0].keeps) == (True, False)


def test_a_much_worse_size_does_not_suffice_even_if_it_is_not_significantly_worse():
    once = np.where(np.arange(JOBS) == 3, 1e6, 0.0)
    found = only(*swept({80: once, 100: 0.0}))
    assert found.sizes[0].mean > 2 * found.sizes[0].today
    # The waits are too skewed for an interval.
    assert (found.sizes[0].difference, found.sizes[0].keeps) == (None, False)


@pytest.mark.parametrize(("share", "keeps"), [(0.04, True), (0.06, False)])
def test_the_tolerance_bounds_insignificant_differences(share, keeps):
    today = np.full(JOBS, 1000.0)
    extra = np.where(np.arange(JOBS) == 3, 1.0, 0.0)
    fits = PROCS <= 80
    mean = (NOISE + today)[fits].mean()
    found = only(*swept({80: today + extra * share * mean * fits.sum(), 100: today}))
    assert found.sizes[0].mean == pytest.approx((1 + share) * mean)
    assert (found.sizes[0].difference, found.sizes[0].keeps) == (None, keeps)


def test_policies_are_in_the_order_of_their_needs():
    logged = [each for each in swept({80: 0.0, 100: 0.0}, recorded=300.0) if each.recorded]
    easy, fcfs, slow, sjf = (
        swept(waits, policy=name)
        for name, waits in (
            ("easy", {80: 100.0, 100: 50.0}),
            ("fcfs", {80: 900.0, 100: 100.0}),
            ("slow", {80: 900.0, 100: 800.0}),
            ("sjf", {80: 90.0, 100: 40.0}),
        )
    )
    found = answers(*slow, *fcfs, *easy, *sjf, *logged)
    assert [each.policy for each in found] == ["sjf", "easy", "fcfs", "slow"]
    others = capacity_sentences(found)[2]
    assert others.startswith("Others: easy from 80 processors (1.8")
    assert others.endswith("100 jobs refused); fcfs from 100 processors (1.832 min); slow at no size.")
    # Policies with a today of their own have the order of their means at the largest size.
    assert [each.policy for each in answers(*slow, *fcfs, *easy, *sjf)] == ["sjf", "easy", "fcfs", "slow"]


def test_other_axes_have_answers_of_their_own():
    found = answers(
        *swept({80: 9.0, 100: 0.0}, 300.0, load="x1"), *swept({80: 900.0, 100: 5.0}, 300.0, load="x2")
    )
    assert [(each.point, each.smallest.size) for each in found] == [("load=x1", 80), ("load=x2", 100)]
    assert "under easy at load=x1: " in capacity_sentences(found)[0]
    assert capacity_sentences(found)[2].startswith("Others: easy at load=x2 from 100 processors (")


def test_nothing_is_answered_without_comparable_sizes():
    two = swept({80: 0.0, 100: 0.0})
    at = (At("cluster.processors", 80),)
    shifted = VariantResult("easy, processors=80", (), (outcome(80, NOISE, shift=1.0),), "processors=80", at)
    named = [
        VariantResult(each.name, (), each.outcomes, each.point, (At("load", each.at[0].value),))
        for each in two
    ]
    assert answers(*two)
    # Jobs differ, or only one size, or no size is swept, or the metric is no statistic of jobs, or it has no direction.
    assert answers(shifted, two[1]) == []
    assert answers(two[0]) == []
    assert answers(*named) == []
    assert answers(*two, metric="utilisation", better=1) == []
    assert answers(*two, better=0) == []
    assert capacity_sentences(()) == ()


def test_the_interval_in_words_has_the_sign_of_the_metric():
    found = only(*swept({80: 100.0, 100: 0.0}, recorded=300.0))
    least = found.smallest.difference
    low, high = in_words("mean_wait_s", least.low, least.high)
    assert f"difference {low} to {high}, n = 10 blocks)" in (capacity_sentences([found])[0])


def test_few_jobs_are_compared_without_a_test():
    def few(size: int, wait: float) -> VariantResult:
        submit = np.arange(3.0)
        table = pl.DataFrame(
            {"job": [1, 2, 3], "submit_s": submit, "start_s": submit + wait, "end_s": submit + wait}
        )
        metrics = batch_metrics(submit, submit + wait, submit + wait, np.ones(3, np.int64), size)
        name = f"workers={size}"
        return VariantResult(
            f"a, {name}", (), (Outcome(0, metrics, table, size),), name, (At("workers", size),)
        )

    found = only(few(1, 5.1), few(2, 5.0))
    assert [each.difference for each in found.sizes] == [None, None]
    assert found.smallest.size == 1
    lines = capacity_sentences([found])
    assert lines[0].startswith("1 worker is the smallest size of the sweep that keeps")
    assert lines[-1].endswith("; the jobs are too few to test significance.")
    assert only(few(1, 5.3), few(2, 5.0)).smallest.size == 2


@given(st.lists(st.booleans(), min_size=2, max_size=8))
def test_the_smallest_size_starts_the_longest_run_of_sufficient_sizes(keeps):
    sizes = tuple(SizeVerdict(at, 0.0, 0.0, None, each) for at, each in enumerate(keeps))
    found = CapacityAnswer("nodes", "mean_wait_s", -1, "a", "", True, TOLERANCE, sizes)
    from_here = [at for at in range(len(keeps)) if all(keeps[at:])]
    assert (None if found.smallest is None else found.smallest.size) == (
        min(from_here) if from_here else None
    )
    assert {each.size for each in found.exceptions} == {at for at, each in enumerate(keeps) if each} - set(
        from_here
    )
