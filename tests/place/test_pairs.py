"""Stages with a limit a pair of sites: compared with an independently written linear program."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from windlass.model import InputError
from windlass.place import map_stage, reduce_stage
from windlass.place.functions.oracle import LinearProgram, map_stage_highs, reduce_stage_highs


def drawn(seed):
    """A stage at few sites, slow links between some pairs of them, and a budget for a third of the cases."""
    rng = np.random.default_rng([17, seed])
    n = int(rng.integers(2, 5))
    data, slots = rng.uniform(1.0, 9.0, n), rng.integers(1, 9, n).astype(float)
    up, down = rng.uniform(0.2, 3.0, (2, n))
    # A site's own pair limits nothing; some pairs are without a limit.
    pair = np.where(rng.random((n, n)) < 0.7, rng.uniform(0.05, 1.5, (n, n)), np.inf)
    tasks, task_s = int(rng.integers(1, 40)), float(rng.uniform(0.1, 3.0))
    share = float(rng.uniform(0.3, 0.9)) if seed % 3 == 0 else None
    return data, slots, up, down, pair, tasks, task_s, share


def least_map_s(data, slots, up, down, pair, work, budget):
    """Bytes from each site to each, transfer time and compute time; the least sum of the two."""
    n, rows, bounds = len(data), [], []

    def at_most(flows, transfer, compute, bound):
        row = np.zeros(n * n + 2)
        for x, y in flows:
            row[x * n + y] = 1.0
        row[-2:] = transfer, compute
        rows.append(row)
        bounds.append(bound)

    sites = range(n)
    for x in sites:
        at_most([(x, y) for y in sites if y != x], -up[x], 0.0, 0.0)
        at_most([(y, x) for y in sites if y != x], -down[x], 0.0, 0.0)
        at_most([(y, x) for y in sites], 0.0, -slots[x] * data.sum() / work, 0.0)
        for y in sites:
            if x != y and np.isfinite(pair[x, y]):
                at_most([(x, y)], -pair[x, y], 0.0, 0.0)
    if budget is not None:
        at_most([(x, y) for x in sites for y in sites if x != y], 0.0, 0.0, budget)
    kept = np.zeros((n, n * n + 2))
    for x in sites:
        kept[x, x * n : (x + 1) * n] = 1.0
    return linprog([0.0] * (n * n) + [1.0, 1.0], np.array(rows), bounds, kept, data).fun


def least_reduce_s(data, slots, up, down, pair, work, budget):
    """Each site's share, transfer time and compute time; the least sum of the two."""
    n, total, rows, bounds = len(data), data.sum(), [], []

    def at_most(x, weight, transfer, compute, bound):
        row = np.zeros(n + 2)
        row[x], row[-2:] = weight, (transfer, compute)
        rows.append(row)
        bounds.append(bound)

    for x in range(n):
        at_most(x, -data[x], -up[x], 0.0, -data[x])
        at_most(x, total - data[x], -down[x], 0.0, 0.0)
        at_most(x, work, 0.0, -slots[x], 0.0)
        for y in range(n):
            if x != y and np.isfinite(pair[x, y]):
                at_most(y, data[x], -pair[x, y], 0.0, 0.0)
    if budget is not None:
        rows.append(np.array([*-data, 0.0, 0.0]))
        bounds.append(budget - total)
    return linprog([0.0] * n + [1.0, 1.0], np.array(rows), bounds, [[1.0] * n + [0.0, 0.0]], [1.0]).fun


@pytest.mark.parametrize("limited", [False, True])
def test_a_map_stage_with_limits_a_pair_takes_the_least_time(limited):
    for seed in range(9):
        data, slots, up, down, pair, tasks, task_s, share = drawn(seed)
        budget = None if share is None else share * data.sum()
        given = pair if limited else None
        plan = map_stage_highs(data, slots, up, down, tasks, task_s, budget, given)
        limits = pair if limited else np.full(pair.shape, np.inf)
        least = least_map_s(data, slots, up, down, limits, tasks * task_s, budget)
        assert plan.stage_s == pytest.approx(least, rel=1e-7), seed
        sent = plan.flow * data.sum()
        np.testing.assert_allclose(sent.sum(axis=1), data, rtol=1e-7)
        np.fill_diagonal(sent, 0.0)
        assert (sent <= np.where(np.isfinite(limits), limits, 1e6) * plan.transfer_s + 1e-7).all()
        assert (sent.sum(axis=1) <= up * plan.transfer_s + 1e-7).all()
        assert (sent.sum(axis=0) <= down * plan.transfer_s + 1e-7).all()
        assert (tasks * task_s * plan.flow.sum(axis=0) <= slots * plan.compute_s + 1e-7).all()
        assert budget is None or sent.sum() <= budget + 1e-7


