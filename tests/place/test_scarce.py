"""Sites without slots or links: which tasks start, and the fastest possible shuffle."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from numba import types
from scipy.optimize import linprog

from tests.place.plain_tetris import tetris
from tests.place.test_plain import drawn_view
from windlass.jit import Kernel
from windlass.place.lib.reverse import shuffle_least
from windlass.place.policies.delay_scheduling import DelayScheduling
from windlass.place.policies.in_place import InPlace
from windlass.place.policies.tetris import Tetris
from windlass.place.policies.tetrium import Tetrium
from windlass.place.policies.tetrium_i_data import TetriumIData
from windlass.place.view import PlaceView, Ready, Sites

_floats = types.float64[::1]
_SHUFFLE = Kernel(shuffle_least.py_func, types.float64(*[_floats] * 5))


def scarce_view(seed: int) -> PlaceView:
    """As other drawn views, where some sites have no slots, no uplink, no downlink, or nothing idle of them."""
    view, rng = drawn_view(seed), np.random.default_rng([31, seed])
    sites, n = view.sites, len(view.sites.slots)
    slots, up, down = (rng.random(n) < 0.75 for _ in range(3))
    idle = rng.random(n) < 0.85
    return dataclasses.replace(
        view,
        sites=Sites(
            sites.slots * slots,
            sites.free * slots,
            sites.up * up,
            sites.down * down,
            sites.up_free * up * idle,
            sites.down_free * down * idle,
        ),
    )


@pytest.mark.parametrize("local_reads", [False, True])
def test_tetris_starts_the_highest_scores_with_missing_links_and_slots(local_reads):
    for seed in range(100):
        view = scarce_view(seed)
        found = [*map(tuple, Tetris(0.1, 1.0, True, local_reads).decide(view).starts.tolist())]
        assert found == tetris(view, 0.1, 1.0, True, local_reads), seed


POLICIES = {
    "tetris": Tetris(),
    "in-place": InPlace(),
    "delay-scheduling": DelayScheduling(0.0),
    "tetrium": Tetrium(),
}


@pytest.mark.parametrize("name", POLICIES)
def test_starts_have_a_slot_and_can_read_their_input(name):
    for seed in range(60):
        view = scarce_view(seed)
        sites, ready = view.sites, view.ready
        starts = POLICIES[name].decide(view).starts
        taken, read = np.zeros(len(sites.slots), int), np.zeros_like(ready.here)
        for row, source, site, tasks in starts.tolist():
            assert tasks > 0
            taken[site] += tasks
            if source >= 0:
                read[row, source] += tasks
                assert source == site or (sites.up[source] > 0 and sites.down[site] > 0), seed
        assert (taken <= np.maximum(sites.free, 0)).all()
        maps = ready.shuffles == 0
        assert (read[maps] <= ready.here[maps]).all()
        for row in np.flatnonzero(~maps):
            assert starts[starts[:, 0] == row, 3].sum() <= ready.waiting[row]


def test_leaving_tasks_are_of_the_job_with_fewest_and_read_in_proportion():
    """At once, without a wait: of what in-place leaves of slots, each goes to the job with the fewest running tasks."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        m, n = int(rng.integers(1, 4)), int(rng.integers(2, 5))
        slots, here = rng.integers(1, 8, n), rng.integers(0, 6, (m, n))
        view = PlaceView(0.0, Sites.of(slots, [1e9] * n, [1e9] * n), Ready.of(0, 1.0, here))
        starts = DelayScheduling(0.0).decide(view).starts
        near = starts[starts[:, 1] == starts[:, 2]]
        local = np.zeros((m, n), int)
        np.add.at(local, (near[:, 0], near[:, 1]), near[:, 3])
        in_place = InPlace().decide(view).starts
        own = np.bincount(in_place[:, 0], in_place[:, 3], m)
        left, wants = int(slots.sum() - own.sum()), here.sum(axis=1) - own
        held, quota = own.astype(int), [0] * m
        for _ in range(min(left, int(wants.sum()))):
            row = min((r for r in range(m) if quota[r] < wants[r]), key=lambda r: (held[r] + quota[r], r))
            quota[row] += 1
        found = np.bincount(starts[:, 0], starts[:, 3], m) - own
        assert found.tolist() == quota, seed


