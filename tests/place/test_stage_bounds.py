"""Bounds of a stage's plan, waves of at least one task time, and the choice among equal plans."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.place.plain_tetrium import _SOLVE
from windlass.place.functions.oracle import map_model, reduce_model
from windlass.place.lib.stage import StageLoad, StageResources


def drawn(seed, shuffles):
    """A stage, its sites, its work, a budget for a third of the cases, and a wave for half of them."""
    rng = np.random.default_rng([23, seed])
    n = int(rng.integers(2, 7))
    data, slots = rng.uniform(0.5, 9.0, n), rng.integers(1, 12, n).astype(float)
    up, down = rng.uniform(0.1, 3.0, (2, n))
    if seed % 4 == 1:
        data[0] = 0.0
    work, wave = float(rng.uniform(0.5, 60.0)), [0.0, float(rng.uniform(0.02, 0.3))][seed % 2]
    least = data.sum() - data.max() if shuffles else 0.0
    budget = least + 0.5 * (data.sum() - least) if seed % 3 == 0 else np.inf
    return data, slots, up, down, work, budget, wave


def solved(case, shuffles):
    data, slots, up, down, work, budget, wave = case
    share, most = np.empty(len(data)), np.empty(len(data))
    solve = _SOLVE[shuffles].ready()
    transfer, compute, status, _ = solve(
        data, StageResources(slots, up, down), StageLoad(work, budget, wave), share, most
    )
    assert status == 0
    return transfer, compute, share, most


@pytest.mark.parametrize("shuffles", [False, True])
def test_a_wave_takes_at_least_one_task_time(shuffles):
    slower = 0
    for seed in range(24):
        case = data, slots, up, down, work, budget, wave = drawn(seed, shuffles)
        transfer, compute, _, _ = solved(case, shuffles)
        make = reduce_model if shuffles else map_model
        model, cost = make(data, slots, up, down, work, None if budget == np.inf else budget)
        free = model.solve(cost)
        model.at_most(len(cost) - 1, -1.0, -work * wave)
        bound = model.solve(cost)
        assert transfer + compute == pytest.approx(bound[-2] + bound[-1], rel=1e-8), seed
        assert compute >= work * wave * (1 - 1e-12)
        slower += bound[-1] > free[-1] * (1 + 1e-6)
    assert slower > 2


@pytest.mark.parametrize("shuffles", [False, True])
def test_the_maximum_of_a_site_follows_its_downlink_and_slots(shuffles):
    for seed in range(24):
        case = data, slots, _, down, work, _, _ = drawn(seed, shuffles)
        transfer, compute, share, most = solved(case, shuffles)
        comes = transfer * down / (data.sum() - data) if shuffles else (data + transfer * down) / data.sum()
        assert most.tolist() == pytest.approx(np.minimum(comes, compute / work * slots).tolist(), rel=1e-9)
        assert (share <= most + 1e-9).all()
        assert share.sum() == pytest.approx(1.0, abs=1e-9)
        assert (share >= 0.0).all()


def test_of_equally_fast_shuffles_the_one_that_moves_least_is_chosen():
    for seed in range(24):
        case = data, _, up, _, _, _, _ = drawn(seed, True)
        transfer, _, share, most = solved(case, True)
        least = np.maximum(0.0, 1.0 - transfer * up / np.where(data > 0, data, np.inf)) * (data > 0)
        bounds = [*zip(np.minimum(least, most), most, strict=True)]
        found = linprog(-data, A_eq=[[1.0] * len(data)], b_eq=[1.0], bounds=bounds)
        assert (data * share).sum() == pytest.approx(-found.fun, rel=1e-6), seed


def test_maps_leave_a_site_only_if_its_slots_are_not_enough():
    for seed in range(24):
        case = data, slots, _, down, work, _, _ = drawn(seed, False)
        transfer, compute, share, _ = solved(case, False)
        portion, held = data / data.sum(), compute / work * slots
        leaves = portion > held * (1 + 1e-9)
        assert share[leaves].tolist() == pytest.approx(held[leaves].tolist(), rel=1e-9)
        assert (share[~leaves] >= portion[~leaves] - 1e-9).all()
        # The others take what comes by what they have room for.
        room = np.minimum(transfer * down / data.sum(), held - portion)[~leaves]
        coming = (share - portion)[~leaves]
        if coming.sum() > 1e-9:
            assert (coming / coming.sum()).tolist() == pytest.approx((room / room.sum()).tolist(), abs=1e-7)


@pytest.mark.parametrize("shuffles", [False, True])
def test_a_stage_without_data_takes_its_work_over_all_slots(shuffles):
    nothing, slots, rates = np.zeros(3), np.array([3.0, 0.0, 5.0]), np.ones(3)
    transfer, compute, share, most = solved((nothing, slots, rates, rates, 20.0, np.inf, 0.0), shuffles)
    assert (transfer, compute) == (0.0, 2.5)
    assert share.tolist() == most.tolist() == [0.375, 0.0, 0.625]
