"""Standing orders compared with a plain simulation: the views, when policies are called, and task assignments."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.fleet.plain_orders import PlainOrders
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec, fixed_table
from windlass.model.timetable import SiteTimetable
from windlass.order.fleet import POLICIES, JobOrder
from windlass.sim.fleet import run_ordered


class AnyOrder:
    """A policy with a random order for all sites or for each; it records its views."""

    name = "any order"

    def __init__(self, seed):
        self.rng, self.views = np.random.default_rng(seed), []

    def decide(self, view):
        self.views.append(view)
        jobs, sites = view.subjobs.shape
        if self.rng.random() < 0.5:
            return JobOrder(self.rng.permutation(jobs))
        return JobOrder(np.array([self.rng.permutation(jobs) for _ in range(sites)]))


def drawn(seed, *, homes):
    """Jobs whose tasks are fixed to sites, or of several stages that read input; slots that come and go."""
    rng = np.random.default_rng(seed)
    n, count = int(rng.integers(1, 6)), int(rng.integers(1, 12))
    submit = np.sort(rng.integers(0, 16, count)) / 2.0
    if homes:
        subjobs = rng.integers(0, 5, (count, n)) * rng.integers(0, 2, (count, n))
        subjobs[subjobs.sum(axis=1) == 0, 0] = 2
        seconds = rng.choice([0.0, 0.5, 1.0, 4.0], subjobs.sum())
        expected = rng.permutation(seconds)
        jobs = fixed_table(
            submit, subjobs, seconds, expected=expected, error=rng.choice([0.5, 1.0, 2.0], count)
        )
    else:
        here = rng.integers(0, 4, (count, 3, n))
        here[here.sum(axis=2) == 0, 0] = 1
        stages = [
            [StageSpec(1.0, here=tuple(here[j, k].tolist())) for k in range(rng.integers(1, 4))]
            for j in range(count)
        ]
        tasks = sum(sum(stage.here) for job in stages for stage in job)
        jobs = FleetJobs.of(submit, stages, rng.choice([0.0, 0.5, 1.0, 4.0], tasks))
    slots, changes = rng.integers(1, 5, n), int(rng.integers(0, 6))
    times = np.append(np.sort(rng.integers(0, 40, changes)) / 2.0, np.full(n, 25.0))
    own, left = (
        np.append(rng.integers(0, n, changes), np.arange(n)),
        np.append(rng.integers(0, 5, changes), slots),
    )
    return FleetCase(
        Fleet.of(slots), jobs, SiteTimetable(times, own, left, np.ones(len(times)), np.ones(len(times)))
    )


def same(run, plain):
    for name in ("begun", "computed", "site", "end"):
        np.testing.assert_array_equal(getattr(run, name), getattr(plain, name), err_msg=name)
    assert (run.read == run.begun).all()
    assert (run.source == run.site).all()
    expected_counts = plain.decisions, plain.jobs_reported, plain.subjobs_reported
    assert (run.decisions, run.jobs_reported, run.subjobs_reported) == expected_counts
    first = run.jobs.first[run.jobs.stage0]
    assert run.start.tolist() == [run.begun[a:b].min() for a, b in pairwise(first)]


@pytest.mark.parametrize("homes", [True, False], ids=["fixed", "stages"])
@pytest.mark.parametrize("by_seconds", [False, True])
def test_random_orders_run_as_in_the_plain_simulation(homes, by_seconds):
    for seed in range(25):
        case = drawn(seed + 100 * by_seconds, homes=homes)
        one, other = AnyOrder(seed), AnyOrder(seed)
        plain = PlainOrders(case, other, by_seconds=by_seconds).run()
        run = run_ordered(case, one, by_seconds=by_seconds)
        same(run, plain)
        assert len(one.views) == len(other.views)
        for view, twin in zip(one.views, other.views, strict=True):
            assert (view.now, view.job.tolist()) == (twin.now, twin.job.tolist())
            np.testing.assert_allclose(view.subjobs, twin.subjobs, rtol=1e-12)
            assert (view.slots.tolist(), view.backlog.tolist()) == (
                twin.slots.tolist(),
                twin.backlog.tolist(),
            )


@pytest.mark.parametrize("name", POLICIES.names())
@pytest.mark.parametrize("by_seconds", [False, True])
def test_compiled_policies_run_as_in_the_plain_simulation(name, by_seconds):
    for seed in range(6):
        case = drawn(seed + 200, homes=seed % 2 == 0)
        policy = POLICIES.make(name, np.random.default_rng(0))
        plain = PlainOrders(case, policy, by_seconds=by_seconds).run()
        same(run_ordered(case, policy, by_seconds=by_seconds), plain)
