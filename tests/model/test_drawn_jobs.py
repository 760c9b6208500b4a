"""Synthetic jobs for instances and for allocations follow their distributions."""

import math

import numpy as np
import pytest
from scipy import stats

from windlass.experiment.workloads.drift import drift, shocks
from windlass.experiment.workloads.earlier import cut
from windlass.experiment.workloads.load import faster
from windlass.experiment.workloads.lublin.kinds import BATCH, COMBINED, INTERACTIVE
from windlass.experiment.workloads.lublin.model import draw_requests
from windlass.experiment.workloads.outages import draw_outages
from windlass.experiment.workloads.seasons import Season, Shape, seasonal
from windlass.experiment.workloads.use import UseLaw, draw_use
from windlass.model import InputError, JobTable
from windlass.model.vectors import VectorJobs

DAY, HOUR = 86_400.0, 3600.0


def rng(seed=1):
    return np.random.default_rng(seed)


def follows(sample, law):
    return stats.kstest(sample, law.cdf).pvalue > 1e-3


#: Table 5 of the article; for all jobs as one kind, the values of the authors' program.
PUBLISHED = {
    BATCH: "0.2927 0.6686 1.2 5 7 0.875 6.57 0.823 639.1 0.0156 -0.003 0.6986 6.0415 0.8531 1.0519 6.1271 5.2740",
    INTERACTIVE: "0.1541 0.625 1 3 5.5 0.705 3.8351 0.6605 7.073 0.6856 -0.0118 0.9156 6.5510 0.6621 0.9797 8.9186 "
    "3.6680",
    COMBINED: "0.244 0.576 0.8 4.5 7 0.86 4.2 0.94 312 0.03 -0.0054 0.78 10.2303 0.4871 1.0225 8.1737 3.9631",
}


@pytest.mark.parametrize("kind", PUBLISHED, ids=["batch", "interactive", "combined"])
def test_parameters_equal_the_published_ones(kind):
    found = [getattr(kind, name) for name in kind.__slots__]
    assert found == [float(each) for each in PUBLISHED[kind].split()]


@pytest.mark.parametrize(
    ("processors", "ends"),
    [(128, (0.8, 4.5, 7.0)), (64, (0.8, 3.5, 6.0)), (4, (0.8, 0.8, 2.0)), (1, (0.0, 0.0, 0.0))],
)
def test_job_sizes_scale_with_the_system_size(processors, ends):
    kind = COMBINED.sized(processors)
    assert (kind.low, kind.middle, kind.high) == pytest.approx(ends)


def test_requests_are_rounded_up_to_round_times():
    round_times = np.array([60.0, 300.0, 1800.0, 3600.0, 72 * HOUR])
    factor = np.nextafter(1.0, 2.0)
    assert draw_requests(round_times / factor, factor, rng()).tolist() == round_times.tolist()
    assert draw_requests(np.array([72 * HOUR + 1.0]), factor, rng()).tolist() == [4 * DAY]
    # Factors are even from 1 to the largest.
    wanted = draw_requests(np.full(20_000, 10 * DAY), 3.0, rng()) / DAY
    assert (wanted <= 20).mean() == pytest.approx(0.5, abs=0.02)
    assert wanted.max() == 30.0


