"""Rules of each order over many sites, with ties, a backlog, and different numbers of slots."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest

from windlass.model import InputError
from windlass.order import fcfs, finish_instants, global_srpt, independent_srpt, optimal, reordering, swag
from windlass.order.fleet import POLICIES, FleetView, JobOrder
from windlass.order.fleet.compiled import in_loop
from windlass.order.fleet.policies.optimal import Optimal
from windlass.order.fleet.policies.reordering import Reordering
from windlass.order.fleet.policies.swag import Swag

DEFAULTS = {
    "fcfs": {},
    "global-srpt": {},
    "independent-srpt": {},
    "optimal": {"limit": 10, "backlog": False},
    "reordering": {"base": "independent-srpt"},
    "swag": {"own_sites": False, "backlog": False},
}


def drawn(seed, most_jobs=6, most_sites=4, top=3):
    """Sub-jobs with many ties, slots whose quotients are exact, and a backlog for half of the cases."""
    rng = np.random.default_rng([7, seed])
    jobs, sites = int(rng.integers(1, most_jobs + 1)), int(rng.integers(1, most_sites + 1))
    subjobs = rng.integers(0, top + 1, (jobs, sites)).astype(float)
    slots = rng.choice([1.0, 2.0, 4.0], sites)
    return subjobs, slots, rng.integers(0, 6, sites) * float(seed % 2), rng


def finish_times(subjobs, slots, backlog, orders):
    """When each job ends, by walking every site's queue; ``orders`` has an order per site."""
    ends = [0.0] * len(subjobs)
    for site, order in enumerate(orders):
        queue = backlog[site]
        for job in order:
            if subjobs[job, site] > 0:
                queue += subjobs[job, site]
                ends[job] = max(ends[job], queue / slots[site])
    return ends


def plain_swag(subjobs, slots, backlog, own_sites):
    """The least makespan next, then the fewest tasks, then the earlier row; quotients must be exact."""
    queue, sizes, left, order = backlog.copy(), subjobs.sum(axis=1), np.ones(len(subjobs), bool), []
    while left.any():
        ends = (queue + subjobs) / slots
        spans = np.where(subjobs > 0, ends, 0.0).max(axis=1) if own_sites else ends.max(axis=1)
        spans[~left] = np.inf
        order.append(int(np.lexsort((np.arange(len(left)), sizes, spans))[0]))
        left[order[-1]] = False
        queue += subjobs[order[-1]]
    return order


def test_policies_have_the_documented_defaults():
    found = {}
    for name in POLICIES.names():
        parameters = inspect.signature(POLICIES.find(name)).parameters.values()
        found[name] = {each.name: each.default for each in parameters if each.default is not each.empty}
    assert found == DEFAULTS


@pytest.mark.parametrize("jobs", [1, 7, 60])
def test_shortest_first_serves_jobs_of_one_size_in_order_of_arrival(jobs):
    subjobs = np.random.default_rng(jobs).integers(0, 3, (jobs, 4))
    backlog = [9, 0, 3, 1]
    rows = range(jobs)
    assert fcfs(subjobs, 2, backlog).tolist() == [*rows]
    assert global_srpt(subjobs, 2, backlog).tolist() == sorted(rows, key=lambda job: subjobs[job].sum())
    found = independent_srpt(subjobs, [1, 2, 3, 4], backlog).tolist()
    assert found == [sorted(rows, key=lambda job, site=site: subjobs[job, site]) for site in range(4)]


def test_independent_srpt_returns_one_order_per_site():
    assert independent_srpt([[3], [1], [2]], 1).tolist() == [[1, 2, 0]]


def test_finish_instants_include_the_backlog():
    for seed in range(40):
        subjobs, slots, backlog, rng = drawn(seed)
        one = rng.permutation(len(subjobs))
        each = np.array([rng.permutation(len(subjobs)) for _ in slots])
        for order, orders in ((one, [one] * len(slots)), (each, each)):
            found = finish_instants(subjobs, slots, order, backlog)
            assert found.tolist() == finish_times(subjobs, slots, backlog, orders)
    assert finish_instants([[4, 2], [0, 0]], 2, [1, 0], [2, 8]).tolist() == [5.0, 0.0]
    assert finish_instants([[4, 2]], 2, [0]).tolist() == [2.0]


