"""At a poll between two decisions, waiting jobs are served, and no plan launches instances."""

from dataclasses import replace

import numpy as np
import pytest

from windlass.experiment.checks.scale import drawn_view
from windlass.scale import POLICIES, Demands

PERIOD = 600.0


def polls(name: str):
    """Yield a policy that has decided for two days, and views of polls after it."""
    rng = np.random.default_rng(3)
    history = rng.uniform(0, 5, (320, 3))
    parameters = {"seasons": [86_400.0]} if name == "predictive" else {}
    policy = POLICIES.make(name, np.random.default_rng(1), **parameters)
    for row in range(320):
        policy.decide(replace(drawn_view(rng, PERIOD * row, history[: row + 1]), look=10.0))
    for step in range(20):
        now = PERIOD * 319 + 10.0 * (step + 1)
        yield policy, replace(drawn_view(rng, now, history), look=10.0, due=False)


@pytest.mark.matrix
@pytest.mark.parametrize("name", POLICIES.names())
def test_a_poll_without_waiting_jobs_launches_nothing(name: str):
    for policy, view in polls(name):
        calm = replace(view, waiting=Demands.none())
        assert (np.array(policy.decide(calm).counts) <= calm.ready + calm.coming).all()


@pytest.mark.matrix
@pytest.mark.parametrize("name", POLICIES.names())
def test_a_poll_launches_an_instance_for_a_waiting_job(name: str):
    for policy, view in polls(name):
        one = Demands(np.array([[0.0, 3.0, 1e9]]), np.array([view.now]), np.array([np.inf]))
        # The only instance is a full one of the smallest type.
        ready = np.array([1, 0, 0])
        full = replace(view, ready=ready, used=ready, coming=0 * ready, waiting=one)
        assert sum(policy.decide(full).counts) >= 2


@pytest.mark.parametrize("name", ["hazard", "newsvendor", "predictive"])
def test_a_poll_keeps_the_planned_reserve(name: str):
    policy, view = next(polls(name))
    due = replace(view, due=True, now=view.now + PERIOD, waiting=Demands.none())
    none = np.zeros(3, np.int64)
    planned = np.array(policy.decide(replace(due, ready=none, used=none, coming=none)).counts)
    there = replace(due, due=False, ready=planned + 2, used=none, coming=none)
    assert planned.any()
    assert policy.decide(there).counts == tuple(planned.tolist())
