"""Metrics of the other worlds against plain loops over random made-up runs."""

import math
from dataclasses import fields

import numpy as np
import pytest

from tests.metrics.test_plain import mean, percentile
from windlass.model import InputError, JobTable
from windlass.model.use import JobUse, UseStage
from windlass.results import better_of
from windlass.results.metrics.admission import AdmissionMetrics, admission_metrics
from windlass.results.metrics.colocated import ColocatedMetrics, Responses, colocated_metrics, mean_wait
from windlass.results.metrics.elastic import ElasticMetrics
from windlass.results.metrics.fleet import FleetMetrics
from windlass.results.metrics.sharing import SharingMetrics, hosts_of, sharing_metrics
from windlass.results.metrics.site import BatchMetrics, PooledMetrics, batch_metrics, jain_over
from windlass.results.metrics.video import VideoMetrics, video_metrics
from windlass.results.metrics.workers import DispatchMetrics, dispatch_metrics
from windlass.results.summary import is_sometimes
from windlass.sim.queries.result import PlannerAnswer, Streamed, StreamTimeline
from windlass.sim.queries.setup import Stays
from windlass.sim.shares.result import Shared
from windlass.sim.site.result import Replay
from windlass.sim.telemetry.answers import Counts
from windlass.sim.telemetry.result import Observed
from windlass.sim.workers.result import Dispatched

WAITS = "mean_wait_s p95_wait_s"
BATCH = (
    f"{WAITS} median_wait_s mean_response_s mean_bounded_slowdown makespan_s p99_wait_s max_wait_s starved",
    "utilisation users_jain groups_jain queues_jain",
    "p99_wait_s max_wait_s users_jain groups_jain queues_jain starved",
)


@pytest.mark.parametrize(
    ("metrics", "lower", "higher", "sometimes"),
    [
        (BatchMetrics, *BATCH),
        (
            PooledMetrics,
            BATCH[0],
            f"{BATCH[1]} gpu_utilisation memory_utilisation",
            f"{BATCH[2]} gpu_utilisation memory_utilisation lacked_processors lacked_gpus lacked_memory",
        ),
        (
            SharingMetrics,
            f"{WAITS} mean_response_s mean_run_s makespan_s mean_stretch mean_host_stretch p95_host_stretch "
            "cut_by_sharing evicted",
            "cpu_utilisation allocated_cpu_utilisation",
            "",
        ),
        (
            DispatchMetrics,
            "mean_response_s median_response_s p95_response_s p99_response_s mean_wait_s",
            "",
            "",
        ),
        (
            ColocatedMetrics,
            "mean_job_wait_s mean_job_bounded_slowdown lost_attempts lost_core_s mean_task_response_s "
            "p99_task_response_s added_job_wait_s mean_task_stretch p99_task_stretch",
            "utilisation",
            "",
        ),
        (
            ElasticMetrics,
            f"cost_usd instance_hours {WAITS} delayed_by_launch over_provisioned_h under_provisioned_h "
            "starting_h fragmentation scaling_actions lost",
            "utilisation",
            "",
        ),
        (
            AdmissionMetrics,
            "mean_response_s p99_response_s mean_wait_s refused_tasks mean_cpu_ready p99_cpu_ready",
            "utilisation",
            "",
        ),
        (VideoMetrics, "changes lost_frames late_frames", "accuracy", ""),
        (
            FleetMetrics,
            "mean_response_s median_response_s p90_response_s p95_response_s mean_slowdown makespan_s "
            "waiting_jobs",
            "utilisation arriving_utilisation",
            "mean_slowdown waiting_jobs reported_bytes wan_bytes egress_usd remote_share",
        ),
    ],
)
def test_each_metric_has_its_direction(metrics, lower, higher, sometimes):
    for each in fields(metrics):
        direction = -1 if each.name in lower.split() else int(each.name in higher.split())
        assert (each.name, better_of(each)) == (each.name, direction)
        assert (each.name, is_sometimes(each)) == (each.name, each.name in sometimes.split())
    assert {*f"{lower} {higher} {sometimes}".split()} <= {each.name for each in fields(metrics)}


