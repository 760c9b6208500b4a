"""The order of starts at one instant, and their budgets, compared with plain computations."""

from __future__ import annotations

import math

import numpy as np
import pytest

from windlass.place import map_stage, reduce_stage
from windlass.place.policies.centralised import Centralised
from windlass.place.policies.tetrium import Tetrium
from windlass.place.policies.tetrium_fs import TetriumFs
from windlass.place.view import PlaceView, Ready, Sites


@pytest.mark.parametrize("shuffles", [0, 1])
@pytest.mark.parametrize("rho", [0.0, 0.25, 0.5, 1.0])
def test_a_stage_alone_is_placed_by_its_program_within_its_budget(shuffles, rho):
    for seed in range(25):
        rng = np.random.default_rng([seed, shuffles])
        n = int(rng.integers(2, 6))
        slots, up, down = rng.integers(1, 40, n), *(10 ** rng.uniform(8, 9.5, (2, n)))
        here = rng.integers(500, 4000, n)
        tasks = int(here.sum())
        data = here * 1e6 if not shuffles else rng.uniform(1e9, 5e9, n)
        # From W_min, what has to move at least, to all that is there.
        least = data.sum() - data.max() if shuffles else 0.0
        budget = None if rho == 1.0 else least * (1 + 1e-12) + rho * (data.sum() - least)
        place = reduce_stage if shuffles else map_stage
        share = place(data, slots, up, down, tasks, 2.0, budget).share
        ready = Ready.of(shuffles, 2.0, [here], 1e6, data=[data], waiting=tasks)
        policy = Tetrium(rho=rho, update_sites=2)
        plan = policy.decide(PlaceView(0.0, Sites.of(slots, up, down), ready)).plan[0]
        assert plan.sum() == tasks
        assert (np.abs(plan - share * tasks) <= n).all(), seed


def queue(seed):
    """Stages of one site, with how many stages their jobs have left, tasks and their length; ties are likely."""
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 7))
    left, tasks = rng.integers(1, 4, m), rng.integers(1, 12, m)
    return left, tasks, rng.choice([1.0, 2.0, 3.0], m), int(rng.integers(1, 25))


@pytest.mark.parametrize("epsilon", [0.0, 0.25, 0.5, 1.0])
def test_stages_at_one_site_are_served_in_order_with_fair_shares(epsilon):
    for seed in range(60):
        left, tasks, task_s, free = queue(seed)
        opened, unserved, expected, order = free, int(tasks.sum()), {}, []
        while len(order) < len(left):
            # Of the jobs with the fewest stages left the one that takes least, as seen when their turn came.
            rest = [row for row in range(len(left)) if row not in order]
            if not order or left[order[-1]] < min(left[row] for row in rest):
                took = [
                    own * max(1.0, count / max(opened, 1)) for own, count in zip(task_s, tasks, strict=True)
                ]
            row = min(rest, key=lambda row: (left[row], took[row], row))
            order.append(row)
            unserved -= int(tasks[row])
            limit = math.floor(opened - (1 - epsilon) * free * unserved / tasks.sum() + 1e-9)
            expected[row] = max(0, min(limit, opened, int(tasks[row])))
            opened -= expected[row]
        sites = Sites.of(slots=[free], up=[1e9], down=[1e9])
        ready = Ready.of(0, task_s, tasks[:, None], left=left)
        starts = Tetrium(epsilon=epsilon).decide(PlaceView(0.0, sites, ready)).starts
        assert starts[:, [0, 3]].tolist() == [[row, expected[row]] for row in order if expected[row]], seed


def test_fair_order_divides_free_slots_evenly():
    for seed in range(60):
        left, tasks, task_s, free = queue(seed)
        opened, expected = free, []
        for row, own in enumerate(tasks.tolist()):
            lent = -(-opened // (len(tasks) - row))
            expected += [[row, min(lent, own)]] if min(lent, own) else []
            opened -= min(lent, own)
        sites = Sites.of(slots=[free], up=[1e9], down=[1e9])
        ready = Ready.of(0, task_s, tasks[:, None], left=left)
        assert TetriumFs().decide(PlaceView(0.0, sites, ready)).starts[:, [0, 3]].tolist() == expected, seed


def test_centralised_moves_all_input_to_the_most_powerful_site():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        m, n = int(rng.integers(1, 4)), int(rng.integers(1, 5))
        slots = rng.integers(0, 4, n)
        up, down = rng.choice([0.0, 1.0, 2.0], (2, n))
        here = rng.integers(0, 5, (m, n))
        fresh = rng.integers(0, 2, m)
        view = PlaceView(0.0, Sites.of(slots, up, down), Ready.of(0, 1.0, here), fresh=fresh)
        hub = max(range(n), key=lambda x: (slots[x] * down[x], -x))
        expected = [
            [row, x, hub, here[row, x]]
            for row in range(m)
            for x in range(n)
            if fresh[row] and x != hub and here[row, x] and up[x] > 0 and down[hub] > 0
        ]
        assert Centralised().moves(view).tolist() == expected, seed
