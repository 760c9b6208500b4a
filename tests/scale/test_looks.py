"""At a look between two decisions: who waits is served, and no plan launches anything."""

from dataclasses import replace

import numpy as np
import pytest

from windlass.experiment.checks.scale import drawn_view
from windlass.scale import POLICIES, Demands

PERIOD = 600.0


def looks(name: str):
    """A policy that has decided for two days, and views of looks after it."""
    rng = np.random.default_rng(3)
    history = rng.uniform(0, 5, (320, 3))
    parameters = {"seasons": [86_400.0]} if name == "predictive" else {}
    policy = POLICIES.make(name, np.random.default_rng(1), **parameters)
    for row in range(320):
        policy.decide(replace(drawn_view(rng, PERIOD * row, history[: row + 1]), look=10.0))
    for step in range(20):
        now = PERIOD * 319 + 10.0 * (step + 1)
        yield policy, replace(drawn_view(rng, now, history), look=10.0, due=False)


@pytest.mark.parametrize("name", POLICIES.names())
def test_where_nobody_waits_nothing_is_launched(name: str):
    for policy, view in looks(name):
        calm = replace(view, waiting=Demands.none())
        assert (np.array(policy.decide(calm).counts) <= calm.ready + calm.coming).all()


@pytest.mark.parametrize("name", POLICIES.names())
def test_who_waits_has_an_instance_coming(name: str):
    for policy, view in looks(name):
        one = Demands(np.array([[0.0, 3.0, 1e9]]), np.array([view.now]), np.array([np.inf]))
        # None is there but one of the smallest, which is full.
        ready = np.array([1, 0, 0])
        full = replace(view, ready=ready, used=ready, coming=0 * ready, waiting=one)
        assert sum(policy.decide(full).counts) >= 2


@pytest.mark.parametrize("name", ["hazard", "newsvendor", "predictive"])
def test_what_the_plan_has_in_reserve_is_kept(name: str):
    policy, view = next(looks(name))
    due = replace(view, due=True, now=view.now + PERIOD, waiting=Demands.none())
    none = np.zeros(3, np.int64)
    planned = np.array(policy.decide(replace(due, ready=none, used=none, coming=none)).counts)
    there = replace(due, due=False, ready=planned + 2, used=none, coming=none)
    assert planned.any()
    assert policy.decide(there).counts == tuple(planned.tolist())
