"""Verdicts against reference computations: intervals by SciPy, winners by a plain loop."""

import itertools
import math
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from tests.report.made import outcome, random_outcome, results
from windlass.model import InputError
from windlass.results import HIGHER, LOWER, Choice, Outcome, Results, VariantResult, summarise
from windlass.results.verdict import ConfidenceInterval, check_names, compare, judge, parse_requirements
from windlass.results.verdict.blocks import BLOCKS, FINER, LEAST_JOBS
from windlass.results.verdict.measures import NARROW, WIDE, jobs_of, measure_of
from windlass.results.verdict.paired import lag_one, neighbours_correlated, paired_interval
from windlass.results.verdict.repeated import repeat


@dataclass(frozen=True)
class Served:
    """Metrics of a made-up world."""

    requests: float
    quality: float = field(metadata=HIGHER)
    cost: float = field(metadata=LOWER)


def served(name, quality, cost=None, point=""):
    """A variant with a quality, and a cost, by seed."""
    costs = [0.0] * len(quality) if cost is None else cost
    runs = [
        Outcome(seed, Served(5.0, q, c), pl.DataFrame(), 8)
        for seed, (q, c) in enumerate(zip(quality, costs, strict=True))
    ]
    return VariantResult(name, (Choice("order", name),), tuple(runs), point, recorded=name == "recorded")


NUMBERS = st.lists(st.floats(-100.0, 100.0).map(lambda value: round(value, 2)), min_size=3, max_size=3)


@given(
    st.lists(NUMBERS, min_size=1, max_size=4),
    st.sampled_from([-1, 1]),
    st.lists(st.booleans(), min_size=4, max_size=4),
)
def test_the_best_and_the_significantly_worse_variants_match_students_t(values, better, allowed):
    variants = [served(f"p{row}", each) for row, each in enumerate(values)]
    found = compare(variants, "quality", better, allowed[: len(values)])
    means = [sum(each) / 3 for each in values]
    assert found.means == pytest.approx(means)
    able = [row for row in range(len(values)) if allowed[row]]
    if not able:
        assert (found.best, found.against) == (None, (None,) * len(values))
        assert found.supported() == (False,) * len(values)
        return
    assert means[found.best] == pytest.approx(max(means[row] * better for row in able) * better)
    changed = any(np.ptp(each) > 0 for each in values)
    assert found.over == ("seeds" if changed else "nothing")
    worse_rows, mostly = [], []
    for row, each in enumerate(values):
        if row == found.best or not changed:
            assert found.against[row] is None
            worse_rows.append(False)
            mostly.append(False)
            continue
        worse = [better * (best - own) for best, own in zip(values[found.best], each, strict=True)]
        mean = sum(worse) / 3
        half = t.ppf(0.975, 2) * np.std(worse, ddof=1) / math.sqrt(3)
        interval = found.against[row]
        assert (interval.mean, interval.low, interval.high) == pytest.approx(
            (mean, mean - half, mean + half), abs=1e-9
        )
        assert (interval.count, interval.correlated) == (3, False)
        worse_rows.append(interval.low > 0)
        mostly.append(all(each > 0 for each in worse))
    assert [found.is_worse(row) for row in range(len(values))] == worse_rows
    supported = [
        any(worse_rows) and not each and not most for each, most in zip(worse_rows, mostly, strict=True)
    ]
    assert list(found.supported()) == supported


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_summary_has_students_interval(count):
    values = np.random.default_rng(1).normal(size=count).tolist()
    found = summarise("x", values, 1, True)
    assert (found.metric, found.better, found.sometimes) == ("x", 1, True)
    assert found.mean == pytest.approx(sum(values) / count)
    if count == 1:
        assert math.isnan(found.half_width)
    else:
        half = t.ppf(0.975, count - 1) * np.std(values, ddof=1) / math.sqrt(count)
        assert found.half_width == pytest.approx(half)
    assert (summarise("x", values).better, summarise("x", values).sometimes) == (0, False)