def replay_of(rng, jobs=60, processors=32, lost=0):
    """Jobs of random widths and times; the last ``lost`` attempts were killed."""
    submit = np.sort(rng.uniform(100.0, 1000.0, jobs))
    start = submit + rng.exponential(50.0, jobs) * (rng.random(jobs) < 0.7)
    run = rng.exponential(40.0, jobs)
    request = run * rng.uniform(0.5, 2.0, jobs)
    table = JobTable.of(submit, run, rng.integers(1, 8, jobs), request)
    end = start + np.minimum(run, request) * rng.uniform(0.8, 1.5, jobs)
    killed = rng.integers(0, jobs, lost)
    began = submit[killed] + rng.exponential(5.0, lost)
    return Replay(
        table,
        processors,
        start,
        end,
        np.zeros(jobs, np.int64),
        ("",),
        killed,
        began,
        began + rng.exponential(9.0, lost),
    )


def dispatched(rng, jobs=80, each=3):
    """Tasks of random times, three per job."""
    submit = np.repeat(np.sort(rng.uniform(0.0, 500.0, jobs)), each)
    start = submit + rng.exponential(3.0, jobs * each)
    end = start + rng.exponential(2.0, jobs * each)
    response = (end - submit).reshape(jobs, each).max(axis=1)
    nothing, none = np.empty(0), np.empty(0, np.int64)
    return Dispatched(
        *("made up", submit, end - submit, response, 17, nothing, none, none, np.empty((0, 0))),
        *(11, 2, 5, start, rng.integers(0, 4, jobs * each)),
    )


def test_dispatch_metrics_have_the_counts_of_the_run():
    found = dispatch_metrics(dispatched(np.random.default_rng(1)))
    assert (found.tasks, found.longest_queue, found.benchmark_tasks) == (240, 17.0, 11.0)


def test_colocated_metrics_match_plain_loops():
    rng = np.random.default_rng(2)
    jobs, tasks = replay_of(rng, lost=9), dispatched(rng)
    found = colocated_metrics(jobs, tasks, 7.0, Responses(2.0, 5.0))
    waits = [start - submit for start, submit in zip(jobs.start, jobs.jobs.submit, strict=True)]
    assert (found.jobs, found.tasks, found.lost_attempts, found.moved_tasks) == (60, 240, 9, 5)
    assert mean_wait(jobs) == pytest.approx(mean(waits))
    assert found.mean_job_wait_s == pytest.approx(mean(waits))
    assert found.added_job_wait_s == pytest.approx(mean(waits) - 7.0)
    lost = 0.0
    for job, begin, end in zip(jobs.lost, jobs.lost_start, jobs.lost_end, strict=True):
        lost += (end - begin) * jobs.jobs.procs[job]
    assert found.lost_core_s == pytest.approx(lost)
    response = tasks.job_response.tolist()
    assert found.mean_task_response_s == pytest.approx(mean(response))
    assert found.p99_task_response_s == pytest.approx(percentile(response, 99))
    assert found.mean_task_stretch == pytest.approx(mean(response) / 2.0)
    assert found.p99_task_stretch == pytest.approx(percentile(response, 99) / 5.0)
    plain = batch_metrics(jobs.jobs.submit, jobs.start, jobs.end, jobs.jobs.procs, 32)
    assert (found.utilisation, found.mean_job_bounded_slowdown) == (
        plain.utilisation,
        plain.mean_bounded_slowdown,
    )


