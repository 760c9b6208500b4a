"""The verdict on results."""

from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl
import pytest

from tests.report.made import outcome, random_outcome, results
from windlass.model import InputError
from windlass.results import HIGHER, LOWER, Outcome, Results, VariantResult
from windlass.results.verdict import Comparison, ConfidenceInterval, compare, judge, parse_requirements
from windlass.results.verdict.measures import NARROW, WIDE
from windlass.results.verdict.repeated import repeat


def longer(made: Outcome, by: float, seed: int = 0) -> Outcome:
    """The same jobs, each waiting longer by about the given time (s)."""
    jobs = made.jobs
    more = by * np.random.default_rng([seed, 7]).uniform(0.5, 1.5, len(jobs))
    wait = np.maximum((jobs["start_s"] - jobs["submit_s"]).to_numpy() + more, 0)
    run = (jobs["end_s"] - jobs["start_s"]).to_list()
    return outcome(
        jobs["submit_s"].to_list(), wait.tolist(), run, seed=made.seed, procs=jobs["procs"].to_list()
    )


LOG = random_outcome(400, seed=1)


def test_equal_policies_do_not_differ():
    point = judge(results(("a", [LOG]), ("b", [LOG]))).points[0]
    found = point.comparison.against[1]
    assert (found.low, found.high, found.count, point.winner, point.tied) == (0.0, 0.0, 10, None, (1,))
    assert point.comparison.supported() == (False, False)


def test_a_variant_that_is_worse_for_every_job_differs_significantly():
    point = judge(results(("slow", [longer(LOG, 200.0)]), ("fast", [LOG]))).points[0]
    assert (point.winner, point.comparison.over) == (1, "blocks")
    assert point.comparison.against[0].mean == pytest.approx(200.0, rel=0.05)
    assert point.comparison.supported() == (False, True)


def test_random_differences_are_rarely_significant():
    """Waits differ at random only: about 2 of 40 such pairs differ significantly."""
    rng = np.random.default_rng(3)
    significant = 0
    for seed in range(40):
        made = random_outcome(400, seed)
        jobs = made.jobs
        wait = rng.permutation((jobs["start_s"] - jobs["submit_s"]).to_numpy()) * rng.uniform(0.5, 1.5, 400)
        run = (jobs["end_s"] - jobs["start_s"]).to_list()
        other = outcome(jobs["submit_s"].to_list(), wait.tolist(), run)
        significant += compare(results(("a", [made]), ("b", [other])).variants, "mean_wait_s", -1).is_worse(0)
    assert significant <= 6


def test_a_log_under_several_seeds_is_split_into_blocks():
    made = [[replace(run, seed=seed) for seed in (1, 2, 3)] for run in (LOG, longer(LOG, 200.0))]
    found = repeat(results(("a", made[0]), ("b", made[1])).variants, "mean_wait_s")
    assert found.over == "blocks"
    assert found.difference(1, 0).count == 10
    # A randomised policy makes seeds differ, but the jobs are the same.
    drawn = [longer(LOG, 200.0, seed) for seed in (1, 2, 3)]
    assert repeat(results(("a", made[0]), ("b", drawn)).variants, "mean_wait_s").over == "blocks"


def test_runs_with_other_jobs_for_each_seed_are_paired_by_seed():
    runs = [random_outcome(200, seed) for seed in range(5)]
    slow = [longer(run, 300.0, seed) for seed, run in enumerate(runs)]
    found = repeat(results(("a", runs), ("b", slow)).variants, "mean_wait_s")
    means = np.array([[run.metrics.mean_wait_s for run in each] for each in (runs, slow)])
    assert (found.over, found.difference(1, 0).count) == ("seeds", 5)
    np.testing.assert_array_equal(found.values, means)