def test_ties_in_the_search_are_broken_by_the_greedy_order():
    for seed in range(40):
        subjobs, slots, backlog, _ = drawn(seed, most_jobs=5)
        greedy = plain_swag(subjobs, slots, backlog, own_sites=False)
        sums = {
            places: sum(
                finish_times(subjobs, slots, backlog, [[greedy[place] for place in places]] * len(slots))
            )
            for places in itertools.permutations(range(len(greedy)))
        }
        least = min(sums.values())
        # Of the jobs that may go last, the latest in the greedy order does, and so on to the front.
        best = max((places for places in sums if sums[places] == least), key=lambda places: places[::-1])
        assert optimal(subjobs, slots, backlog).tolist() == [greedy[place] for place in best], seed


@pytest.mark.parametrize("backlog", [False, True])
@pytest.mark.parametrize("limit", [1, 2, 4, 16])
def test_the_search_covers_only_the_first_jobs_of_the_greedy_order(limit, backlog):
    for seed in range(15):
        subjobs, slots, queued, _ = drawn(2 * seed + 1, most_jobs=9)
        view = FleetView(0.0, subjobs, slots, queued)
        greedy = plain_swag(subjobs, slots, queued * backlog, own_sites=False)
        first = greedy[:limit]
        # The best order of these jobs alone, behind the same backlog.
        best = optimal(subjobs[first], slots, queued * backlog)
        expected = finish_times(subjobs[first], slots, queued * backlog, [best] * len(slots))
        answer = Optimal(limit, backlog).decide(view)
        assert answer.order[limit:].tolist() == greedy[limit:]
        assert sorted(answer.order[:limit].tolist()) == sorted(first)
        places = [first.index(job) for job in answer.order[:limit].tolist()]
        found = finish_times(subjobs[first], slots, queued * backlog, [places] * len(slots))
        assert sum(found) == sum(expected)
        assert answer.why == "least mean finish instant"


@pytest.mark.parametrize("limit", [0, 17])
def test_a_search_limit_out_of_range_is_rejected(limit):
    with pytest.raises(ValueError, match=f"limit is {limit}, expected 1 to 16"):
        Optimal(limit)
    assert Optimal(1).options.tolist() == [1.0, 0.0]
    assert Optimal(16, backlog=True).options.tolist() == [16.0, 1.0]
    assert len(optimal(np.ones((16, 1)), 1)) == 16


@pytest.mark.parametrize("own_sites", [False, True])
@pytest.mark.parametrize("backlog", [False, True])
@pytest.mark.parametrize("sparse", [0.0, 0.8])
def test_greedy_orders_of_many_jobs_equal_the_plain_loop(own_sites, backlog, sparse):
    for seed in range(6):
        rng, sites = np.random.default_rng([3, seed]), [2, 7, 9][seed % 3]
        # From jobs of a fraction of a task to jobs of many; the first and the last have many ties.
        top, unit = [(3, 1.0), (1000, 1.0), (4, 1.0 / 64.0)][seed % 3]
        subjobs = rng.integers(0, top, (150, sites)) * (rng.random((150, sites)) >= sparse) * unit
        # A 49th times 49 is less than 1, once rounded.
        slots = np.full(sites, 49.0) if seed < 3 else rng.choice([1.0, 2.0, 8.0], sites)
        queued = rng.integers(0, 4 * top, sites) * unit
        found = Swag(own_sites, backlog).decide(FleetView(0.0, subjobs, slots, queued))
        assert found.order.tolist() == plain_swag(subjobs, slots, queued * backlog, own_sites), seed
        assert found.why == "ends first behind the jobs ordered before it"


def test_the_greedy_function_counts_every_site_and_the_backlog():
    for seed in range(40):
        subjobs, slots, backlog, _ = drawn(seed)
        assert swag(subjobs, slots, backlog).tolist() == plain_swag(subjobs, slots, backlog, False)
    # On its own site the second would end first; over all sites both end when the queue of the other site does.
    view = FleetView(0.0, np.array([[2.0, 0.0], [3.0, 0.0]]), np.ones(2), np.array([0.0, 9.0]))
    assert Swag(own_sites=True, backlog=True).decide(view).order.tolist() == [0, 1]