@pytest.mark.parametrize("kill", [True, False])
def test_sharing_metrics_match_plain_loops(kill):
    rng = np.random.default_rng(3)
    done = replay_of(rng)
    jobs = done.jobs
    left = np.where(rng.random(60) < 0.3, 0.25 * jobs.run, 0.0)
    left[5] = 1e-9
    stages = [[UseStage(run * 0.4, 30.0), UseStage(run * 0.6, float(rng.uniform(0, 99)))] for run in jobs.run]
    use = JobUse.of(["a"] * 60, [0.0] * 60, stages)
    host = np.array([3, 3, 3, 7, 9, 9])
    guest = np.array([11, 11, 12, 13, 14, 14])
    # The first two lines of a guest belong to one attempt; lines before its last start belong to an evicted attempt.
    # Job 9 is host in a lost attempt only.
    start = done.start[guest] + np.array([0.0, 5.0, 0.0, -20.0, -9.0, 0.0])
    done.start[[3, 7]] = [start[:3].min() - 1.0, start[3] - 1.0]
    done.start[9] = start[4:].max() + 9.0
    end = start + np.array([5.0, 2.0, 4.0, 3.0, 1.0, 8.0])
    shared = Shared(host, guest, np.full(6, 20), start, end, ("",) * 6, 4, 99)
    found = sharing_metrics(done, shared, use, left, kill=kill)
    stretch, runs, used, allocated = [], [], 0.0, 0.0
    for job in range(60):
        alone = min(jobs.run[job], jobs.request[job]) if kill else jobs.run[job]
        runs.append(done.end[job] - done.start[job])
        stretch.append(runs[-1] / alone)
        work = sum(stage.seconds * stage.cpu / 100.0 for stage in stages[job]) * jobs.procs[job]
        used += work * (1.0 - left[job] / jobs.run[job])
        allocated += runs[-1] * jobs.procs[job]
    for line in range(6):
        if start[line] >= max(done.start[guest[line]], done.start[host[line]]):
            allocated -= (end[line] - start[line]) * jobs.procs[guest[line]]
    waits = [start - submit for start, submit in zip(done.start, jobs.submit, strict=True)]
    span = max(done.end) - min(jobs.submit)
    assert (found.jobs, found.guests, found.evicted) == (60, 4, 4)
    assert found.mean_wait_s == pytest.approx(mean(waits))
    assert found.p95_wait_s == pytest.approx(percentile(waits, 95))
    assert found.mean_run_s == pytest.approx(mean(runs))
    assert found.mean_response_s == pytest.approx(mean((done.end - jobs.submit).tolist()))
    assert found.makespan_s == pytest.approx(span)
    assert found.cpu_utilisation == pytest.approx(used / (32 * span))
    assert found.allocated_cpu_utilisation == pytest.approx(used / allocated)
    assert found.mean_stretch == pytest.approx(mean(stretch))
    hosts = [stretch[job] for job in (3, 7)]
    assert found.mean_host_stretch == pytest.approx(mean(hosts))
    assert found.p95_host_stretch == pytest.approx(percentile(hosts, 95))
    cut = sum(left[job] > 1e-6 and jobs.run[job] <= jobs.request[job] for job in range(60))
    assert found.cut_by_sharing == (cut if kill else 0)
    assert cut > 0


def test_hosts_ran_on_their_own_cores_and_shared_them_in_their_completed_attempts():
    # Job 0 hosts job 1, which later hosts job 2. Job 3 loses the attempt in which it hosts job 4, and then runs alone.
    # Job 5 loses the attempt in which it is a guest of job 0, and then hosts job 6.
    start = np.array([0.0, 2.0, 20.0, 40.0, 5.0, 50.0, 50.0])
    end = np.array([15.0, 50.0, 30.0, 52.0, 25.0, 62.0, 70.0])
    table = JobTable.of(np.zeros(7), np.full(7, 10.0), [4, 2, 1, 4, 2, 4, 1])
    lost = np.array([3, 5]), np.array([0.0, 10.0]), np.array([10.0, 12.0])
    done = Replay(table, 16, start, end, np.zeros(7, np.int64), ("",), *lost)
    lines = [(0, 1, 2.0, 9.0), (3, 4, 5.0, 10.0), (0, 5, 10.0, 12.0), (1, 2, 20.0, 30.0), (5, 6, 50.0, 62.0)]
    host, guest, since, until = (np.array(each) for each in zip(*lines, strict=True))
    shared = Shared(host, guest, np.full(5, 20), since, until, ("",) * 5, 2, 99)
    use = JobUse.of(["a"] * 7, [0.0] * 7, [[UseStage(10.0, 50.0)]] * 7)
    assert hosts_of(done, shared).tolist() == [0, 5]
    found = sharing_metrics(done, shared, use, np.zeros(7), kill=True)
    assert found.mean_host_stretch == pytest.approx((1.5 + 1.2) / 2)
    assert found.p95_host_stretch == pytest.approx(percentile([1.5, 1.2], 95))
    # On the cores of a completed attempt ran job 1 for 7 s, job 2 for 10 s and job 6 for 12 s. Job 4 alone accounts for
    # the cores of the lost attempt of job 3.
    allocated = float(((end - start) * table.procs).sum()) - 2 * 7.0 - 1 * 10.0 - 1 * 12.0
    assert found.allocated_cpu_utilisation == pytest.approx(0.5 * 10.0 * 18 / allocated)


