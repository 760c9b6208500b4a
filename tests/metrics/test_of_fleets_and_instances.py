"""Metrics of jobs over sites and on instances against plain loops over made-up runs."""

import math

import numpy as np
import pytest

from tests.metrics.test_plain import mean, percentile
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec, fixed_table
from windlass.model.instances import InstanceType
from windlass.model.vectors import VectorJobs
from windlass.results.metrics.bottleneck import used_shares, wait_causes
from windlass.results.metrics.bound import least_mean_response
from windlass.results.metrics.elastic import delayed, elastic_metrics
from windlass.results.metrics.fleet import BYTES_PER_SUBJOB, arriving_utilisation, fleet_metrics
from windlass.results.metrics.isolated import alone
from windlass.sim.fleet.result import FleetRun
from windlass.sim.instances.fleet import InstanceFleet
from windlass.sim.instances.result import Attempts, Decisions, Launches, Scaled


def fleet_run(rng, linked=True, reports=40):
    """Twelve jobs of two map stages, or of a map stage and a shuffle, at made-up times."""
    links = {"up": [9.0, 8.0, 7.0], "down": [9.0, 8.0, 7.0], "price": rng.random((3, 3))} if linked else {}
    fleet = Fleet.of([3, 2, 4], **links)
    stages = [
        [StageSpec(2.0, (1, 2, 0), 5.0), StageSpec(1.0, tasks=int(rng.integers(1, 4)), parents=(0,))]
        for _ in range(12)
    ]
    submit = np.sort(rng.uniform(10.0, 50.0, 12))
    jobs = FleetJobs.of(submit.tolist(), stages)
    count = len(jobs.duration)
    owner = jobs.job[jobs.stage]
    begun = submit[owner] + rng.exponential(4.0, count)
    computed = begun + rng.exponential(3.0, count)
    end = np.array([computed[owner == job].max() for job in range(12)])
    site = rng.integers(0, 3, count)
    source = np.where(jobs.home >= 0, rng.integers(0, 3, count), -1)
    carried = rng.uniform(0.0, 9.0, (3, 3)) if linked else np.empty((0, 0))
    return FleetRun(
        *(fleet, jobs, end, rng.uniform(0.0, 9.0, 12), carried, site, source, begun, begun, computed),
        *(np.empty((0, 6)), np.empty((0, 4)), 8, {}, reports, 3 * reports),
    )


def test_metrics_of_a_fleet_with_links_match_plain_loops():
    run = fleet_run(np.random.default_rng(1))
    service = np.random.default_rng(2).uniform(1.0, 3.0, 12)
    service[3] = 0.0
    found = fleet_metrics(run, service)
    submit = run.jobs.submit.tolist()
    response = [end - at for end, at in zip(run.end.tolist(), submit, strict=True)]
    span = max(run.end) - submit[0]
    assert (found.jobs, found.tasks, found.decisions) == (12, len(run.begun), 8)
    assert found.mean_response_s == pytest.approx(mean(response))
    assert found.median_response_s == pytest.approx(percentile(response, 50))
    assert found.p90_response_s == pytest.approx(percentile(response, 90))
    assert found.p95_response_s == pytest.approx(percentile(response, 95))
    slowed = [1.0 if least == 0.0 else own / least for own, least in zip(response, service, strict=True)]
    assert found.mean_slowdown == pytest.approx(mean(slowed))
    assert found.makespan_s == pytest.approx(span)
    held = [(b, c) for b, c in zip(run.begun.tolist(), run.computed.tolist(), strict=True)]
    assert found.utilisation == pytest.approx(sum(c - b for b, c in held) / (9 * span))
    arriving = sum(max(0.0, min(c, submit[-1]) - b) for b, c in held) / (9 * (submit[-1] - submit[0]))
    assert found.arriving_utilisation == pytest.approx(arriving)
    assert found.wan_bytes == pytest.approx(sum(run.sent.tolist()))
    usd = sum(run.carried[x, y] * run.fleet.price[x, y] for x in range(3) for y in range(3))
    assert found.egress_usd == pytest.approx(usd)
    maps = [(s, f) for s, f in zip(run.site.tolist(), run.source.tolist(), strict=True) if f >= 0]
    assert found.remote_share == pytest.approx(mean([s != f for s, f in maps]))
    assert found.waiting_jobs == 40 / 8
    assert found.reported_bytes == 8 * 120 / 8
    assert BYTES_PER_SUBJOB == 8


