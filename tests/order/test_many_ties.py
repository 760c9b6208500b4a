"""Long queues of equal jobs are ordered by arrival, at a site and over sites."""

from __future__ import annotations

import numpy as np
import pytest

from windlass.order import global_srpt, independent_srpt, optimal, swag
from windlass.order.fleet import FleetView
from windlass.order.fleet.lib.greedy import _scan
from windlass.order.fleet.policies.optimal import Optimal
from windlass.order.site.compiled import columns_of
from windlass.order.site.policies.queue import Queue
from windlass.order.site.policies.sjf import Sjf
from windlass.order.site.priorities.multifactor import Multifactor
from windlass.order.site.view import Running, SiteView, Waiting

#: More than an insertion sort handles, as it is stable for short arrays (about sixteen).
JOBS = 70


@pytest.mark.matrix(0)
@pytest.mark.parametrize("pools", [0, 1])
@pytest.mark.parametrize("policy", [Sjf(), Queue("sjf", "easy"), Queue("sjf", "conservative")])
def test_jobs_of_equal_length_start_in_order_of_arrival(policy, pools) -> None:
    request = np.random.default_rng(1).integers(1, 4, JOBS)
    waiting = Waiting.of(
        np.arange(JOBS), np.zeros(JOBS), np.ones(JOBS), request, needs=np.ones((pools, JOBS), int)
    )
    running = Running.of(needs=np.empty((pools, 0)))
    view = SiteView(0.0, JOBS, 40, waiting, running, pools=np.full(pools, 50), pool_names=("GPUs",) * pools)
    expected = sorted(range(JOBS), key=lambda job: (request[job], job))[:40]
    assert sorted(policy.decide(view).jobs) == sorted(expected)


def test_jobs_of_equal_size_are_ordered_by_arrival() -> None:
    subjobs = np.random.default_rng(2).integers(0, 3, (JOBS, 3))
    total = subjobs.sum(axis=1)
    assert global_srpt(subjobs, 1).tolist() == sorted(range(JOBS), key=lambda job: (total[job], job))
    assert independent_srpt(subjobs, 1).tolist() == [
        sorted(range(JOBS), key=lambda job: (subjobs[job, site], job)) for site in range(3)
    ]
    view = FleetView(0.0, subjobs.astype(float), np.ones(3), np.zeros(3))
    assert Optimal(limit=1).decide(view).order.tolist() == swag(subjobs, 1).tolist()


def test_the_best_order_of_equal_jobs_is_by_arrival() -> None:
    assert optimal(np.ones((9, 2)), 1).tolist() == list(range(9))


@pytest.mark.matrix(0)
@pytest.mark.parametrize("own_sites", [False, True])
def test_the_plain_loop_returns_the_first_job_with_the_least_makespan(own_sites) -> None:
    for seed in range(200):
        rng = np.random.default_rng([5, seed])
        # Divisions by powers of two are exact, so that makespans tie.
        queue, slots = rng.integers(0, 4, 5).astype(float), 2.0 ** rng.integers(0, 3, 5)
        tasks = rng.integers(0, 3, (6, 5)).astype(float)
        tasks[:, 0] += 1.0
        ends = np.where((tasks > 0) | (not own_sites), (queue + tasks) / slots, 0.0)
        bounds, spans = ends[:, :2].max(axis=1), ends.max(axis=1).tolist()
        found, span = _scan(bounds.copy(), queue, tasks, slots, np.arange(5), False, own_sites, 0.0)
        assert (span, found) == min((each, job) for job, each in enumerate(spans))


def test_a_job_with_a_future_submission_has_no_age() -> None:
    waiting = Waiting.of([1, 2, 3], [30.0, 0.0, 9.0], [1, 1, 1], [5, 5, 5])
    view = SiteView(10.0, 4, 0, waiting, Running.of([9], [4], [99.0]))
    policy = Queue({"multifactor": {"weight_age": 10.0, "max_age": 10.0, "weight_fairshare": 0.0}}, "easy")
    columns = columns_of(view, policy.given)
    scores = [Multifactor.score(columns, row) for row in range(3)]
    assert np.array(scores) - scores[0] == pytest.approx([0.0, -10.0, -1.0])
