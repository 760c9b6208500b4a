"""Tetrium's decisions beside a plain one: order, shares of slots, budgets, sources and reasons."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.place.plain_tetrium import tetrium
from tests.place.test_plain import drawn_view
from tests.place.test_scarce import scarce_view
from windlass.place.policies.tetrium import Tetrium


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
def test_starts_and_reasons_are_those_of_the_plain_decision(drawn, options):
    for seed in range(30):
        view = mixed(drawn(seed), seed)
        answer = Tetrium(**options).decide(view)
        starts, why = tetrium(view, **options)
        assert answer.starts.tolist() == starts, seed
        assert answer.why.tolist() == why, seed


def test_views_tell_orders_of_map_tasks_apart():
    ways = [{"map_order": way, "local_share": 0.5} for way in ("remote-spread", "remote", "local")]
    views = [mixed(drawn_view(seed), seed) for seed in range(30)]
    found = [[tetrium(view, **way)[0] for view in views] for way in ways]
    assert found[0] != found[1] != found[2] != found[0]
    # Local tasks first, then remote ones source by source, is an order that no option asks for.
    assert found[2] != [tetrium(view, map_order="local", spread=False)[0] for view in views]