def test_metrics_that_do_not_apply_to_a_fleet_are_nan():
    run = fleet_run(np.random.default_rng(3), linked=False, reports=0)
    found = fleet_metrics(run, np.full(12, math.nan))
    for name in (
        "wan_bytes",
        "egress_usd",
        "remote_share",
        "waiting_jobs",
        "reported_bytes",
        "mean_slowdown",
    ):
        assert math.isnan(getattr(found, name)), name


def test_jobs_without_duration_have_no_utilisation_and_no_slowdown():
    case = FleetCase(Fleet.of([2]), fixed_table([5.0, 5.0], [[1], [1]], [0.0, 0.0]))
    none, ints = np.full(2, 5.0), np.zeros(2, np.int64)
    run = FleetRun(
        *(case.fleet, case.jobs, none, none, np.empty((0, 0)), ints, ints, none, none, none),
        *(np.empty((0, 6)), np.empty((0, 4)), 1, {}, 2, 2),
    )
    assert math.isnan(arriving_utilisation(run))
    found = fleet_metrics(run, np.zeros(2))
    assert (found.utilisation, found.mean_slowdown) == (0.0, 1.0)


@pytest.mark.parametrize("seed", range(20))
def test_an_isolated_job_starts_each_task_on_the_first_free_slot(seed):
    rng = np.random.default_rng(seed)
    tasks = rng.integers(0, 9, (6, 3))
    tasks[:, 0] += 1
    seconds = rng.integers(0, 6, int(tasks.sum())).astype(float)
    if seed % 2:
        seconds /= 16.0  # jobs of less than a second
    jobs = fixed_table(np.arange(6.0), tasks, seconds)
    slots = np.array([3, 1, 5])
    found = alone(jobs.part0, jobs.site, jobs.task0, jobs.duration, slots)
    for job in range(6):
        longest = 0.0
        for part in range(jobs.part0[job], jobs.part0[job + 1]):
            free = [0.0] * int(slots[jobs.site[part]])
            for task in range(jobs.task0[part], jobs.task0[part + 1]):
                slot = free.index(min(free))
                free[slot] += float(jobs.duration[task])
            longest = max(longest, *free)
        assert found[job] == longest