def test_correlated_waits_have_no_interval_and_no_sign_flip_test():
    rising = outcome(np.arange(400.0).tolist(), (np.arange(400.0) ** 2).tolist(), [10.0] * 400)
    level = outcome(np.arange(400.0).tolist(), [1e4] * 400, [10.0] * 400)
    found = compare(results(("a", [rising]), ("b", [level])).variants, "mean_wait_s", -1)
    evidence = found.evidence_on(0)
    assert (found.best, found.against[0], found.over, found.jobs) == (1, None, "blocks", 400)
    assert evidence.refusal.reason == "few"
    assert evidence.refusal.effective < evidence.refusal.required == 400
    assert (evidence.signs.above, evidence.signs.pairs) == (15, 20)
    assert np.isnan(evidence.signs.p_value)
    assert not found.is_worse(0)


def test_the_interval_of_a_percentile_is_centred_on_the_reported_difference():
    log = random_outcome(4000, seed=1)
    made = results(("a", [log]), ("b", [longer(log, 200.0)]))
    found = compare(made.variants, "p99_wait_s", -1).against[1]
    waits = [variant.outcomes[0].metrics.p99_wait_s for variant in made.variants]
    assert found.mean == pytest.approx(waits[1] - waits[0])
    assert (found.low + found.high) / 2 == pytest.approx(found.mean)


def test_a_better_variant_is_never_significantly_worse():
    found = Comparison("x", (1.0, 2.0), 0, (None, ConfidenceInterval(1.0, -3.0, -1.0, 20)), "blocks")
    assert not found.is_worse(1)


@pytest.mark.parametrize("metric", ["utilisation", "max_wait_s", "makespan_s"])
def test_a_single_run_has_no_intervals_of_metrics_of_the_whole_run(metric):
    found = compare(results(("a", [LOG]), ("b", [longer(LOG, 200.0)])).variants, metric, -1)
    assert (found.over, found.against, found.supported()) == ("nothing", (None, None), (False, False))


def test_few_jobs_or_different_jobs_have_no_intervals():
    few = random_outcome(99, seed=1)
    assert repeat(results(("a", [few]), ("b", [longer(few, 50.0)])).variants, "mean_wait_s").over == "nothing"
    other = random_outcome(400, seed=2)
    assert repeat(results(("a", [LOG]), ("b", [other])).variants, "mean_wait_s").over == "nothing"


def test_a_metric_that_does_not_follow_from_the_jobs_has_no_blocks():
    odd = replace(LOG, metrics=replace(LOG.metrics, mean_wait_s=LOG.metrics.mean_wait_s + 5))
    assert repeat(results(("a", [odd]), ("b", [odd])).variants, "mean_wait_s").over == "nothing"


def test_only_variants_of_one_point_are_compared():
    slow = longer(LOG, 200.0)
    runs = [("a", "load=1", LOG), ("b", "load=1", slow), ("a", "load=2", slow), ("b", "load=2", LOG)]
    made = tuple(VariantResult(f"{name}, {point}", (), (run,), point) for name, point, run in runs)
    found = judge(Results("", "", made))
    assert [point.point for point in found.points] == ["load=1", "load=2"]
    assert found.winners() == ("a", "b")
    assert found.points[0].names == ("a", "b")


def test_a_variant_that_violates_a_requirement_does_not_win():
    made = results(("fast", [LOG]), ("slow", [longer(LOG, 200.0)]), ("slower", [longer(LOG, 400.0)]))
    required = parse_requirements("mean_wait>=slow", ["fast", "slow", "slower"])
    point = judge(made, "mean_wait", required).points[0]
    assert point.names[point.winner] == "slow"
    assert [(each.row, each.metric) for each in point.broken] == [(0, "mean_wait_s")]
    assert judge(made, requirements=parse_requirements("mean_wait<0")).points[0].winner is None
    with pytest.raises(InputError, match="unknown variant 'nobody'"):
        judge(made, requirements=parse_requirements("mean_wait<nobody"))


def test_the_recorded_schedule_is_compared_and_does_not_win():
    point = judge(results(("recorded", [LOG]), ("easy", [longer(LOG, 200.0)]))).points[0]
    assert point.comparison.best == 1
    assert point.comparison.against[0].high < 0