def test_an_interval_around_another_centre_uses_deviations_from_it():
    values = np.array([1.0, 2.0, 6.0])
    found = paired_interval(values, centre=2.0)
    half = t.ppf(0.975, 2) * math.sqrt(((values - 2.0) ** 2).sum() / 2) / math.sqrt(3)
    assert (found.mean, found.low, found.high) == pytest.approx((2.0, 2.0 - half, 2.0 + half))
    assert ConfidenceInterval(1.0, 0.0, 2.0, 3).excludes_zero is False
    assert ConfidenceInterval(-1.0, -2.0, 0.0, 3).excludes_zero is False
    assert ConfidenceInterval(-1.0, -2.0, -0.5, 3).excludes_zero is True


def test_neighbours_are_correlated_above_the_bound_only():
    values = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0])
    off = values - values.mean()
    by_hand = sum(a * b for a, b in itertools.pairwise(off)) / sum(a * a for a in off)
    assert lag_one(values) == pytest.approx(by_hand)
    # At 20 values the bound is 0.3678, the one-sided 5 % level of a normal distribution.
    ramp = np.random.default_rng(0).normal(size=(400, 20))
    for row in ramp:
        assert neighbours_correlated(row) == (lag_one(row) > 1.645 / math.sqrt(20))


def test_logs_of_at_least_100_jobs_are_split_into_blocks():
    assert (BLOCKS, FINER, LEAST_JOBS) == (10, 20, 100)
    for count, over in ((99, "nothing"), (100, "blocks")):
        made = random_outcome(count, seed=1)
        assert repeat(results(("a", [made]), ("b", [made])).variants, "mean_wait_s").over == over
    made = random_outcome(200, seed=1)
    found = repeat(results(("a", [made])).variants, "mean_wait_s")
    wait = (made.jobs["start_s"] - made.jobs["submit_s"]).to_numpy()
    assert found.values.shape == (1, 10)
    assert found.values[0] == pytest.approx(wait.reshape(10, -1).mean(axis=1))
    assert (found.jobs, repeat([served("a", [1.0, 2.0])], "quality").jobs) == (200, 0)


def test_a_metric_of_several_seeds_of_one_log_is_averaged_over_seeds():
    first, other = random_outcome(200, seed=1), random_outcome(200, seed=2)
    jobs = first.jobs
    wait = (other.jobs["start_s"] - other.jobs["submit_s"]).to_list()
    run = (jobs["end_s"] - jobs["start_s"]).to_list()
    second = outcome(jobs["submit_s"].to_list(), wait, run, seed=2, procs=jobs["procs"].to_list())
    found = repeat(results(("a", [replace(first, seed=1), second])).variants, "mean_wait_s")
    own = (jobs["start_s"] - jobs["submit_s"]).to_numpy()
    assert found.over == "blocks"
    assert found.values[0] == pytest.approx(((own + wait) / 2).reshape(10, -1).mean(axis=1))
    # A metric of the whole run differs by seed and is compared over seeds.
    assert repeat(results(("a", [replace(first, seed=1), second])).variants, "max_wait_s").over == "seeds"
    same = repeat(results(("a", [first, replace(first, seed=3)])).variants, "max_wait_s")
    assert same.over == "nothing"