def plain_bound(case, steps):
    """The bound as its module describes it, with lists: (of any schedule, alone)."""
    jobs, slots = case.jobs, case.fleet.slots.tolist()
    parts = []
    for job in range(len(jobs)):
        for part in range(jobs.part0[job], jobs.part0[job + 1]):
            times = sorted(jobs.duration[jobs.task0[part] : jobs.task0[part + 1]].tolist(), reverse=True)
            size = slots[jobs.site[part]]
            work = sum(times) / size
            least = max(work, times[0])
            for rounds in range(1, len(times)):
                shared = times[rounds * size - rounds : rounds * size + 1]
                if rounds * size < len(times):
                    # Of k n + 1 tasks, one slot runs at least k + 1: at least the shortest k + 1 of them.
                    least = max(least, sum(shared))
            tail = max(work, sum(t * t for t in times) / sum(times)) / 2.0 if work else 0.0
            parts.append((job, int(jobs.site[part]), work, tail, least))
    submit = jobs.submit.tolist()
    alone_of = [max(p[4] for p in parts if p[0] == job) for job in range(len(jobs))]
    itself = [at + least for at, least in zip(submit, alone_of, strict=True)]
    parts = [part for part in parts if part[2] > 0.0]
    total = [sum(p[2] ** 2 for p in parts if p[0] == job) for job in range(len(jobs))]
    weight = [0.9 * p[2] ** 2 / total[p[0]] for p in parts]
    own = [0.1 if each else 1.0 for each in total]
    best = sum(itself)
    for step in range(steps):
        end = [0.0] * len(parts)
        for site in range(len(slots)):
            rows = [row for row, part in enumerate(parts) if part[1] == site]
            left = {row: parts[row][2] for row in rows}
            for row in rows:
                end[row] = parts[row][3]
            now = 0.0
            while left:
                come = [row for row in left if submit[parts[row][0]] <= now]
                ahead = [submit[parts[row][0]] for row in left if submit[parts[row][0]] > now]
                if not come:
                    now = min(ahead)
                    continue
                row = max(come, key=lambda row: (weight[row] / parts[row][2], -row))
                until = min([now + left[row], *ahead])
                end[row] += (until - now) / parts[row][2] * (now + until) / 2.0
                left[row] -= until - now
                if until not in ahead:
                    del left[row]
                now = until
        value = sum(w * e for w, e in zip(weight, end, strict=True))
        best = max(best, value + sum(w * e for w, e in zip(own, itself, strict=True)))
        far = 2.0 / math.sqrt(1.0 + step / 10.0)
        last = list(itself)
        for row, part in enumerate(parts):
            last[part[0]] = max(last[part[0]], end[row])
        scale = [max(last[job] - submit[job], 1e-12) for job in range(len(jobs))]
        for row, (job, *_) in enumerate(parts):
            weight[row] = max(1e-12, weight[row] * math.exp(far * (end[row] - last[job]) / scale[job]))
        for job in range(len(jobs)):
            own[job] = max(1e-12, own[job] * math.exp(far * (itself[job] - last[job]) / scale[job]))
        total = [
            own[job] + sum(weight[r] for r, p in enumerate(parts) if p[0] == job) for job in range(len(jobs))
        ]
        weight = [weight[row] / total[part[0]] for row, part in enumerate(parts)]
        own = [own[job] / total[job] for job in range(len(jobs))]
    return best / len(jobs) - mean(submit), mean(alone_of)


@pytest.mark.matrix
@pytest.mark.parametrize("steps", [0, 1, 2, 25])
@pytest.mark.parametrize("seed", range(4))
def test_the_bound_matches_a_plain_loop(seed, steps):
    rng = np.random.default_rng(seed)
    tasks = rng.integers(0, 7, (12, 3))
    tasks[tasks.sum(axis=1) == 0, 1] = 1
    submit = np.sort(rng.uniform(3.0, 20.0, 12))
    seconds = rng.exponential(2.0, int(tasks.sum()))
    # The first job has sub-jobs without work only.
    seconds[: tasks[0].sum()] = 0.0
    case = FleetCase(Fleet.of([3, 1, 2]), fixed_table(submit, tasks, seconds))
    reports = []
    found = least_mean_response(case, steps, lambda: reports.append(1))
    expected = plain_bound(case, steps)
    assert len(reports) == steps
    assert (found.any_schedule, found.alone) == pytest.approx(expected, rel=1e-9)
    if steps == 25:
        # The default is 150 steps, which tightens the bound here.
        assert least_mean_response(case).any_schedule == pytest.approx(plain_bound(case, 150)[0], rel=1e-9)
        assert found.any_schedule > found.alone


@pytest.mark.parametrize("seed", range(10))
def test_causes_of_waits_match_a_loop_over_seconds(seed):
    rng = np.random.default_rng(seed)
    count = 12
    submit = np.sort(rng.integers(0, 20, count)).astype(float)
    start = submit + rng.integers(0, 9, count)
    end = start + rng.integers(1, 9, count)
    needs, amount = rng.integers(0, 5, (3, count)), np.array([8, 6, 5])
    alone_s, several, nothing = [0.0] * 3, 0.0, 0.0
    for job in range(count):
        for second in range(int(submit[job]), int(start[job])):
            runs = [other for other in range(count) if start[other] <= second < end[other]]
            short = [kind for kind in range(3) if amount[kind] - sum(needs[kind, runs]) < needs[kind, job]]
            several += len(short) > 1
            nothing += not short
            if len(short) == 1:
                alone_s[short[0]] += 1.0
    wait = sum((start - submit).tolist())
    found = wait_causes(submit, start, end, needs, amount)
    assert found.wait == wait
    assert found.alone == pytest.approx([each / wait for each in alone_s])
    assert (found.several, found.nothing) == pytest.approx((several / wait, nothing / wait))
    span = max(end) - min(submit)
    held = [sum(needs[kind, job] * (end[job] - start[job]) for job in range(count)) for kind in range(3)]
    expected = [each / (most * span) for each, most in zip(held, amount, strict=True)]
    assert used_shares(start, end, needs, amount, submit) == pytest.approx(expected)


