"""Steps of placing, exactly: gathering, whole tasks, sources of remote tasks, changes at a few sites."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from numba import types

from windlass.jit import Kernel
from windlass.model import InputError
from windlass.place import reduce_stage, replan
from windlass.place.functions.stage import MapPlan, ReducePlan
from windlass.place.functions.whole import whole_flow, whole_map, whole_reduce
from windlass.place.lib.gather import Shuffle, best_share, expected_links, expected_slots
from windlass.place.lib.leftover import carried
from windlass.place.lib.pick import share_out
from windlass.place.lib.stage import StageResources
from windlass.place.lib.whole import whole_within

_floats, _ints = types.float64[::1], types.int64[::1]
_BEST = Kernel(
    best_share.py_func,
    types.boolean(
        types.NamedTuple((_floats, _ints, types.int64, *[types.float64] * 3), Shuffle),
        types.NamedUniTuple(_floats, 3, StageResources),
        types.float64,
        _floats,
    ),
)
_WITHIN = Kernel(whole_within.py_func, types.void(_floats, _floats, types.int64, _ints))
_SHARE_OUT = Kernel(
    share_out.py_func,
    types.void(types.int64[:, ::1], types.int64, types.int64, _floats, types.boolean, _ints),
)


def carrying_s(data, share, up, down):
    """How long links take for a shuffle, s; infinity over a link that is not there."""
    took = [0.0]
    for own, part, out, into in zip(data, share, up, down, strict=True):
        for amount, pace in ((own * (1 - part), out), ((sum(data) - own) * part, into)):
            if amount > 1e-9 * sum(data):
                took.append(amount / pace if pace > 0 else math.inf)
    return max(took)


def chain_s(shuffle, sites, share):
    """A shuffle in whole waves, and those behind it, each of which runs where the one before wrote, s."""
    waves = [1.0]
    for part, slots in zip(share, sites.slots, strict=True):
        if part > 1e-9:
            waves.append(math.ceil(part * shuffle.waiting / slots - 1e-9) if slots > 0 else math.inf)
    first = carrying_s(shuffle.data, share, sites.up, sites.down) + max(waves) * shuffle.task_s
    ran = (shuffle.begun + np.array(share) * shuffle.waiting) / (shuffle.begun.sum() + shuffle.waiting)
    return first + shuffle.after * carrying_s(ran * shuffle.written, ran, sites.up, sites.down)


@pytest.mark.matrix(0)
def test_a_shuffle_takes_the_best_candidate():
    better = set()
    for seed in range(200):
        rng = np.random.default_rng([5, seed])
        n, tasks = int(rng.integers(2, 9)), int(rng.integers(250, 600))
        slots = rng.integers(0 if seed % 3 == 0 else 1, 30, n).astype(float)
        up, down = 10 ** rng.uniform(7, 9, (2, n))
        sites = StageResources(np.where(slots.sum() > 0, slots, 1.0), up, down)
        begun = rng.integers(0, 9, n) * int(rng.integers(0, 2))
        data, after = rng.uniform(0, 3e9, n), float(rng.integers(0, 6))
        shuffle = Shuffle(data, begun, tasks, float(rng.uniform(0.5, 5)), data.sum() * 0.6, after)
        own = reduce_stage(data, *sites, tasks, shuffle.task_s).share
        order, tried = np.argsort(-sites.slots, kind="stable"), [own, *np.eye(n)]
        for group in (2, 4, 8):
            if group <= n and sites.slots[order[:group]].sum() > 0:
                share = np.zeros(n)
                share[order[:group]] = sites.slots[order[:group]] / sites.slots[order[:group]].sum()
                tried.append(share)
        found = np.empty(n)
        assert _BEST.ready()(shuffle, sites, 0.0, found)
        assert found.tolist() == pytest.approx(own.tolist(), abs=1e-9)
        assert _BEST.ready()(shuffle, sites, 1.0, found)
        costs = [chain_s(shuffle, sites, share) for share in tried] if after > 0 else [0.0]
        least = int(np.argmin(costs))
        # Of places that take as long but for a rounding either will do.
        if sum(cost <= costs[least] * (1 + 1e-9) for cost in costs) == 1:
            assert found.tolist() == pytest.approx(tried[least].tolist(), abs=1e-9), seed
            better.add("own" if least == 0 else "one" if least <= n else "some")
    assert better == {"own", "one", "some"}


def test_expected_slots_include_a_share_of_held_ones():
    slots, links = np.empty(4), np.empty(3)
    sites = SimpleNamespace(slots=np.array([10, 10, 3, 0]))
    expected_slots.py_func(sites, np.array([4, 0, 5, 0]), 0.5, slots)
    assert slots.tolist() == [7.0, 5.0, 5.0, 0.0]
    expected_slots.py_func(sites, np.array([4, 0, 0, 0]), 0.25, slots)
    assert slots.tolist() == [5.0, 2.0, 1.0, 0.0]
    expected_links.py_func(np.array([10.0, 10.0, 0.0]), np.array([1.0, 6.0, 0.0]), 0.25, links)
    assert links.tolist() == [2.5, 6.0, 0.0]


def test_a_link_carries_whole_tasks():
    assert carried.py_func(7, 2.0, 14.0) == 7
    assert [carried.py_func(7, 2.0, most) for most in (13.9, 4.0, 1.9, 0.0, -3.0)] == [6, 2, 0, 0, 0]
    assert carried.py_func(7, 0.0, 0.0) == 7


def test_whole_tasks_follow_largest_remainders_and_then_position():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n, tasks = int(rng.integers(1, 7)), int(rng.integers(0, 40))
        share = rng.integers(0, 5, n) / 8 if seed % 2 else rng.random(n) * (rng.random(n) < 0.7)
        exact = share * tasks / share.sum() if share.sum() > 0 else 0 * share
        counts = np.floor(exact + 1e-6).astype(int)
        places = [x for x in np.argsort(-(exact - counts), kind="stable") if share[x] > 0]
        left = tasks - counts.sum() if share.sum() > 0 else 0
        counts[places[:left]] += 1
        assert whole_reduce(ReducePlan(share, 0.0, 0.0), tasks).tolist() == counts.tolist(), seed
        flow = whole_flow(MapPlan(np.stack([share] * n), 0.0, 0.0), [tasks] * n)
        assert flow.tolist() == [counts.tolist()] * n
    with pytest.raises(InputError, match="tasks is -1"):
        whole_reduce(ReducePlan(np.ones(1), 0.0, 0.0), -1)


def test_whole_tasks_within_bounds_fill_the_least_full_site():
    for seed in range(80):
        rng = np.random.default_rng(seed)
        n, tasks = int(rng.integers(1, 6)), int(rng.integers(1, 30))
        share = rng.random(n) + 0.01
        share, most = share / share.sum(), rng.integers(0, 4, n) * 0.5
        expected, found = np.floor(share * tasks + 1e-6).astype(int).tolist(), np.empty(n, np.int64)
        while most.any() and sum(expected) < tasks:
            able = [x for x in range(n) if most[x] > 0]
            expected[min(able, key=lambda x: ((expected[x] + 1) / most[x], x))] += 1
        if sum(expected) < tasks:
            expected = whole_reduce(ReducePlan(share, 0.0, 0.0), tasks).tolist()
        _WITHIN.ready()(share, most, tasks, found)
        assert found.tolist() == expected, seed


def test_moves_leave_the_narrowest_uplink_first():
    for seed in range(80):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 6))
        here, up = rng.integers(0, 9, n), rng.choice([1.0, 2.0, 4.0], n)
        share = rng.random(n) + 0.01
        wanted = whole_reduce(ReducePlan(share, 0.0, 0.0), int(here.sum()))
        expected = np.diag(np.minimum(here, wanted))
        sinks = [y for y in range(n) for _ in range(wanted[y] - expected[y, y])]
        for x in sorted(range(n), key=lambda x: (up[x], x)):
            for _ in range(here[x] - expected[x, x]):
                expected[x, sinks.pop(0)] += 1
        found = whole_map(MapPlan(np.diag(share), 0.0, 0.0), here, up)
        assert found.tolist() == expected.tolist(), seed


@pytest.mark.parametrize("spread", [False, True])
def test_remote_tasks_read_from_sources_in_turn_or_in_sequence(spread):
    for seed in range(120):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 6))
        flow, up = rng.integers(0, 7, (n, n)), rng.choice([1.0, 2.0, 3.0], n)
        y = int(rng.integers(0, n))
        there = flow[:, y].sum() - flow[y, y]
        away = int(rng.integers(0, there + 3))
        expected, order = [0] * n, sorted((x for x in range(n) if x != y), key=lambda x: (up[x], x))
        left = away
        if not spread:
            for x in order:
                expected[x] = min(left, int(flow[x, y]))
                left -= expected[x]
        while spread and left > 0:
            able = [x for x in order if flow[x, y] > expected[x]]
            if not able:
                break
            # Rounds of one each; of the last one those over the narrowest uplinks have a part.
            for x in able[:left]:
                expected[x] += 1
            left -= len(able[:left])
        found = np.zeros(n, np.int64)
        _SHARE_OUT.ready()(flow, y, away, up, spread, found)
        assert found.sum() == min(away, there)
        assert found.tolist() == expected, seed


def test_replanning_is_optimal_over_some_set_of_sites():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 7))
        now = rng.integers(300, 400, n)
        ideal = now + rng.integers(-40, 41, n)
        ideal[0] += now.sum() - ideal.sum()
        gap = ideal - now
        for k in range(2, n):
            sets = [list(own) for own in itertools.combinations(range(n), k)]
            gains = [(gap[own] ** 2).sum() - gap[own].sum() ** 2 / k for own in sets]
            best = [own for own, gain in zip(sets, gains, strict=True) if gain >= max(gains) - 1e-9]
            costs = []
            for own in best:
                each, rest = divmod(abs(int(gap[own].sum())), k)
                costs.append((np.delete(gap, own) ** 2).sum() + (k - rest) * each**2 + rest * (each + 1) ** 2)
            changed = replan(now, ideal, k)
            assert changed.sum() == now.sum()
            assert ((changed - ideal) ** 2).sum() in costs, seed


def test_replanning_gives_no_negative_counts():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        now = rng.multinomial(12, np.ones(5) / 5)
        ideal = rng.multinomial(12, rng.dirichlet(np.ones(5) * 0.3))
        for k in (2, 3, 4):
            changed = replan(now, ideal, k)
            assert changed.min() >= 0
            assert changed.sum() == 12
            assert (changed != now).sum() <= k