@pytest.mark.parametrize("limited", [False, True])
def test_a_reduce_stage_with_limits_a_pair_takes_the_least_time(limited):
    for seed in range(9):
        data, slots, up, down, pair, tasks, task_s, share = drawn(seed)
        least_sent = data.sum() - data.max()
        budget = None if share is None else least_sent + share * data.max()
        given = pair if limited else None
        plan = reduce_stage_highs(data, slots, up, down, tasks, task_s, budget, given)
        limits = pair if limited else np.full(pair.shape, np.inf)
        least = least_reduce_s(data, slots, up, down, limits, tasks * task_s, budget)
        assert plan.stage_s == pytest.approx(least, rel=1e-7), seed
        assert plan.share.sum() == pytest.approx(1.0)
        sent = np.outer(data, plan.share)
        np.fill_diagonal(sent, 0.0)
        assert (sent <= np.where(np.isfinite(limits), limits, 1e6) * plan.transfer_s + 1e-7).all()
        assert (sent.sum(axis=1) <= up * plan.transfer_s + 1e-7).all()
        assert (sent.sum(axis=0) <= down * plan.transfer_s + 1e-7).all()
        assert (tasks * task_s * plan.share <= slots * plan.compute_s + 1e-7).all()
        assert budget is None or sent.sum() <= budget + 1e-7


def test_a_pair_that_carries_nothing_keeps_bytes_from_its_site():
    # Half of the tasks would leave for the second site; the first cannot send there, and the second can send back.
    sites = [1.0, 1.0], [3, 1], [1.0, 1.0], [1.0, 1.0]
    free = map_stage_highs(*sites, 8, 1.0)
    blocked = map_stage_highs(*sites, 8, 1.0, pair=[[np.inf, 5.0], [0.0, np.inf]])
    other = map_stage_highs(*sites, 8, 1.0, pair=[[0.0, 0.0], [5.0, 0.0]])
    assert free.stage_s == other.stage_s == pytest.approx(2.5)
    assert blocked.stage_s == pytest.approx(4.0)
    # To the second, whose share is s, go s of the bytes of the first: none may, so all tasks run at the first.
    shuffle = reduce_stage_highs(*sites, 8, 1.0, pair=[[np.inf, 0.0], [5.0, np.inf]])
    assert shuffle.share.tolist() == pytest.approx([1.0, 0.0])
    assert (shuffle.transfer_s, shuffle.compute_s) == pytest.approx((1.0, 8 / 3))


@pytest.mark.parametrize(
    ("highs", "fast"), [(map_stage_highs, map_stage), (reduce_stage_highs, reduce_stage)]
)
def test_without_work_only_the_transfer_counts(highs, fast):
    sites = [4.0, 1.0, 2.0], [1, 2, 3], [1.0, 0.5, 2.0], [1.0, 1.0, 0.25]
    for tasks, task_s in ((0, 3.0), (5, 0.0)):
        plan = highs(*sites, tasks, task_s)
        assert plan.compute_s == pytest.approx(0.0, abs=1e-9)
        assert plan.transfer_s == pytest.approx(fast(*sites, tasks, task_s).transfer_s, abs=1e-9)


@pytest.mark.parametrize("highs", [map_stage_highs, reduce_stage_highs])
def test_an_infeasible_program_is_rejected(highs):
    with pytest.raises(InputError, match="no placement satisfies the constraints"):
        highs([4.0, 1.0], [0, 0], [1.0, 1.0], [1.0, 1.0], 5, 1.0)


def test_a_model_without_rows_of_one_kind_is_solved():
    model = LinearProgram(2)
    model.exactly([0, 1], 1.0, 3.0)
    assert model.solve(np.array([2.0, 1.0])).tolist() == [0.0, 3.0]
    model.at_most(1, 2.0, 4.0)
    assert model.solve(np.array([2.0, 1.0])).tolist() == [1.0, 2.0]