def test_without_waits_causes_are_nan_and_unused_resources_have_share_0():
    zero = np.zeros(2)
    found = wait_causes(zero, zero, zero + 1, np.ones((2, 2), np.int64), np.array([4, 4]))
    assert found.wait == 0.0
    assert all(math.isnan(each) for each in (*found.alone, found.several, found.nothing))
    none = np.zeros((2, 2), np.int64)
    assert used_shares(zero, zero + 1, none, np.array([0, 4]), zero).tolist() == [0.0, 0.0]
    assert used_shares(zero, zero, none, np.array([0, 4]), zero).tolist() == [0.0, 0.0]


TYPES = (
    InstanceType("small", cores=4, memory=8e9, price=0.5, launch=10.0),
    InstanceType("large", gpus=2, cores=16, memory=64e9, price=3.0, launch=10.0),
)
NOTHING = Decisions(np.empty(0), np.empty((0, 2)), np.empty((0, 2), int), np.empty((0, 2), int), ())


def scaled(types=TYPES):
    """Five instances: idle at the end, failed, interrupted, never gone, never ready; four jobs, one of them killed."""
    jobs = VectorJobs.of(
        submit=[100.0, 110.0, 300.0, 420.0],
        run=[90.0, 50.0, 60.0, 10.0],
        cores=[2, 3, 8, 4],
        gpus=[0, 0, 1, 0],
    )
    launches = Launches(
        kind=np.array([0, 0, 1, 1, 0]),
        launched=np.array([100.0, 105.0, 120.0, 300.0, 430.0]),
        ready=np.array([130.0, np.nan, 150.0, 340.0, np.nan]),
        gone=np.array([400.0, 140.0, 360.0, np.nan, np.nan]),
        why=np.array([0, 1, 2, -1, -1]),
        busy=np.array([210.0, 0.0, 40.0, 60.0, 0.0]),
    )
    attempts = Attempts(
        job=np.array([0, 1, 2, 2, 3]),
        launch=np.array([0, 0, 2, 3, 0]),
        began=np.array([130.0, 150.0, 320.0, 345.0, 420.0]),
        ended=np.array([220.0, 200.0, 360.0, 405.0, 430.0]),
    )
    return Scaled(
        jobs,
        InstanceFleet(types),
        np.array([0.5, 0.75, 0.5, 1.0]),
        90.0,
        450.0,
        np.array([130.0, 150.0, 345.0, 420.0]),
        np.array([220.0, 200.0, 405.0, 430.0]),
        1,
        launches,
        attempts,
        NOTHING,
    )