def test_jobs_of_zero_length_have_stretch_1_and_no_utilisation():
    table = JobTable.of([0, 0], [0, 0], [1, 2])
    zero, none = np.zeros(2), np.empty(0, np.int64)
    done = Replay(table, 4, zero, zero, none, ())
    use = JobUse.of(["a", "a"], [0.0, 0.0], [[UseStage(0.0, 50.0)]] * 2)
    shared = Shared(none, none, none, np.empty(0), np.empty(0), (), 0, 0)
    found = sharing_metrics(done, shared, use, zero, kill=True)
    assert (found.mean_stretch, found.mean_host_stretch, found.p95_host_stretch) == (1.0, 1.0, 1.0)
    assert (found.cpu_utilisation, found.allocated_cpu_utilisation, found.cut_by_sharing) == (0.0, 0.0, 0)
    assert batch_metrics(zero, zero, zero, np.ones(2, np.int64), 4).utilisation == 0.0


def test_a_job_that_just_fits_its_walltime_alone_is_cut_by_sharing():
    table = JobTable.of([0, 0], [10, 11], [1, 1], [10, 10])
    done = Replay(table, 4, np.zeros(2), np.full(2, 10.0), np.empty(0, np.int64), ())
    use = JobUse.of(["a", "a"], [0.0, 0.0], [[UseStage(10.0, 50.0)], [UseStage(11.0, 50.0)]])
    none = np.empty(0, np.int64)
    shared = Shared(none, none, none, np.empty(0), np.empty(0), (), 0, 0)
    assert sharing_metrics(done, shared, use, np.array([2.0, 3.0]), kill=True).cut_by_sharing == 1


@pytest.mark.parametrize("warm", [0.0, 200.0, 205.0])
def test_admission_metrics_match_plain_loops(warm):
    rng = np.random.default_rng(4)
    done = dispatched(rng)
    before = [Counts(step * 5, step * 2, step) for step in range(1, 61)]
    channels, rejects = rng.uniform(0.0, 1.0, (60, 4, 5)), rng.random((60, 4)) < 0.2
    observed = Observed(channels, rejects, before[-1], 10.0, tuple(before))
    found = admission_metrics(done, observed, warm)
    counted = [task for task in range(240) if done.submit[task] >= warm]
    response = [done.job_response[job] for job in range(80) if done.submit[3 * job] >= warm]
    assert found.tasks == len(counted)
    assert found.mean_response_s == pytest.approx(mean(response))
    assert found.p99_response_s == pytest.approx(percentile(response, 99))
    assert found.mean_wait_s == pytest.approx(
        mean([done.start[task] - done.submit[task] for task in counted])
    )
    # Steps that begin before the warm-up ends are left out, together with the counts at their ends.
    steps = [step for step in range(60) if step * 10.0 >= warm]
    counts_before = Counts(0, 0, 0) if steps[0] == 0 else before[steps[0] - 1]
    assert found.diverted_tasks == 120 - counts_before.diverted
    assert found.rejected_tasks == 120 - counts_before.diverted + 60 - counts_before.forced
    assert found.downtime == pytest.approx(mean([bool(rejects[s, n]) for s in steps for n in range(4)]))
    from windlass.sim.telemetry.pressure import CHANNELS

    ready = [channels[s, n, CHANNELS.index("ready")] for s in steps for n in range(4)]
    busy = [channels[s, n, CHANNELS.index("busy")] for s in steps for n in range(4)]
    assert found.mean_cpu_ready == pytest.approx(mean(ready))
    assert found.p99_cpu_ready == pytest.approx(percentile(ready, 99))
    assert found.utilisation == pytest.approx(mean(busy))


def test_admission_metrics_leave_out_refused_tasks():
    done = dispatched(np.random.default_rng(4))
    refused = np.zeros(240, bool)
    refused[[7, 30, 100, 101]] = True
    for times in (done.response, done.start):
        times[refused] = math.nan
    jobs = refused.reshape(-1, 3).any(axis=1)
    done.job_response[jobs] = math.nan
    observed = Observed(np.empty((0, 4, 5)), np.empty((0, 4), bool), Counts(230, 4, 2, 4), 10.0)
    warm = float(done.submit[28])
    found, later = admission_metrics(done, observed), admission_metrics(done, observed, warm)
    assert (found.tasks, found.refused_tasks, found.rejected_tasks) == (240, 4, 10)
    assert later.refused_tasks == 3
    assert found.mean_response_s == pytest.approx(mean(done.job_response[~jobs]))
    assert found.p99_response_s == pytest.approx(percentile(done.job_response[~jobs], 99))
    assert found.mean_wait_s == pytest.approx(mean((done.start - done.submit)[~refused]))
    for times in (done.response, done.job_response, done.start):
        times[:] = math.nan
    found = admission_metrics(done, observed)
    assert found.refused_tasks == 240
    assert math.isnan(found.mean_response_s + found.p99_response_s + found.mean_wait_s)