def test_measures_select_jobs_by_width_kind_and_metric():
    table = pl.DataFrame(
        {"submit_s": [3.0, 0.0, 1.0], "start_s": [4.0, 2.0, 6.0], "end_s": [9.0] * 3, "procs": [2, 3, 1]}
    )
    narrow, wide = (jobs_of(table, measure_of(each), 8) for each in (NARROW, WIDE))
    np.testing.assert_equal(narrow.value, [np.nan, 5.0, 1.0])
    np.testing.assert_equal(wide.value, [2.0, np.nan, np.nan])
    assert narrow.submit.tolist() == [0.0, 1.0, 3.0]
    assert jobs_of(table.drop("procs"), measure_of(WIDE), 8) is None
    response = jobs_of(table, measure_of("mean_response_s"), 8).value
    assert response.tolist() == [9.0, 8.0, 6.0]
    kinds = table.with_columns(kind=pl.Series(["job", "task", "job"]))
    assert jobs_of(kinds, measure_of("mean_job_wait_s"), 8).value.tolist() == [5.0, 1.0]
    slow = jobs_of(table, measure_of("mean_bounded_slowdown"), 8).value
    assert slow.tolist() == [1.0, 1.0, 1.0]
    assert measure_of("mean_wait") is not None
    for none in ("mean_waits_s", "xmean_wait_s", "p9_wait_s", "mean_task_wait_s"):
        assert measure_of(none) is None
    empty = measure_of("p90_wait_s").statistic(np.empty(0))
    assert math.isnan(empty)
    assert measure_of("p25_wait_s").statistic(np.arange(5.0)) == 1.0


SIGNS = {
    "<=": lambda a, b: a <= b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    ">": lambda a, b: a > b,
}


@pytest.mark.parametrize("sign", SIGNS)
@pytest.mark.parametrize("bound", ["2", "0.5*second"])
def test_variants_that_violate_a_requirement_are_ruled_out(sign, bound):
    costs = {"first": 1.0, "second": 4.0, "recorded": 9.0, "third": 2.0}
    variants = [served(name, [5.0 - cost / 10] * 2, [cost - 0.1, cost + 0.1]) for name, cost in costs.items()]
    required = parse_requirements(f"cost{sign}{bound}", list(costs))
    point = judge(Results("", "", tuple(variants)), "quality", required).points[0]
    out = [
        row
        for row, (name, cost) in enumerate(costs.items())
        if name != "recorded" and not SIGNS[sign](cost, 2.0)
    ]
    assert sorted(point.out) == out
    for each in point.broken:
        assert (each.metric, each.bound, each.value) == (
            "cost",
            2.0,
            pytest.approx(list(costs.values())[each.row]),
        )
    able = [row for row in (0, 1, 3) if row not in out]
    assert point.comparison.best == (min(able, key=lambda row: list(costs.values())[row]) if able else None)
    assert point.compared == 3


def test_variants_that_do_not_differ_from_the_best_are_ties():
    # The second does not differ significantly from the first; the third is significantly worse.
    variants = [
        served("a", [10.0, 11.0, 12.0]),
        served("b", [10.1, 10.8, 11.9]),
        served("c", [1.0, 2.1, 2.9]),
        served("recorded", [10.0, 11.0, 12.1]),
    ]
    found = judge(Results("", "", tuple(variants)))
    (point,) = found.points
    assert (found.metric, found.better, point.comparison.best, point.tied, point.winner) == (
        "quality",
        1,
        0,
        (1,),
        None,
    )
    assert found.winners() == (None,)
    alone = judge(Results("", "", (variants[0], variants[2], variants[3])))
    assert alone.winners() == ("a",)
    assert alone.points[0].compared == 2
    assert judge(Results("", "", (variants[0], variants[3]))).winners() == (None,)
    unknown = served("d", [math.nan] * 3)
    point = judge(Results("", "", (variants[0], unknown, variants[2]))).points[0]
    assert (point.tied, point.winner, point.comparison.against[1]) == ((), 0, None)


def test_points_of_a_sweep_are_judged_separately():
    variants = [
        served("a, load=1", [1.0, 1.1], point="load=1"),
        served("a, load=2", [5.0, 5.1], point="load=2"),
        served("b, load=1", [3.0, 3.1], point="load=1"),
        served("b, load=2", [2.0, 2.1], point="load=2"),
    ]
    found = judge(Results("", "", tuple(variants)))
    assert [(each.point, each.names) for each in found.points] == [
        ("load=1", ("a", "b")),
        ("load=2", ("a", "b")),
    ]
    assert found.winners() == ("b", "a")