def test_elastic_metrics_match_values_by_hand():
    done = scaled()
    found = elastic_metrics(done)
    paid = [300.0, 35.0, 240.0, 150.0, 20.0]
    starting = [30.0, 35.0, 30.0, 40.0, 20.0]
    price = [0.5, 0.5, 3.0, 3.0, 0.5]
    waits = [30.0, 40.0, 45.0, 0.0]
    assert (found.jobs, found.lost, found.failed, found.scaling_actions) == (4, 1, 2, 6)
    assert found.instance_hours == pytest.approx(sum(paid) / 3600)
    assert found.cost_usd == pytest.approx(sum(p * usd for p, usd in zip(paid, price, strict=True)) / 3600)
    assert found.mean_wait_s == mean(waits)
    assert found.p95_wait_s == pytest.approx(percentile(waits, 95))
    assert delayed(done).tolist() == [True, True, True, False]
    assert found.delayed_by_launch == 3
    assert found.starting_h == pytest.approx(sum(starting) / 3600)
    assert found.over_provisioned_h == pytest.approx((sum(paid) - sum(starting) - 310.0) / 3600)
    parts = sum(wait * part for wait, part in zip(waits, (0.5, 0.75, 0.5, 1.0), strict=True))
    assert found.under_provisioned_h == pytest.approx(parts / 3600)
    # Cores are the most expensive resource of small instances, GPUs of large ones.
    had = 0.5 * (2 / 4 * 90 + 3 / 4 * 50 + 4 / 4 * 10) + 3.0 * (1 / 2 * 40 + 1 / 2 * 60)
    whole = sum(p * usd for p, usd in zip(paid, price, strict=True))
    assert found.utilisation == pytest.approx(had / whole)
    assert found.fragmentation == pytest.approx(1.0 - had / (0.5 * 210 + 3.0 * 100))


def test_instances_without_prices_have_equal_weights():
    free = tuple(
        InstanceType(each.name, gpus=each.gpus, cores=each.cores, memory=each.memory) for each in TYPES
    )
    found = elastic_metrics(scaled(free))
    had = 2 / 4 * 90 + 3 / 4 * 50 + 4 / 4 * 10 + 1 / 2 * 40 + 1 / 2 * 60
    assert found.cost_usd == 0.0
    assert found.utilisation == pytest.approx(had / 745.0)
    assert found.fragmentation == pytest.approx(1.0 - had / 310.0)


def test_a_job_on_several_instances_uses_the_same_share_of_each():
    jobs = VectorJobs.of(submit=[0.0], run=[100.0], cores=9)
    # An instance that is ready just as the job is submitted does not delay it.
    launches = Launches(
        np.zeros(3, int),
        np.zeros(3),
        np.array([0.0, 0.0, 0.0]),
        np.full(3, np.nan),
        np.full(3, -1),
        np.full(3, 80.0),
    )
    attempts = Attempts(np.zeros(3, int), np.arange(3), np.full(3, 20.0), np.full(3, 100.0))
    done = Scaled(
        *(jobs, InstanceFleet(TYPES[:1]), np.array([3.0]), 0.0, 100.0, np.array([20.0]), np.array([100.0])),
        *(0, launches, attempts, NOTHING),
    )
    found = elastic_metrics(done)
    assert found.utilisation == pytest.approx(3 * (9 / 3 / 4 * 80) / 300)
    assert found.delayed_by_launch == 0


def test_a_run_without_paid_time_has_no_utilisation():
    jobs = VectorJobs.of(submit=[0.0], run=[0.0], cores=1)
    one = np.zeros(1)
    launches = Launches(np.zeros(1, int), one, one, np.full(1, np.nan), np.full(1, -1), one)
    attempts = Attempts(np.zeros(1, int), np.zeros(1, int), one, one)
    done = Scaled(jobs, InstanceFleet(TYPES[:1]), one, 0.0, 0.0, one, one, 0, launches, attempts, NOTHING)
    found = elastic_metrics(done)
    assert (found.utilisation, found.fragmentation) == (0.0, 1.0)


def test_the_gpu_of_an_instance_with_one_gpu_determines_its_utilisation():
    jobs = VectorJobs.of(submit=[0.0], run=[10.0], cores=1, gpus=1)
    launches = Launches(
        np.zeros(1, int), np.zeros(1), np.zeros(1), np.full(1, np.nan), np.full(1, -1), np.full(1, 10.0)
    )
    attempts = Attempts(np.zeros(1, int), np.zeros(1, int), np.zeros(1), np.full(1, 10.0))
    fleet = InstanceFleet((InstanceType("one", gpus=1, cores=10),))
    one = np.ones(1)
    done = Scaled(jobs, fleet, one, 0.0, 10.0, one - 1, 10 * one, 0, launches, attempts, NOTHING)
    assert elastic_metrics(done).utilisation == 1.0