def test_the_arrival_rate_is_a_daily_cosine_that_is_lower_at_weekends():
    season = Season(per_hour=30.0, daily=0.8, weekend=0.4)
    assert Season() == Season(28.0, 30.0, 0.8, 0.4, 1.0, 1800.0, 1.0)
    hours = np.arange(0, 14 * 24, 0.5)
    found = season.intensity(hours * HOUR)
    for hour, value in zip(hours.tolist(), found.tolist(), strict=True):
        wave = 1.0 + 0.8 * math.cos(2 * math.pi * (hour - 15.0) / 24.0)
        part = 0.4 if int(hour // 24) % 7 in (5, 6) else 1.0
        assert value == pytest.approx(30.0 * wave * part / ((5 + 2 * 0.4) / 7))
    assert found.mean() == pytest.approx(30.0)


def test_seasonal_jobs_arrive_in_batches_and_have_lognormal_run_times():
    season = Season(days=14.0, per_hour=120.0, batch=3.0, run=600.0, spread=0.5)
    shapes = [Shape(gpus=1.0, cores=2.0, memory=3.0, weight=3.0), Shape(cores=8.0), Shape(weight=0.0)]
    jobs = seasonal(season, shapes, rng())
    assert len(jobs) == pytest.approx(14 * 24 * 120, rel=0.05)
    assert jobs.job.tolist() == list(range(1, len(jobs) + 1))
    assert jobs.submit.min() >= 0.0
    assert (jobs.submit < 14 * DAY).all()
    assert np.isinf(jobs.walltime).all()
    batches = np.unique(jobs.submit, return_counts=True)[1]
    assert batches.mean() == pytest.approx(3.0, rel=0.05)
    assert (batches == 1).mean() == pytest.approx(1 / 3, abs=0.02)
    assert follows(np.log(jobs.run), stats.norm(math.log(600.0), 0.5))
    requests, counts = np.unique(jobs.resources, axis=0, return_counts=True)
    assert requests.tolist() == [[0.0, 8.0, 0.0], [1.0, 2.0, 3.0]]
    assert counts / len(jobs) == pytest.approx([0.25, 0.75], abs=0.02)
    edges = np.arange(0, 14 * 24 + 1, 4)
    came = np.histogram(np.unique(jobs.submit) / HOUR, edges)[0]
    expected = [
        season.intensity((np.arange(low, low + 4, 0.1) + 0.05) * HOUR).mean() * 4 / 3 for low in edges[:-1]
    ]
    assert (np.abs(came - expected) <= 5 * np.sqrt(expected) + 1).all()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"days": 0.0}, "days is 0.0, expected a finite number above 0"),
        ({"per_hour": 0.0}, "per_hour is 0.0"),
        ({"run": 0.0}, "run is 0.0"),
        ({"daily": 1.1}, "daily is 1.1, expected a finite number at least 0, at most 1"),
        ({"daily": -0.1}, "daily is -0.1"),
        ({"weekend": 1.5}, "weekend is 1.5"),
        ({"batch": 0.5}, "batch is 0.5, expected a finite number at least 1"),
        ({"spread": -1.0}, "spread is -1.0"),
    ],
)
def test_seasons_out_of_bounds_are_rejected(changed, message):
    with pytest.raises(InputError, match=message):
        Season(**changed)
    assert Season(daily=1.0, weekend=1.0, batch=1.0, spread=0.0).daily == 1.0


def test_seasons_without_jobs_are_rejected():
    with pytest.raises(InputError, match="at least one with a weight above 0"):
        seasonal(Season(), [Shape(weight=0.0)], rng())
    with pytest.raises(InputError, match="weight is -1"):
        seasonal(Season(), [Shape(weight=-1.0), Shape()], rng())
    with pytest.raises(InputError, match="no job is drawn in"):
        seasonal(Season(days=0.001, per_hour=0.001), [Shape()], rng())
    assert Shape() == Shape(gpus=0.0, cores=1.0, memory=0.0, weight=1.0)


@pytest.mark.parametrize("seed", range(8))
def test_a_cut_log_has_the_demand_of_each_period_before_the_cut(seed):
    random = rng(seed)
    submit = 100.0 + np.sort(random.integers(0, 60, 30)) * 10.0
    run = random.integers(0, 30, 30) * 10.0
    kind = random.integers(0, 3, 30)
    jobs = VectorJobs.of(submit=submit, run=run, cores=1.0, walltime=1e4 + run)
    found = cut(jobs, 275.0, 50.0, kind, lambda alive: np.array([alive @ [1.0, 10.0, 100.0], alive.sum()]))
    begin = submit[0] + 300.0
    assert found.begin == begin
    rows = []
    for back in range(6, 0, -1):
        at = begin - 50.0 * back
        alive = [k for s, r, k in zip(submit, run, kind, strict=True) if s <= at < s + r]
        rows.append([sum(10.0**each for each in alive), len(alive)])
    assert found.history.tolist() == rows
    kept = [
        (number + 1, max(s, begin), r if s >= begin else s + r - begin, 1e4 + r - max(0.0, begin - s))
        for number, (s, r) in enumerate(zip(submit.tolist(), run.tolist(), strict=True))
        if s >= begin or s + r > begin
    ]
    columns = (found.jobs.job, found.jobs.submit, found.jobs.run, found.jobs.walltime)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == kept


