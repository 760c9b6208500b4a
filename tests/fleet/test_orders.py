"""Orders over many sites: the worked example, the printed algorithms, theorem 1, the best order, and bad input."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fleet import naive
from windlass.model import InputError
from windlass.order import fcfs, finish_instants, global_srpt, independent_srpt, optimal, reordering, swag
from windlass.order.fleet import FleetView
from windlass.order.fleet.policies.swag import Swag

EXAMPLE = np.array([[1, 10, 1], [3, 8, 0], [7, 0, 6]])


def mean(order):
    return float(finish_instants(EXAMPLE, 1, order).mean())


def test_the_worked_example():
    glob, independent = global_srpt(EXAMPLE, 1), independent_srpt(EXAMPLE, 1)
    orders = (
        fcfs(EXAMPLE, 1),
        glob,
        independent,
        reordering(EXAMPLE, 1, glob),
        reordering(EXAMPLE, 1, independent),
        swag(EXAMPLE, 1),
    )
    assert [round(mean(order), 2) for order in orders] == [13, 12.33, 12.33, 12, 12, 11.67]
    ends = [finish_instants(EXAMPLE, 1, order).tolist() for order in orders]
    assert ends == [[10, 18, 11], [18, 8, 11], [18, 8, 11], [18, 8, 10], [18, 8, 10], [18, 10, 7]]
    assert orders[3].tolist() == orders[4].tolist() == [1, 2, 0]
    assert orders[5].tolist() == [2, 1, 0]


def test_the_example_of_the_third_principle():
    assert swag([[2, 2, 0], [0, 3, 3]], 1, backlog=[2, 0, 0]).tolist() == [1, 0]


@st.composite
def fleets(draw, most_jobs=14, most_sites=6, alike=False):
    jobs, sites = draw(st.integers(0, most_jobs)), draw(st.integers(1, most_sites))
    seed, top = draw(st.integers(0, 2**32 - 1)), draw(st.sampled_from([1, 2, 4, 12, 1000]))
    rng = np.random.default_rng(seed)
    subjobs = rng.integers(0, top + 1, (jobs, sites)) * rng.integers(0, 2, (jobs, sites))
    slots = np.full(sites, rng.integers(1, 5)) if alike else rng.integers(1, 5, sites)
    return subjobs, slots, rng


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(fleets())
def test_swag_is_the_printed_algorithm(fleet):
    subjobs, slots, rng = fleet
    backlog = rng.integers(0, 6, len(slots))
    assert swag(subjobs, slots, backlog).tolist() == naive.swag(subjobs, slots, backlog)


@pytest.mark.matrix(0)
@pytest.mark.parametrize("top", [1, 3, 20, 1000])
def test_swag_is_the_printed_algorithm_for_jobs_at_all_sites(top):
    # Bottlenecks then move with every choice, so that SWAG falls back to the plain loop.
    subjobs = np.random.default_rng(top).integers(0, top + 1, (150, 9))
    for slots in (np.full(9, 3), np.arange(1, 10)):
        assert swag(subjobs, slots).tolist() == naive.swag(subjobs, slots, np.zeros(9))


def ends_first_on_own_sites(subjobs, slots, queue, found):
    """Return whether each job ends first of the remaining ones, counting only sites with its tasks."""
    left = list(range(len(subjobs)))
    for job in found:
        spans = [np.max(np.where(subjobs[j] > 0, (queue + subjobs[j]) / slots, 0.0)) for j in left]
        keys = [(span, subjobs[j].sum(), j) for span, j in zip(spans, left, strict=True)]
        if min(keys)[2] != job:
            return False
        left.remove(job)
        queue = queue + subjobs[job]
    return True


@settings(max_examples=300, deadline=None)
@given(fleets())
def test_own_sites_ignores_queues_of_other_sites(fleet):
    subjobs, slots, rng = fleet
    backlog = rng.integers(0, 30, len(slots)).astype(float)
    view = FleetView(0.0, subjobs.astype(float), slots.astype(float), backlog)
    found = [Swag(own_sites=True, backlog=seen).decide(view).order.tolist() for seen in (False, True)]
    assert ends_first_on_own_sites(subjobs, slots, np.zeros(len(slots)), found[0])
    assert ends_first_on_own_sites(subjobs, slots, backlog, found[1])


def test_the_backlog_of_other_sites_counts_unless_own_sites_is_set():
    # Site 0 is busy for long: over all sites both jobs end then, and the one with fewer tasks goes first.
    subjobs = np.array([[0.0, 3.0, 0.0], [0.0, 2.0, 2.0]])
    view = FleetView(0.0, subjobs, np.ones(3), np.array([9.0, 0.0, 0.0]))
    assert Swag(backlog=True).decide(view).order.tolist() == [0, 1]
    assert Swag(own_sites=True, backlog=True).decide(view).order.tolist() == [1, 0]
    assert Swag().decide(view).order.tolist() == [1, 0]


@pytest.mark.matrix(0)
@settings(max_examples=2000, deadline=None)
@given(fleets(), st.booleans())
def test_reordering_is_the_printed_algorithm_and_never_worsens_the_mean(fleet, one_order):
    subjobs, slots, rng = fleet
    jobs, sites = subjobs.shape
    orders = np.array([rng.permutation(jobs) for _ in range(1 if one_order else sites)])
    given_order = orders[0] if one_order else orders
    found = reordering(subjobs, slots, given_order)
    per_site = [orders[site % len(orders)].tolist() for site in range(sites)]
    assert found.tolist() == naive.reordering(subjobs.tolist(), slots, per_site)
    before, after = (finish_instants(subjobs, slots, order).sum() for order in (given_order, found))
    # Theorem 1 also holds for different sites, as the longest queue ends last.
    assert after <= before * (1 + 1e-12)


@pytest.mark.matrix(0)
@settings(max_examples=300, deadline=None)
@given(fleets(most_jobs=6, most_sites=4))
def test_optimal_finds_the_best_order(fleet):
    subjobs, slots, _ = fleet
    least = min(
        finish_instants(subjobs, slots, order).sum() for order in itertools.permutations(range(len(subjobs)))
    )
    assert finish_instants(subjobs, slots, optimal(subjobs, slots)).sum() == pytest.approx(least)


@pytest.mark.matrix(0)
def test_the_best_order_sometimes_beats_shortest_first():
    rng = np.random.default_rng(3)
    ahead = 0
    for _ in range(20):
        subjobs = rng.integers(0, 12, (5, 3))
        found, first = (
            finish_instants(subjobs, 1, order(subjobs, 1)).sum() for order in (optimal, global_srpt)
        )
        least = min(
            finish_instants(subjobs, 1, order).sum() for order in itertools.permutations(range(len(subjobs)))
        )
        assert found == least
        ahead += found < first
    assert ahead > 0


@pytest.mark.matrix(0)
@settings(max_examples=300, deadline=None)
@given(fleets())
def test_every_result_is_a_permutation(fleet):
    subjobs, slots, _ = fleet
    for order in (fcfs, global_srpt, swag, optimal, independent_srpt):
        found = order(subjobs, slots)
        assert (np.sort(found, axis=-1) == np.arange(len(subjobs))).all()
        assert found.dtype == np.int64
    assert independent_srpt(subjobs, slots).shape == subjobs.shape[::-1]


def test_fractional_work_is_accepted():
    subjobs = np.random.default_rng(1).random((40, 5))
    assert np.sort(swag(subjobs, [1, 2, 3, 1, 2])).tolist() == list(range(40))


GOOD = [[1, 2], [3, 0]]
BAD = {
    "nan": (([[np.nan, 1]], 1), r"subjobs\[0, 0\] is nan"),
    "infinite": (([[np.inf, 1]], 1), r"subjobs\[0, 0\] is inf"),
    "negative": (([[1, -2]], 1), r"subjobs\[0, 1\] is -2"),
    "flat": (([1, 2], 1), r"subjobs has shape \(2,\)"),
    "no sites": ((np.empty((2, 0)), 1), "at least one site"),
    "text": (([["a", "b"]], 1), "subjobs: cannot be read as numbers"),
    "ragged": (([[1, 2], [3]], 1), "subjobs: cannot be read as numbers"),
    "digits": (([["1", "2"]], 1), "subjobs: cannot be read as numbers: the type is <U1"),
    "complex": (([[1j, 2]], 1), "subjobs: cannot be read as numbers: the type is complex128"),
    "spans": ((np.ones((1, 2), "m8[s]"), 1), "subjobs: .*timedelta64.*"),
    "slots of digits": ((GOOD, ["1", "2"]), "slots: cannot be read as numbers: the type is <U1"),
    "backlog of digits": ((GOOD, 1, ["1", "2"]), "backlog: .* the type is <U1"),
    "slots": ((GOOD, [1, 2, 3]), r"slots has shape \(3,\)"),
    "no slots": ((GOOD, [1, 0]), r"slots\[1\] is 0"),
    "negative slots": ((GOOD, [1, -1]), r"slots\[1\] is -1"),
    "backlog": ((GOOD, 1, [1]), r"backlog has shape \(1,\)"),
    "negative backlog": ((GOOD, 1, [1, -1]), r"backlog\[1\] is -1"),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("order", [fcfs, global_srpt, independent_srpt, swag, optimal])
def test_bad_input_is_named(order, case):
    arguments, message = BAD[case]
    with pytest.raises(InputError, match=message):
        order(*arguments)


@pytest.mark.matrix
@pytest.mark.parametrize("kind", ["?", "u1", "i2", "f4"])
@pytest.mark.parametrize("order", [fcfs, global_srpt, independent_srpt, swag, optimal])
def test_every_numeric_dtype_gives_the_same_order(order, kind):
    subjobs, ones = np.array([[1, 1], [0, 1], [1, 0]]), np.ones(2)
    found = order(subjobs.astype(kind), ones.astype(kind), ones.astype(kind))
    assert found.tolist() == order(subjobs.astype(float), ones, ones).tolist()


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([0, 0], "is repeated or out of range"),
        ([0, 2], "job 2"),
        ([0, 1, 2], r"order has shape \(3,\)"),
        ([[0, 1]], r"order has shape \(1, 2\)"),
        ([0.0, 1.0], "float64"),
        ([[0, 1], [1, 1]], r"order\[1\]"),
    ],
)
@pytest.mark.parametrize("function", [reordering, finish_instants])
def test_an_invalid_order_is_rejected(function, order, message):
    with pytest.raises(InputError, match=message):
        function(GOOD, 1, order)


def test_too_many_jobs_for_the_search_are_rejected():
    with pytest.raises(InputError, match="17 jobs"):
        optimal(np.ones((17, 2)), 1)


def test_a_site_without_slots_and_work_is_accepted():
    assert swag([[1, 0], [2, 0]], [1, 0]).tolist() == [0, 1]


def test_functions_are_not_shadowed_by_modules_of_their_name():
    import importlib

    importlib.import_module("windlass.order.site.policies.fcfs")
    from windlass.order import fcfs as function
    from windlass.order.site import POLICIES

    assert function([[1], [2]], 1).tolist() == [0, 1]
    assert POLICIES.find("fcfs").__module__ == "windlass.order.site.policies.fcfs"