def postpone(subjobs, slots, backlog, orders):
    """Postpone sub-jobs: repeatedly the job whose sub-job is last at the site with the longest queue."""
    sites, last_first = range(len(slots)), []
    queues = [[job for job in orders[site] if subjobs[job, site] > 0] for site in sites]
    while any(queues):
        ends = [
            (backlog[site] + sum(subjobs[job, site] for job in queues[site])) / slots[site]
            if queues[site]
            else -1.0
            for site in sites
        ]
        job = queues[ends.index(max(ends))][-1]
        last_first.append(job)
        queues = [[other for other in queue if other != job] for queue in queues]
    return [job for job in orders[0] if job not in last_first] + last_first[::-1]


def test_reordering_includes_the_backlog():
    for seed in range(60):
        subjobs, slots, backlog, rng = drawn(seed, top=2 + seed % 5)
        one = rng.permutation(len(subjobs))
        each = np.array([rng.permutation(len(subjobs)) for _ in slots])
        for order, orders in ((one, [one] * len(slots)), (each, each)):
            found = reordering(subjobs, slots, order, backlog)
            assert found.tolist() == postpone(subjobs, slots, backlog, orders), seed
    assert reordering(np.empty((0, 2)), 1, np.empty(0, int)).tolist() == []


@pytest.mark.parametrize("base", ["fcfs", "global-srpt", "independent-srpt", "swag", "optimal"])
def test_reordering_postpones_jobs_of_its_base_order(base):
    own = POLICIES.make(base, np.random.default_rng(0))
    policy = Reordering(base)
    assert policy.options.tolist() == own.options.tolist()
    for seed in range(10):
        subjobs, slots, _, _ = drawn(seed)
        queued = np.full(len(slots), 5.0)
        view = FleetView(0.0, subjobs, slots, queued)
        based = own.decide(view)
        orders = based.order if based.order.ndim == 2 else [based.order] * len(slots)
        answer = policy.decide(view)
        # The order is of jobs; running work at a site delays all of them equally.
        assert answer.order.tolist() == postpone(subjobs, slots, np.zeros(len(slots)), orders)
        assert answer.why == f"{based.why}; then postponed where that delays no job"


def test_reordering_of_reordering_is_rejected():
    with pytest.raises(ValueError, match="base is 'reordering', expected a policy other than"):
        Reordering("reordering")


def test_a_policy_without_a_compiled_form_is_called_through_python():
    class Plain:
        name = "plain"

        def decide(self, view):
            return JobOrder(np.arange(len(view.subjobs)))

    plain, compiled = in_loop(Plain()), in_loop(POLICIES.make("reordering", np.random.default_rng(0)))
    assert not plain.decides
    assert plain.options.tolist() == [0.0]
    assert (
        plain.select.ready()(np.ones((2, 1)), np.ones(1), np.zeros(1), np.zeros(1), np.zeros((1, 2), int))
        == 0
    )
    assert compiled.decides
    assert compiled.select is POLICIES.find("independent-srpt").select
    assert compiled.refine is Reordering().refine


@pytest.mark.parametrize(
    ("slots", "backlog", "message"),
    [
        ([1, 0, 0], [0, 0, 0], r"slots\[2\] is 0, but the site has work of 2\.5:"),
        ([0, 0, 1], [0, 0.25, 0], r"slots\[1\] is 0, but the site has work of 0\.25:"),
    ],
)
def test_work_at_a_site_without_slots_is_named(slots, backlog, message):
    with pytest.raises(InputError, match=message):
        swag([[0, 0, 2], [0, 0, 0.5]], slots, backlog)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([0, 2, 2], r"order is not a permutation of 0 to 2: job 2 is repeated or out of range"),
        ([0, 1, 3], r"order is not a permutation of 0 to 2: job 3 is repeated or out of range"),
        ([-1, 1, 2], r"order is not a permutation of 0 to 2: job -1 is repeated or out of range"),
        (
            [[0, 1, 2], [1, 1, 0]],
            r"order\[1\] is not a permutation of 0 to 2: job 1 is repeated or out of range",
        ),
        (
            [[1, 0, 0], [0, 1, 2]],
            r"order\[0\] is not a permutation of 0 to 2: job 0 is repeated or out of range",
        ),
        ([True, False, True], "order has the type bool, expected whole numbers"),
    ],
)
def test_the_error_for_an_invalid_order_names_the_job(order, message):
    with pytest.raises(InputError, match=message):
        finish_instants([[1, 1], [1, 1], [1, 1]], 1, order)