def test_a_job_that_has_outlived_its_limit_at_the_cut_has_none_behind_it():
    jobs = VectorJobs.of(
        submit=[0.0, 0.0, 0.0, 500.0], run=[400.0] * 4, cores=1.0, walltime=[50.0, 100.0, 150.0, 9.0]
    )
    left = cut(jobs, 100.0, 50.0, np.zeros(4, np.int64), lambda alive: alive.astype(float)).jobs
    assert left.walltime.tolist() == [np.inf, np.inf, 50.0, 9.0]
    assert left.run.tolist() == [300.0, 300.0, 300.0, 400.0]


def test_a_cut_at_0_has_no_history_and_a_cut_of_all_jobs_is_rejected():
    jobs = VectorJobs.of(submit=[5.0, 6.0], run=[1.0, 1.0], cores=1.0)
    found = cut(jobs, 0.0, 50.0, np.array([0, 1]), lambda alive: np.zeros(4))
    assert (found.begin, found.history.shape, len(found.jobs)) == (5.0, (0, 4), 2)
    with pytest.raises(InputError, match="no jobs are left to run after the first 3 s"):
        cut(jobs, 3.0, 3.0, np.array([0, 1]), lambda alive: np.zeros(4))


def test_resource_use_follows_its_distributions():
    count = 4000
    jobs = JobTable.of(np.zeros(count), np.full(count, 100.0), np.full(count, 4))
    law = UseLaw(cpu=(4.0, 6.0), memory=(2.0, 5.0), sequential=0.0, memory_per_core=9e9)
    use = draw_use(jobs, np.arange(count), law, rng())
    assert follows(use.memory * 0.9 / (9e9 * 4), stats.beta(2.0, 5.0))
    assert use.used.tolist() == pytest.approx([90.0] * count)
    assert use.tasks.tolist() == [200.0] * count
    assert use.parallel.all()
    # The share of the job's class, and the job's own deviation of 0.05 from it.
    spread = math.sqrt(0.4 * 0.6 / 11 + 0.05**2)
    assert use.cpu.mean() == pytest.approx(40.0, rel=0.02)
    assert use.cpu.std() == pytest.approx(100 * spread, rel=0.04)
    assert UseLaw() == UseLaw((0.952, 1.095), (5.743, 37.07), 0.4, 4e9)
    one = draw_use(jobs, np.zeros(count, int), law, rng(4))
    assert one.cpu.std() == pytest.approx(5.0, rel=0.05)
    assert len(np.unique(one.memory)) == 1
    busy = draw_use(jobs, np.arange(count), UseLaw(cpu=(1.0, 50.0)), rng(5))
    assert busy.cpu[busy.parallel].min() == pytest.approx(1.0)