def test_a_longer_longest_wait_is_a_cost_of_the_winner():
    """Most jobs wait less and one waits long: the mean is better, and the longest wait is worse."""
    jobs = LOG.jobs
    wait = (jobs["start_s"] - jobs["submit_s"]).to_numpy() / 4
    wait[7] = 50_000.0
    made = outcome(jobs["submit_s"].to_list(), wait.tolist(), [600.0] * 400)
    point = judge(results(("unfair", [made]), ("fair", [LOG]))).points[0]
    (longest,) = [cost for cost in point.costs if cost.comparison.metric == "max_wait_s"]
    assert (point.comparison.best, longest.comparison.best, longest.tested) == (0, 1, False)
    assert all(cost.comparison.metric != "mean_bounded_slowdown" for cost in point.costs)


@pytest.mark.parametrize(("costly", "procs"), [(WIDE, 8), (NARROW, 1)])
def test_longer_waits_of_jobs_of_one_width_are_a_cost_of_the_winner(costly, procs):
    """Every fourth job has one width and waits three times as long; the others hardly wait."""
    jobs, rng = 400, np.random.default_rng(5)
    few = np.arange(jobs) % 4 == 0
    widths = np.where(few, procs, 9 - procs).tolist()
    submit, wait = np.arange(jobs) * 100.0, rng.uniform(500.0, 1500.0, jobs)
    made = [
        outcome(submit.tolist(), waits.tolist(), [600.0] * jobs, procs=widths)
        for waits in (wait, np.where(few, 3.0 * wait, 0.1 * wait))
    ]
    point = judge(results(("fair", made[:1]), ("unfair", made[1:])), "mean_wait_s").points[0]
    assert point.comparison.best == 1
    found = {cost.comparison.metric: cost for cost in point.costs}
    assert (found[costly].comparison.best, found[costly].better, found[costly].tested) == (0, -1, True)
    assert ({WIDE, NARROW} - {costly}).isdisjoint(found)
    mean = wait[few].mean()
    assert found[costly].comparison.means == pytest.approx([mean, 3.0 * mean])


@dataclass(frozen=True)
class _Served:
    requests: float
    quality: float = field(metadata=HIGHER)
    cost: float = field(metadata=LOWER)


def test_the_default_metric_is_the_first_with_a_direction():
    def runs(*values: float) -> list[Outcome]:
        return [Outcome(at, _Served(1, value, value), pl.DataFrame(), 8) for at, value in enumerate(values)]

    made = results(("good", runs(3.0, 3.1, 3.2)), ("bad", runs(1.0, 1.1, 1.3)))
    found = judge(made)
    assert (found.metric, found.better, found.winners()) == ("quality", 1, ("good",))
    assert judge(made, "cost").winners() == ("bad",)
    assert [cost.comparison.metric for cost in found.points[0].costs] == ["cost"]
    with pytest.raises(InputError, match=r"^by: 'requests'"):
        judge(made, "requests")


def test_fewer_than_two_variants_have_no_winner():
    assert judge(results()) is None
    assert judge(results(("a", [LOG]))).points[0].winner is None


def test_a_variant_that_is_worse_in_most_seeds_is_not_supported():
    waits = {"a": (1.0, 2.0, 6.0), "b": (2.0, 90.0, 7.0), "c": (91.0, 92.0, 96.5), "d": (1.5, 1.5, 6.1)}
    made = results(*((name, [random_outcome(5, seed=seed) for seed in range(3)]) for name in waits))
    for variant, each in zip(made.variants, waits.values(), strict=True):
        for found, wait in zip(variant.outcomes, each, strict=True):
            object.__setattr__(found, "metrics", replace(found.metrics, mean_wait_s=wait))
    comparison = judge(made).points[0].comparison
    assert [comparison.is_worse(row) for row in range(4)] == [False, False, True, False]
    assert [comparison.worse_in_most(row) for row in range(4)] == [False, True, True, False]
    assert comparison.supported() == (True, False, False, True)