def least_shuffle(share, up, down):
    """The least time of a shuffle over all distributions of what it reads: a linear program in these and the time."""
    n = len(share)
    rows, bounds = [], []
    for x in range(n):
        rows.append([*((1 - share[x]) * np.eye(n)[x]), -up[x]])
        bounds.append(0.0)
        rows.append([*(-share[x] * np.eye(n)[x]), -down[x]])
        bounds.append(-share[x])
    found = linprog([0.0] * n + [1.0], rows, bounds, [[1.0] * n + [0.0]], [1.0], bounds=(0, None))
    return found.fun if found.status == 0 else np.inf


def test_the_wanted_distribution_of_a_shuffle_is_the_fastest():
    for seed in range(80):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 6))
        slots = rng.integers(0 if seed % 3 == 0 else 1, 9, n).astype(float)
        slots[0] += 1.0
        up, down = (rng.uniform(0.05, 2.0, n) * (rng.random(n) < 0.85) for _ in range(2))
        # A site with slots and without any link takes part in no shuffle.
        up[(up == 0.0) & (down == 0.0)] = 0.5
        share, portion, wanted = slots / slots.sum(), rng.dirichlet(np.ones(n)), np.empty(n)
        took, least = _SHUFFLE.ready()(share, up, down, portion, wanted), least_shuffle(share, up, down)
        assert took == pytest.approx(least, rel=1e-6, abs=1e-9), seed
        if took == np.inf:
            assert wanted.tolist() == portion.tolist()
            continue
        assert wanted.sum() == pytest.approx(1.0, abs=1e-9)
        assert (wanted * (1 - share) <= took * up + 1e-7).all()
        assert ((1 - wanted) * share <= took * down + 1e-7).all()
        low = np.maximum(0.0, 1.0 - took * down / np.maximum(share, 1e-300))
        high = np.minimum(1.0, took * up / np.maximum(1.0 - share, 1e-300))
        # No site goes further from what lies there than all together have to.
        clipped = np.clip(portion, np.minimum(low, high), high)
        away = np.sign(1.0 - clipped.sum()) if abs(1.0 - clipped.sum()) > 1e-9 else 0.0
        assert ((wanted - clipped) * away >= -1e-7).all()
        if away == 0.0:
            assert wanted.tolist() == pytest.approx(clipped.tolist(), abs=1e-7)


def test_input_moves_ahead_only_as_the_fastest_shuffle_needs():
    moved = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, ratio = int(rng.integers(2, 5)), float(rng.choice([0.0, 0.5, 2.0]))
        slots, here = rng.integers(1, 40, n), rng.integers(0, 300, (1, n))
        here[0, 0] += 5
        up, down = 10 ** rng.uniform(7, 9, (2, n))
        ready = Ready.of(0, 1.0, here, 1e7, next_work=float(rng.choice([0.0, 50.0, 50.0])), ratio=ratio)
        sites = Sites.of(slots, up, down)
        moves = TetriumIData().moves(PlaceView(0.0, sites, ready, fresh=np.ones(1, np.int64)))
        assert len(TetriumIData().moves(PlaceView(0.0, sites, ready, fresh=np.zeros(1, np.int64)))) == 0
        if ready.next_work[0] == 0.0 or ratio == 0.0:
            assert len(moves) == 0
            continue
        after = here[0].copy()
        for row, source, site, tasks in moves.tolist():
            assert (row, source != site, tasks > 0) == (0, True, True)
            after[source] -= tasks
            after[site] += tasks
        total, written = here.sum(), here.sum() * 1e7 * ratio
        share, wanted = slots / slots.sum(), np.empty(n)
        _SHUFFLE.ready()(share, up / written, down / written, here[0] / total, wanted)
        assert (np.abs(after - wanted * total) < 1 + 1e-6).all(), seed
        # What must move moves once.
        assert not set(moves[:, 1].tolist()) & set(moves[:, 2].tolist())
        moved += len(moves) > 0
    assert moved > 10