def test_sequential_and_parallel_stages_of_a_job_alternate():
    count = 600
    jobs = JobTable.of(np.zeros(count), np.full(count, 100.0), np.full(count, 8))
    use = draw_use(jobs, np.arange(count), UseLaw(cpu=(20.0, 20.0), sequential=0.4), rng())
    shares, numbers = [], []
    for job in range(count):
        rows = list(use.stages(job))
        numbers.append(len(rows))
        assert use.parallel[rows].tolist() == [False, True] * (len(rows) // 2)
        seconds = np.diff(use.until[rows], prepend=0.0)
        share = float(seconds[0::2].sum()) / 100.0
        shares.append(share)
        assert seconds[0::2] == pytest.approx(np.full(len(rows) // 2, 100.0 * share / (len(rows) // 2)))
        assert seconds.sum() == pytest.approx(100.0)
        assert use.cpu[rows[0]] == pytest.approx(100.0 / 8)
        assert use.used[rows].tolist() == [45.0, 90.0] * (len(rows) // 2)
        assert use.tasks[rows].sum() == pytest.approx(200.0)
        assert use.tasks[rows[0::2]].sum() == pytest.approx(200.0 * share)
    assert follows(shares, stats.uniform(0.0, 0.4))
    assert sorted(set(numbers)) == [2, 4]
    assert np.mean(np.array(numbers) == 2) == pytest.approx(0.5, abs=0.08)
    # All stages together use the drawn share, which is about a half with these distributions.
    part = use.core_seconds(np.ones(count, np.int64)) / 100.0
    assert part.mean() == pytest.approx(0.5, abs=0.015)
    assert part.std() == pytest.approx(math.sqrt(0.25 / 41 + 0.05**2), rel=0.1)


def test_shocks_redistribute_the_same_speeds_among_workers():
    found = shocks([1.0, 2.0, 5.0], every=5.0, until=20.0, rng=rng())
    assert found.time.tolist() == [5.0] * 3 + [10.0] * 3 + [15.0] * 3 + [20.0] * 3
    assert found.worker.tolist() == [0, 1, 2] * 4
    dealt = found.value.reshape(4, 3)
    assert (np.sort(dealt, axis=1) == [1.0, 2.0, 5.0]).all()
    assert len(np.unique(dealt, axis=0)) > 1
    assert len(shocks([1.0], every=5.0, until=4.0, rng=rng()).time) == 0
    for bad in ({"every": 0.0}, {"every": math.inf}, {"until": -1.0}, {"until": math.inf}):
        with pytest.raises(InputError, match=next(iter(bad))):
            shocks([1.0], rng=rng(), **{"every": 1.0, "until": 1.0, **bad})
    assert len(shocks([1.0], every=1.0, until=0.0, rng=rng()).time) == 0


def test_drift_follows_the_rows_in_turn_relative_to_their_means():
    found = drift([2.0, 4.0, 10.0], [[1.0, 3.0], [5.0, 5.0]], step=60.0)
    assert found.time.tolist() == [0.0] * 3 + [60.0] * 3
    assert found.worker.tolist() == [0, 1, 2] * 2
    assert found.value.tolist() == [1.0, 4.0, 5.0, 3.0, 4.0, 15.0]
    assert drift([2.0], [[0.0, 1.0]], step=1.0).value.tolist() == [0.0, 4.0]
    for bad in ([[-1.0, 3.0]], [[0.0, 0.0]], [[math.nan, 1.0]], [[1.0, 1.0], [0.0, 0.0]]):
        with pytest.raises(InputError, match="series: expected finite numbers"):
            drift([1.0], bad, step=1.0)
    for step in (0.0, math.inf):
        with pytest.raises(InputError, match="step is"):
            drift([1.0], [[1.0]], step=step)


def test_outage_durations_are_exponential():
    found = draw_outages(200, 4, every=900.0, last=100.0, kill=1.0, until=1e5, rng=rng())
    order = np.lexsort((found.time, found.node))
    time, node, cores = found.time[order], found.node[order], found.cores[order]
    assert (cores.reshape(-1, 2) == [0, 4]).all()
    assert (node.reshape(-1, 2)[:, 0] == node.reshape(-1, 2)[:, 1]).all()
    down_times = [t - s for s, t, c in zip(time, time[1:], cores, strict=False) if c == 0]
    assert follows(down_times, stats.expon(scale=100.0))
    up_times = np.diff(time)[(cores[:-1] == 4) & (node[1:] == node[:-1])]
    # The end cuts off a node's last interval, so only intervals that begin long before it count.
    early = (time[:-1] < 9e4)[(cores[:-1] == 4) & (node[1:] == node[:-1])]
    assert np.mean(up_times[early]) == pytest.approx(900.0, rel=0.03)
    assert found.kill[found.cores == 0].all()
    assert not draw_outages(3, 4, 900.0, 100.0, 0.0, 1e5, rng()).kill.any()


def test_outages_out_of_bounds_are_rejected():
    short = draw_outages(300, 4, every=0.5, last=0.5, kill=1.0, until=0.5, rng=rng())
    assert short.time.min() < 0.1
    assert short.time[short.cores == 0].max() < 0.5
    most = {"nodes": 1, "cores": 4, "every": 0.5, "last": 0.5, "kill": 0.0}
    for changed, message in (
        ({"until": 1_000_001.0}, "expected at most 1,000,000"),
        ({"until": math.inf}, "until is inf"),
        ({"every": math.inf}, "every is inf"),
        ({"last": 0.0}, "last is 0.0"),
        ({"kill": -0.1}, "kill is -0.1"),
    ):
        with pytest.raises(InputError, match=message):
            draw_outages(**{**most, "until": 1.0, **changed}, rng=rng())


def test_a_factor_of_one_and_an_empty_table_return_the_same_table():
    jobs = JobTable.of([1.0, 2.0], [1.0, 1.0], [1, 1])
    assert faster(jobs, 1.0) is jobs
    empty = JobTable.of([], [], [])
    assert faster(empty, 2.0) is empty
