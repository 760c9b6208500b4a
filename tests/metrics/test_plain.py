"""Metrics against plain Python."""

import numpy as np
import pytest

from windlass.dispatch import simulate
from windlass.model.fleet import Fleet, FleetCase, fixed_table
from windlass.order.fleet.policies.swag import Swag
from windlass.results.metrics.fleet import fleet_metrics, service_seconds
from windlass.results.metrics.site import batch_metrics
from windlass.results.metrics.workers import dispatch_metrics
from windlass.sim.fleet import run_ordered


def percentile(values, share):
    """Return the percentile by linear interpolation in the sorted list."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * share / 100.0
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def mean(values):
    return sum(values) / len(values)


def test_batch_metrics_of_rigid_jobs_match_plain_python():
    rng = np.random.default_rng(1)
    submit = np.sort(rng.uniform(0.0, 1000.0, 57))
    start = submit + rng.exponential(50.0, 57)
    end = start + rng.exponential(20.0, 57)
    procs = rng.integers(1, 8, 57)
    users = rng.integers(-1, 6, 57)
    groups, queues = users % 2, np.where(users == 3, -1, users % 3)
    found = batch_metrics(
        submit, start, end, procs, 32, users, groups=groups, queues=queues, starved_after=60.0
    )
    jobs = list(zip(submit.tolist(), start.tolist(), end.tolist(), procs.tolist(), strict=True))
    waits = [start - submit for submit, start, _, _ in jobs]
    assert found.mean_wait_s == pytest.approx(mean(waits))
    assert found.median_wait_s == pytest.approx(percentile(waits, 50))
    assert found.p95_wait_s == pytest.approx(percentile(waits, 95))
    assert found.mean_response_s == pytest.approx(mean([end - submit for submit, _, end, _ in jobs]))
    assert found.p99_wait_s == pytest.approx(percentile(waits, 99))
    assert found.max_wait_s == max(waits)
    slowdowns = [max(1.0, (end - submit) / max(end - start, 10.0)) for submit, start, end, _ in jobs]
    for owners, jain in ((users, found.users_jain), (groups, found.groups_jain), (queues, found.queues_jain)):
        own = [
            mean([value for value, owner in zip(slowdowns, owners.tolist(), strict=True) if owner == user])
            for user in sorted({user for user in owners.tolist() if user >= 0})
        ]
        assert jain == pytest.approx(sum(own) ** 2 / (len(own) * sum(value**2 for value in own)))
    assert found.starved == sum(wait > 60.0 for wait in waits) > 0
    assert found.mean_bounded_slowdown == pytest.approx(mean(slowdowns))
    span = max(end for *_, end, _ in jobs) - min(submit for submit, *_ in jobs)
    assert found.makespan_s == pytest.approx(span)
    assert found.utilisation == pytest.approx(sum((e - s) * p for _, s, e, p in jobs) / (32 * span))


@pytest.mark.parametrize("users", [None, [4, 4, 4], [-1, -1, -1], [2, 2, -1]])
def test_the_jain_index_needs_at_least_two_users(users):
    times = np.array([0.0, 1.0, 2.0])
    known = None if users is None else np.array(users)
    assert np.isnan(batch_metrics(times, times, times + 1, np.ones(3, np.int64), 4, known).users_jain)


def test_dispatch_metrics_match_plain_python():
    done = simulate("pot", np.ones(4), 0.8, 900, seed=2, tasks_per_job=3, record=True)
    found = dispatch_metrics(done)
    ends, starts, submits = done.end.tolist(), done.start.tolist(), done.submit.tolist()
    response = [max(ends[at : at + 3]) - submits[at] for at in range(0, 900, 3)]
    assert found.mean_response_s == pytest.approx(mean(response))
    assert found.median_response_s == pytest.approx(percentile(response, 50))
    assert found.p95_response_s == pytest.approx(percentile(response, 95))
    assert found.p99_response_s == pytest.approx(percentile(response, 99))
    waits = [start - submit for start, submit in zip(starts, submits, strict=True)]
    assert found.mean_wait_s == pytest.approx(mean(waits))


def test_fleet_metrics_match_plain_python():
    rng = np.random.default_rng(3)
    tasks = rng.integers(0, 5, (40, 3))
    tasks[tasks.sum(axis=1) == 0, 0] = 1
    submit = np.sort(rng.uniform(0.0, 60.0, 40))
    seconds = rng.exponential(3.0, int(tasks.sum()))
    case = FleetCase(Fleet.of([4, 2, 3]), fixed_table(submit.tolist(), tasks.tolist(), seconds.tolist()))
    run = run_ordered(case, Swag())
    alone = service_seconds(run)
    found = fleet_metrics(run, alone)
    response = [end - submit for end, submit in zip(run.end.tolist(), submit.tolist(), strict=True)]
    assert found.mean_response_s == pytest.approx(mean(response))
    assert found.p90_response_s == pytest.approx(percentile(response, 90))
    assert found.p95_response_s == pytest.approx(percentile(response, 95))
    slowdowns = [own / least for own, least in zip(response, alone.tolist(), strict=True)]
    assert found.mean_slowdown == pytest.approx(mean(slowdowns))
    held = sum(end - begun for end, begun in zip(run.computed.tolist(), run.begun.tolist(), strict=True))
    assert found.utilisation == pytest.approx(held / (9 * (max(run.end) - min(submit))))
    arriving = sum(
        min(end, submit[-1]) - min(begun, submit[-1])
        for end, begun in zip(run.computed.tolist(), run.begun.tolist(), strict=True)
    )
    assert found.arriving_utilisation == pytest.approx(arriving / (9 * (submit[-1] - submit[0])))
    for job in range(40):
        # Tasks of a site are sorted longest first in the table.
        worst, first = 0.0, int(case.jobs.part0[job])
        for part in range(first, int(case.jobs.part0[job + 1])):
            slots = [0.0] * int(case.fleet.slots[case.jobs.site[part]])
            for task in range(int(case.jobs.task0[part]), int(case.jobs.task0[part + 1])):
                slots[slots.index(min(slots))] += float(case.jobs.duration[task])
            worst = max(worst, *slots)
        assert alone[job] == pytest.approx(worst)
