"""Common autoscalers against plain loops over jobs, with three types of unequal size and price."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.scaling import gang_of
from tests.scale.drawn import PERIOD, TYPES, drawn, drawn_jobs
from windlass.model import InputError, PolicyError
from windlass.scale import Totals
from windlass.scale.lib.forecast_input import DAY, Schedule
from windlass.scale.lib.steps import Ladder
from windlass.scale.policies.clairvoyant import Clairvoyant
from windlass.scale.policies.consolidate import Consolidate
from windlass.scale.policies.newsvendor import Newsvendor
from windlass.scale.policies.predictive import Predictive
from windlass.scale.policies.reactive import Reactive
from windlass.scale.policies.static import Static

few = settings(max_examples=25, deadline=None)


seeds = st.integers(0, 2**32 - 1)


def fitting(request, types):
    """Return the types on which a job may run; GPU types only if it needs GPUs or no other type fits."""
    fits = [k for k, kind in enumerate(types) if (request <= kind.vector()).all()]
    plain = [k for k in fits if types[k].gpus == 0]
    return plain if plain and request[0] == 0 else fits


def put(jobs, instances, types):
    """Place each job on the first instance with room, the largest jobs first; return the rest."""
    left = []
    for request in jobs:
        for instance in instances:
            if instance[0] in fitting(request, types) and (request <= instance[1] + 1e-9).all():
                instance[1] = instance[1] - request
                break
        else:
            left.append(request)
    return left


def starting_point(view):
    """Return the totals before any choice, and the jobs without room on launching instances, the largest first."""
    jobs = sorted((row for row in view.waiting.resources), key=tuple, reverse=True)
    whole = [0] * len(view.types)
    for request in jobs:
        if not fitting(request, view.types):
            kind, size = gang_of(request, view.types)
            whole[kind] += size
    totals, free = [], []
    for k, kind in enumerate(view.types):
        coming = int(view.coming[k])
        totals.append(min(int(view.used[k]) + coming + max(0, whole[k] - coming), kind.most))
        free += [[k, kind.vector()] for _ in range(max(0, coming - whole[k]))]
    return totals, put([request for request in jobs if fitting(request, view.types)], free, view.types)


def least_waste(view):
    """Repeatedly choose the type with the least unused capacity, and fill it with as many jobs as fit."""
    totals, left = starting_point(view)
    while left:
        best = None
        for k, kind in enumerate(view.types):
            instances, stay = [], []
            for request in left:
                here = k in fitting(request, view.types)
                rest = put([request], instances, view.types) if here else [request]
                if rest and here and len(instances) < kind.most - totals[k]:
                    instances.append([k, kind.vector() - request])
                    rest = []
                stay += rest
            if instances:
                has = kind.vector() > 0
                waste = np.mean([free[has] / kind.vector()[has] for _, free in instances])
                if best is None or waste < best[0]:
                    best = waste, k, len(instances), stay
        if best is None:
            return totals
        _, k, more, left = best
        totals[k] += more
    return totals


def reason(total, view, k):
    there, used = int(view.ready[k] + view.coming[k]), int(view.used[k])
    if total > there:
        return f"{total - there} more for waiting jobs"
    return f"{there - total} hold no job" if total < there else f"{used} hold jobs, no waiting job needs more"


def checked(answer, want, view):
    assert answer.counts == tuple(want)
    assert answer.why == tuple(reason(total, view, k) for k, total in enumerate(want))


@few
@given(seeds)
def test_reactive_launches_the_type_of_least_waste(seed):
    rng = np.random.default_rng(seed)
    view = drawn(rng, 9e4, np.zeros((1, 3)))
    view = replace(view, waiting=drawn_jobs(rng, int(rng.integers(0, 14)), 9e4))
    checked(
        Reactive().decide(view), least_waste(view) if len(view.waiting) else view.used + view.coming, view
    )


def cheapest(view):
    """Repeatedly launch one instance for as many jobs as it can hold, the largest first, of the cheapest type that
    holds these."""
    totals, left = starting_point(view)
    while left:
        able = {k: kind.vector() for k, kind in enumerate(view.types) if totals[k] < kind.most}
        taken = []
        for request in sorted({tuple(row) for row in left}, reverse=True):
            alike, row = sum(tuple(each) == request for each in left), np.array(request)
            room = {}
            for k, free in able.items():
                count = 0
                while (
                    count < alike
                    and k in fitting(row, view.types)
                    and (row * (count + 1) <= free + 1e-9).all()
                ):
                    count += 1
                room[k] = count
            most = max(room.values(), default=0)
            if most:
                able = {k: able[k] - most * row for k in able if room[k] == most}
                taken += [request] * most
        if not taken:
            return totals
        k = min(able, key=lambda k: (view.types[k].price, k))
        totals[k] += 1
        for request in taken:
            left.pop(next(at for at, row in enumerate(left) if tuple(row) == request))
    return totals


@few
@given(seeds)
def test_consolidate_launches_the_cheapest_type_for_the_jobs_of_one_instance(seed):
    rng = np.random.default_rng(seed)
    view = drawn(rng, 9e4, np.zeros((1, 3)))
    view = replace(view, waiting=drawn_jobs(rng, int(rng.integers(0, 14)), 9e4))
    checked(
        Consolidate().decide(view), cheapest(view) if len(view.waiting) else view.used + view.coming, view
    )


@few
@given(seeds, st.booleans(), st.sampled_from([None, 0, 4]))
def test_static_has_the_largest_past_need(seed, due, count):
    rng = np.random.default_rng(seed)
    view = drawn(rng, 9e4, rng.uniform(0, 4, (3, 3)).round(1), due=due, look=10.0)
    margin = float(rng.choice([0.5, 1.0, 1.5]))
    answer, why = Static(count=count, margin=margin).decide(view), "the largest demand so far"
    want = [int(np.ceil(margin * max(column) - 1e-9)) for column in view.history.T]
    if count is not None:
        want, why = [count] * 3, "the configured number"
    if not due:
        want = [min(a, int(b)) for a, b in zip(want, view.ready + view.coming, strict=True)]
        if count is None and len(view.waiting):
            want, why = (
                [max(a, b) for a, b in zip(want, least_waste(view), strict=True)],
                "demand exceeds the maximum so far",
            )
    assert answer.counts == tuple(min(a, kind.most) for a, kind in zip(want, TYPES, strict=True))
    assert answer.why == (why,) * 3


@few
@given(seeds, st.booleans())
def test_clairvoyant_has_the_highest_need_until_the_next_launch_is_ready(seed, due):
    rng = np.random.default_rng(seed)
    times = 9e4 + np.sort(rng.choice(np.arange(-4, 14), 8)) * 500.0
    counts = rng.integers(0, 8, (8, 3))
    view = drawn(rng, 9e4, np.zeros((1, 3)), due=due, look=10.0)
    want = []
    for k, kind in enumerate(TYPES):
        rises = [
            counts[at, k]
            for at in range(8)
            if counts[at, k] > (counts[at - 1, k] if at else 0)
            and 9e4 < times[at] < 9e4 + kind.launch + PERIOD
        ]
        want.append(min(max(rises, default=0), kind.most))
    if not due:
        want = [min(a, int(b)) for a, b in zip(want, view.ready + view.coming, strict=True)]
    if len(view.waiting):
        want = [max(a, b) for a, b in zip(want, least_waste(view), strict=True)]
    answer = Clairvoyant(times, counts).decide(view)
    assert answer.counts == tuple(int(each) for each in want)


def test_a_clairvoyant_without_times_serves_waiting_jobs():
    view = drawn(np.random.default_rng(3), 9e4, np.zeros((1, 3)))
    assert Clairvoyant().decide(view).counts == tuple(least_waste(view) if len(view.waiting) else (0, 0, 0))
    for times, counts, message in (
        ([1.0], [1], "row for each of 1"),
        ([1.0, 2.0], [[1]], "row for each of 2"),
    ):
        with pytest.raises(InputError, match=message):
            Clairvoyant(times, counts)
    Clairvoyant([1.0, 1.0], [[1], [2]])


def test_each_policy_has_its_default_idle_time():
    idle = {
        Reactive: 600.0,
        Consolidate: 0.0,
        Static: 0.0,
        Clairvoyant: 0.0,
        Predictive: 600.0,
        Newsvendor: 600.0,
    }
    assert {each: each().idle for each in idle} == idle
    assert (Reactive(40.0).idle, Consolidate(after=3.0).idle, Newsvendor(idle=5.0).idle) == (40.0, 3.0, 5.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Static(count=-1), "count"),
        (lambda: Static(margin=0.0), "margin"),
        (lambda: Consolidate(after=-1.0), "after"),
        (lambda: Predictive(quantile=0.0), "quantile"),
        (lambda: Predictive(idle=-1.0), "idle"),
        (lambda: Newsvendor(idle=-1.0), "idle"),
        (lambda: Schedule(keep=0.0), "keep"),
        (lambda: Schedule(seasons=(DAY, 0.0)), "seasons"),
        (lambda: Ladder([]), "steps begin at"),
        (lambda: Ladder([(0, 1), (0, 2)]), "steps begin at"),
        (lambda: Ladder([(0, 1), (5, 2), (3, 2)]), "steps begin at"),
        (lambda: Ladder([(0, -1)]), "expected two whole numbers"),
        (lambda: Ladder([(0, 1, 2)]), "expected two whole numbers"),
        (lambda: Ladder([(0, True)]), "expected two whole numbers"),
    ],
)
def test_parameters_out_of_bounds_are_named_in_the_error(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_totals_are_checked_one_by_one():
    view = drawn(np.random.default_rng(1), 0.0, np.zeros((1, 3)))
    Totals((9, 0, 5), ("a", "b", "c")).check(view)
    for counts, why, message in (
        ((9, 0), ("a", "b", "c"), "2 totals and 3 reasons, expected 3 of each"),
        ((9, 0, 5), ("a", "b"), "3 totals and 2 reasons, expected 3 of each"),
        ((10, 0, 5), ("a", "b", "c"), "small: 10 instances, expected a whole number from 0 to 9"),
        ((9, -1, 5), ("a", "b", "c"), "large: -1 instances"),
        ((9, 0, True), ("a", "b", "c"), "gpu: True instances"),
        ((9, 0, 5.0), ("a", "b", "c"), "gpu: 5.0 instances"),
        ((9, 0, 5), ("a", "", "c"), "large: no reason is given"),
    ):
        with pytest.raises(PolicyError, match=message):
            Totals(counts, why).check(view)


def test_arrivals_are_noticed_at_the_next_poll_or_decision():
    view = drawn(np.random.default_rng(1), 0.0, np.zeros((1, 3)))
    assert (view.due, view.look, view.notice()) == (True, None, PERIOD)
    assert [replace(view, look=each).notice() for each in (10.0, 2 * PERIOD)] == [10.0, PERIOD]


def test_a_clock_that_stands_still_restarts_learning_of_arrivals():
    from windlass.scale.policies.hazard import Hazard

    rng, policy = np.random.default_rng(4), Hazard()
    for row in range(150):
        view = drawn(rng, PERIOD * row, np.zeros((1, 3)))
        message = policy.decide(view).why
    assert "probability" in message[0]
    assert policy.decide(view).why == ("too little data so far",) * 3


def test_other_types_restart_learning_of_arrivals():
    from windlass.scale.policies.hazard import Hazard

    rng, policy = np.random.default_rng(4), Hazard()
    for row in range(150):
        view = drawn(rng, PERIOD * row, np.zeros((1, 3)))
        assert ("probability" in policy.decide(view).why[0]) == (row >= 143)
    none, jobs = np.zeros(1, np.int64), drawn_jobs(rng, 0, 0.0)
    view = replace(view, now=view.now + PERIOD, types=TYPES[:1], ready=none, coming=none, used=none)
    view = replace(view, waiting=jobs, running=jobs, history=np.zeros((1, 1)))
    assert policy.decide(view).why == ("too little data so far",)
