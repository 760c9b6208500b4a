"""Tetrium's decisions compared with a plain version: order, shares of slots, budgets, sources and reasons."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.place.plain_tetrium import tetrium
from tests.place.test_plain import drawn_view
from tests.place.test_scarce import scarce_view
from windlass.place.policies.tetrium import Tetrium
from windlass.place.view import Sites


def mixed(view, seed):
    """The same with stages that have different numbers of stages behind them, and some that read nothing.

    Every third view has a site of many slots, and input at the others: its tasks read from several of them.
    """
    rng = np.random.default_rng([5, seed])
    ready, sites = view.ready, view.sites
    stages, n = ready.here.shape
    empty = (rng.random(stages) < 0.2) & (ready.shuffles == 0)
    here, data, waiting = ready.here, np.where(empty[:, None], 0.0, ready.data), ready.waiting
    if seed % 3 == 0:
        here = np.where(ready.shuffles[:, None] == 0, 9 * here, 0)
        here[ready.shuffles == 0, 0] = 2
        waiting = np.where(ready.shuffles == 0, here.sum(axis=1), waiting)
        data = np.where(ready.shuffles[:, None] == 0, here * 1e6 * ~empty[:, None], data / 50.0)
        more = 90 * (np.arange(n) == 0)
        sites = sites._replace(slots=sites.slots + more, free=sites.free + more // 6)
    ready = ready._replace(here=here, waiting=waiting, data=data, left=rng.integers(1, 4, stages))
    return dataclasses.replace(view, sites=sites, ready=ready)


@pytest.mark.matrix
@pytest.mark.parametrize("drawn", [drawn_view, scarce_view])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"epsilon": 0.3, "map_order": "local"},
        {"rho": 0.0, "local_share": 0.0},
        {"rho": 0.4, "local_share": 0.5, "epsilon": 0.7},
        {"map_order": "remote"},
    ],
    ids=lambda options: "-".join(map(str, options.values())) or "defaults",
)
def test_starts_and_reasons_equal_the_plain_decision(drawn, options):
    for seed in range(30):
        view = mixed(drawn(seed), seed)
        answer = Tetrium(**options).decide(view)
        starts, why, plan = tetrium(view, **options)
        assert answer.plan is None or answer.plan.tolist() == plan.tolist()
        assert answer.starts.tolist() == starts, seed
        assert answer.why.tolist() == why, seed


def later(view, answer, seed):
    """What waits once these starts have begun, with slots and links that dropped or came back."""
    rng = np.random.default_rng([6, seed])
    sites, ready = view.sites, view.ready
    here, started, waiting = ready.here.copy(), ready.started.copy(), ready.waiting.copy()
    for row, source, site, tasks in answer.starts.tolist():
        started[row, site] += tasks
        waiting[row] -= tasks
        if source >= 0:
            here[row, source] -= tasks
    data = np.where(ready.shuffles[:, None] == 0, ready.data * (here / np.maximum(ready.here, 1)), ready.data)
    ready = ready._replace(here=here, started=started, waiting=waiting, data=data, plan=answer.plan)
    some = rng.random(len(sites.slots)) < 0.6
    slots = np.where(some, sites.slots * rng.integers(0, 4, len(some)) // 2, sites.slots)
    up, down = (np.where(some, links * rng.uniform(0.2, 2.0), links) for links in (sites.up, sites.down))
    sites = Sites(slots, rng.integers(-1, slots + 1), up, down, up, down)
    return dataclasses.replace(view, sites=sites, ready=ready, changed=bool(seed % 2))


@pytest.mark.parametrize("drawn", [drawn_view, scarce_view])
@pytest.mark.parametrize("options", [{"update_sites": 2}, {"update_sites": 4, "rho": 0.3, "epsilon": 0.5}])
def test_kept_plans_equal_the_plain_decision(drawn, options):
    changes = 0
    for seed in range(40):
        view, policy = mixed(drawn(seed), seed), Tetrium(**options)
        for turn in range(3):
            answer = policy.decide(view)
            starts, why, plan = tetrium(view, **options)
            assert answer.starts.tolist() == starts, (seed, turn)
            assert answer.why.tolist() == why
            assert answer.plan.tolist() == plan.tolist()
            changes += turn > 0 and (plan != view.ready.plan).any()
            view = later(view, answer, seed + turn)
    assert changes > 10


def test_the_views_distinguish_the_map_orders():
    ways = [{"map_order": way, "local_share": 0.5} for way in ("remote-spread", "remote", "local")]
    views = [mixed(drawn_view(seed), seed) for seed in range(30)]
    found = [[tetrium(view, **way)[0] for view in views] for way in ways]
    assert found[0] != found[1] != found[2] != found[0]
    # Local tasks first, then remote ones source by source, is an order that no option asks for.
    assert found[2] != [tetrium(view, map_order="local", spread=False)[0] for view in views]
