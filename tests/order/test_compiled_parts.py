"""Arguments of compiled site policies: they stay within their arrays and decide as plain Python does."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.oracles.interpreted import interpreted
from tests.order.test_owed import drawn
from windlass.order.site import POLICIES
from windlass.order.site.compiled import columns_of, numbers_of, select_of
from windlass.order.site.policies.fcfs import Fcfs
from windlass.order.site.policies.queue import Queue
from windlass.order.site.view import Running, SiteView, Waiting

CASES = {name: POLICIES.make(name, np.random.default_rng(0)) for name in POLICIES.names()}
CASES["shortest first, each reserved"] = Queue("sjf", "conservative")


def answer_of(function, view, policy):
    """Return the started jobs, the reasons, and the columns of the view afterwards."""
    columns, count = columns_of(view, numbers_of(policy)), len(view.waiting.job)
    chosen, why = np.zeros((2, count), np.int64)
    with np.errstate(all="ignore"):
        picked = function(columns, chosen, why)
    return picked, chosen[:picked].tolist(), why[:picked].tolist(), [str(column) for column in columns]


@pytest.mark.matrix
@pytest.mark.parametrize("pools", [0, 2])
@pytest.mark.parametrize("name", CASES)
def test_no_policy_reads_or_writes_beyond_its_arrays(name, pools):
    policy = CASES[name]
    kernel = select_of(policy, pools > 0)
    written, started = interpreted(kernel.python), 0
    for seed in range(25):
        view = drawn(seed, pools)
        view = dataclasses.replace(view, free=view.free + seed % 3)
        # Plain Python first, as machine code that writes out of bounds ends the process.
        answer = answer_of(written, view, policy)
        assert answer == answer_of(kernel.ready(), view, policy), seed
        started += answer[0]
    assert started > 2


def test_a_policy_without_numbers_has_an_empty_array():
    assert numbers_of(Fcfs()).shape == (0,)
    view = SiteView(0.0, 1, 1, Waiting.of([7], [0], [1], [60]), Running.of())
    assert columns_of(view).given.shape == (0,)


@pytest.mark.parametrize(
    ("waits", "runs", "used", "expected"),
    [
        (-1, -1, [], [0.0]),
        (-1, -1, [5.0], [5.0]),
        (0, -1, [], [0.0]),
        (0, 0, [5.0], [5.0]),
        (2, 0, [5.0], [5.0, 0.0, 0.0]),
        (0, 2, [5.0, 6.0], [5.0, 6.0, 0.0]),
        (1, 0, [5.0, 6.0, 7.0], [5.0, 6.0, 7.0]),
    ],
)
def test_each_user_of_a_view_has_one_entry_of_use(waits, runs, used, expected):
    waiting = Waiting.of([1], [0], [1], [60], user=[waits])
    running = Running.of([2], [1], [60], user=[runs])
    found = columns_of(SiteView(0.0, 2, 1, waiting, running, used=np.array(used))).used
    assert (found.tolist(), found.dtype) == (expected, np.float64)