def test_metrics_in_which_others_are_better_are_costs():
    variants = [
        served("dear", [9.0, 9.1, 9.2], [5.0, 5.1, 5.2]),
        served("cheap", [1.0, 1.1, 1.2], [1.0, 1.1, 1.2]),
    ]
    point = judge(Results("", "", tuple(variants))).points[0]
    (cost,) = point.costs
    assert (cost.better, cost.tested, cost.comparison.metric, cost.comparison.best) == (-1, True, "cost", 1)
    near = [variants[0], served("near", [1.0, 1.1, 1.2], [5.0, 5.2, 5.05])]
    assert judge(Results("", "", tuple(near))).points[0].costs == ()
    both = [served("dear", [9.0, 9.1], [1.0, 1.1]), variants[1]]
    assert judge(Results("", "", (both[0], served("b", [1.0, 1.1], [2.0, 2.1])))).points[0].costs == ()


def test_the_longest_wait_comes_first_among_the_costs():
    made = random_outcome(400, seed=1)
    jobs = made.jobs
    wait = (jobs["start_s"] - jobs["submit_s"]).to_numpy() / 4
    wait[::50] = 9000.0
    few = outcome(jobs["submit_s"].to_list(), wait.tolist(), [600.0] * 400, procs=jobs["procs"].to_list())
    point = judge(results(("few", [few]), ("fair", [made]))).points[0]
    names = [cost.comparison.metric for cost in point.costs]
    assert point.comparison.best == 0
    assert names[0] == "max_wait_s"
    assert "p99_wait_s" in names
    assert not point.costs[0].tested
    assert all(cost.tested for cost in point.costs[1:])


def test_unknown_metrics_and_metrics_without_direction_are_rejected():
    check_names(Served, None, ())
    check_names(Served, "cost", parse_requirements("requests<5"))
    for by, required in (("requests", ()), ("speed", ()), (None, parse_requirements("speed<5"))):
        with pytest.raises(InputError, match="^by: " if by else "^require: "):
            check_names(Served, by, required)
    assert judge(Results("", "", ())) is None

    @dataclass(frozen=True)
    class Plain:
        requests: float

    plain = VariantResult("a", (), (Outcome(0, Plain(1.0), pl.DataFrame(), 1),))
    assert judge(Results("", "", (plain,))) is None


def test_a_metric_without_a_direction_has_no_best():
    variants = [served("a", [1.0, 2.0]), served("b", [3.0, 4.0])]
    found = compare(variants, "quality", 0)
    assert (found.best, found.against) == (None, (None, None))


def test_a_ruled_out_variant_is_not_a_tie():
    variants = [served("a", [5.0, 6.0], [1.0, 1.0]), served("b", [5.0, 6.0], [9.0, 9.0])]
    assert judge(Results("", "", tuple(variants))).points[0].tied == (1,)
    required = parse_requirements("cost<5 s")
    point = judge(Results("", "", tuple(variants)), None, required).points[0]
    assert (point.tied, point.winner) == ((), 0)


def test_variants_are_compared_over_seeds_if_any_of_them_changes_with_the_seed():
    still, moved = served("a", [1.0, 1.0]), served("b", [1.0, 1.25])
    found = repeat([still, moved], "quality")
    assert found.over == "seeds"
    assert repeat([still, still], "quality").over == "nothing"


def test_equal_longest_waits_are_not_a_cost():
    made = random_outcome(400, seed=1)
    jobs = made.jobs
    wait = (jobs["start_s"] - jobs["submit_s"]).to_numpy()
    half = np.where(wait == wait.max(), wait, wait / 2)
    better = outcome(jobs["submit_s"].to_list(), half.tolist(), [600.0] * 400, procs=jobs["procs"].to_list())
    point = judge(results(("first", [made]), ("better", [better]))).points[0]
    assert point.comparison.best == 1
    assert all(cost.comparison.metric != "max_wait_s" for cost in point.costs)
