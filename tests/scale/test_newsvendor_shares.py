"""The number of jobs per instance that the newsvendor tracks: a plain moving mean with bounds."""

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from tests.oracles.scaling import bucket_of
from tests.scale.drawn import PERIOD, TYPES, drawn
from windlass.scale.forecast.rows import Tail
from windlass.scale.policies.newsvendor import Newsvendor


def test_jobs_per_instance_follow_a_moving_mean():
    rng, policy = np.random.default_rng(3), Newsvendor(forecaster=None)
    jobs, needs, more = [0.0] * 3, [0.0] * 3, 0
    for row in range(40):
        view = drawn(rng, PERIOD * row, rng.uniform(0, 3, (2, 3)))
        on = [bucket_of(request, TYPES) for request in view.running.resources]
        # Needs shrink, for one type to nearly zero, so that the shares change.
        now = rng.uniform(0.0, 1.0, 3) * [1.0, 0.1 if row > 20 else 2.0, 0.01]
        found = policy._shares(view, SimpleNamespace(now=now))
        for kind in range(3):
            jobs[kind] = 0.99 * jobs[kind] + 0.01 * on.count(kind)
            needs[kind] = 0.99 * needs[kind] + 0.01 * now[kind]
            assert found[kind] == pytest.approx(max(1.0, jobs[kind] / max(needs[kind], 1e-3)))
        more += int((found > 1.0).sum())
    assert more > 20


@pytest.mark.parametrize("first", [0, 1, 150, 300])
def test_a_tail_accepts_more_rows_at_once_than_it_keeps(first):
    counts = (300, 150, 300, 1, 299, 301, 300)
    ends = np.cumsum([first, *counts])
    whole = np.arange(float(ends[-1]))[:, None]
    tail = Tail(whole[:first], 300)
    for begin, end in pairwise(ends.tolist()):
        tail.add(whole[begin:end])
        assert np.array_equal(tail.last(300), whole[end - 300 : end])


@pytest.mark.parametrize(("step", "begins"), [(1.0, False), (0.0, True), (-PERIOD, True)])
def test_a_clock_that_does_not_advance_restarts_learning(step, begins):
    rng, policy = np.random.default_rng(4), Newsvendor(forecaster=None)
    for row in range(150):
        view = drawn(rng, PERIOD * row, rng.uniform(0, 3, (2, 3)))
        policy.decide(view)
    why = policy.decide(replace(view, now=view.now + step)).why[0]
    assert why.endswith("in reserve: too little data so far") is begins