def test_without_steps_metrics_of_nodes_are_nan():
    done = dispatched(np.random.default_rng(5))
    observed = Observed(np.empty((0, 4, 5)), np.empty((0, 4), bool), Counts(9, 1, 0), 10.0)
    found = admission_metrics(done, observed)
    values = (found.downtime, found.mean_cpu_ready, found.p99_cpu_ready, found.utilisation)
    assert all(math.isnan(value) for value in values)
    last = float(done.submit[-1])
    assert admission_metrics(done, observed, last).tasks == 3
    with pytest.raises(InputError, match="the last task arrives at"):
        admission_metrics(done, observed, last + 1.0)


def test_video_metrics_match_plain_loops():
    rng = np.random.default_rng(6)
    arrive = rng.uniform(0.0, 50.0, 7)
    leave = arrive + rng.uniform(10.0, 90.0, 7)
    accurate, late, lost = rng.uniform(0.0, 9.0, (3, 7))
    switches = rng.integers(0, 4, 7)
    timeline = StreamTimeline(
        np.cumsum(rng.uniform(1.0, 9.0, 12)),
        rng.integers(1, 9, 11),
        rng.random(11),
        rng.uniform(0.0, 50.0, (11, 3)),
        rng.uniform(0.0, 1e9, (11, 3)),
    )
    none = np.empty(0, np.int64)
    answers = (PlannerAnswer(0.0, none, none, none, (), False),) * 5
    served = rng.uniform(0.0, 9.0, 7)
    done = Streamed(
        Stays(arrive, leave), accurate, served, late, lost, rng.random(7), switches, answers, timeline
    )
    found = video_metrics(done, 12.5)
    length = sum(until - since for since, until in zip(arrive, leave, strict=True))
    assert (found.queries, found.answers, found.changes) == (7, 5, sum(switches.tolist()))
    assert found.accuracy == pytest.approx(sum(accurate.tolist()) / length)
    assert found.lost_frames == round(sum(lost.tolist()) * 12.5)
    assert found.late_frames == round(sum(late.tolist()) * 12.5)
    assert found.frames == round(length * 12.5)
    hours = sent = 0.0
    for row in range(11):
        seconds = timeline.time[row + 1] - timeline.time[row]
        hours += seconds * sum(timeline.held[row].tolist()) / 3600.0
        sent += seconds * sum(timeline.sent[row].tolist()) / 1e9
    assert (found.core_hours, found.sent_gb) == pytest.approx((hours, sent))


def test_queries_of_zero_length_have_no_accuracy():
    one, none = np.ones(1), np.empty(0)
    timeline = StreamTimeline(np.zeros(1), np.empty(0, np.int64), none, np.empty((0, 1)), np.empty((0, 1)))
    done = Streamed(Stays(one, one), one, one, one, one, one, np.zeros(1, np.int64), (), timeline)
    assert math.isnan(video_metrics(done, 30.0).accuracy)


@pytest.mark.parametrize(
    ("values", "users", "jain"),
    [([0.0, 0.0], [1, 2], math.nan), ([3.0, 1.0], [0, 1], 0.8), ([3.0, 1.0, 2.0], [0, 1, -1], 0.8)],
)
def test_the_jain_index_skips_negative_users_and_zero_values(values, users, jain):
    assert jain_over(np.array(values), np.array(users)) == pytest.approx(jain, nan_ok=True)


def test_a_job_that_waits_exactly_the_bound_has_not_starved():
    submit, start = np.zeros(3), np.array([9.0, 10.0, 11.0])
    found = batch_metrics(submit, start, start + 1, np.ones(3, np.int64), 4, starved_after=10.0)
    assert found.starved == 1.0
    assert (
        PooledMetrics.of(found, gpu_utilisation=0.5, lacked_memory=0.1).mean_wait_s,
        PooledMetrics.of(found).starved,
    ) == (10.0, 1.0)


def test_by_default_a_job_starves_after_a_day():
    from windlass.results.metrics.site import DAY

    assert DAY == 24 * 60 * 60
