"""Metrics of subsets of the jobs, and their jackknife."""

import itertools

import numpy as np
import polars as pl
import pytest

from tests.report.made import random_outcome
from windlass.results.verdict.measures import NARROW, WIDE, jobs_of, measure_of, pseudo_values, statistic
from windlass.results.verdict.paired import paired_interval

METRICS = [
    "mean_wait_s",
    "median_wait_s",
    "p95_wait_s",
    "p99_wait_s",
    "mean_response_s",
    "mean_bounded_slowdown",
]


@pytest.mark.parametrize("metric", METRICS)
def test_the_statistic_of_all_jobs_is_the_metric(metric):
    made = random_outcome(300, seed=1)
    measure = measure_of(metric)
    jobs = jobs_of(made.jobs.sample(fraction=1.0, shuffle=True, seed=3), measure, 8)
    assert statistic(measure, jobs.value) == pytest.approx(getattr(made.metrics, metric))
    assert (np.diff(jobs.submit) >= 0).all()


@pytest.mark.parametrize("metric", ["max_wait_s", "utilisation", "makespan_s", "jobs", "users_jain"])
def test_metrics_of_the_whole_run_have_no_measure(metric):
    assert measure_of(metric) is None


def test_pseudo_values_of_a_mean_are_the_means_of_the_blocks():
    values = np.random.default_rng(4).exponential(size=100)
    found = pseudo_values(measure_of("mean_wait_s"), values, 20)
    np.testing.assert_allclose(found, values.reshape(20, 5).mean(axis=1))


def test_pseudo_values_of_a_percentile_are_tukeys():
    values = np.random.default_rng(5).exponential(size=101)
    edges = [round(at * 101 / 5) for at in range(6)]
    whole = np.percentile(values, 95)
    plain = [
        5 * whole - 4 * np.percentile([*values[:low], *values[high:]], 95)
        for low, high in itertools.pairwise(edges)
    ]
    np.testing.assert_allclose(pseudo_values(measure_of("p95_wait_s"), values, 5), plain)


def test_wide_jobs_have_more_than_a_quarter_of_the_processors():
    table = pl.DataFrame(
        {"submit_s": [0.0] * 4, "start_s": [1.0, 2.0, 4.0, 8.0], "end_s": [9.0] * 4, "procs": [1, 2, 3, 8]}
    )
    for metric, mean in ((NARROW, 1.5), (WIDE, 6.0)):
        measure = measure_of(metric)
        assert statistic(measure, jobs_of(table, measure, 8).value) == mean
    assert np.isnan(statistic(measure_of(WIDE), jobs_of(table, measure_of(WIDE), 32).value))


@pytest.mark.parametrize(
    "table",
    [
        pl.DataFrame(),
        pl.DataFrame({"submit_s": [0.0], "start_s": [1.0]}),
        pl.DataFrame({"submit_s": [0.0], "start_s": [None], "end_s": [2.0]}),
        pl.DataFrame({"kind": ["task"], "submit_s": [0.0], "start_s": [1.0], "end_s": [2.0]}),
    ],
)
def test_a_table_without_the_needed_values_has_no_jobs(table):
    assert jobs_of(table, measure_of("mean_wait_s"), 8) is None


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["p95_wait_s", "p99_wait_s", "median_wait_s"])
def test_intervals_of_percentiles_cover_95_percent(metric):
    """Waits follow distributions with known percentiles; the interval covers their difference."""
    rng, measure, jobs, covered = np.random.default_rng(6), measure_of(metric), 4000, []
    share = {"p95_wait_s": 0.95, "p99_wait_s": 0.99, "median_wait_s": 0.5}[metric]
    true = -np.log(1 - share) * (3.0 - 2.0)
    for _ in range(400):
        first, second = rng.exponential(3.0, jobs), rng.exponential(2.0, jobs)
        centre = statistic(measure, first) - statistic(measure, second)
        pairs = pseudo_values(measure, first, 20) - pseudo_values(measure, second, 20)
        found = paired_interval(pairs, centre=centre)
        covered.append(found.low <= true <= found.high)
    # Of 400, 95 % are 380 ± 13 (three standard deviations).
    assert np.mean(covered) > 0.915
