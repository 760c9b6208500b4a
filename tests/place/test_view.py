"""Views of placement built by hand: given values are kept, and defaults are as documented."""

import math

import numpy as np
import pytest

from windlass.place import POLICIES
from windlass.place.policies.tetrium import Tetrium
from windlass.place.view import Placement, PlaceView, Ready, Sites


def columns_of(record):
    return {name: getattr(record, name).tolist() for name in record._fields}


def test_a_ready_stage_has_no_started_tasks_by_default():
    assert columns_of(Ready.of([0, 0], 2.0, [[1, 2], [3, 0]], [10.0, 5.0])) == {
        "job": [0, 1],
        "left": [1, 1],
        "shuffles": [0, 0],
        "total": [3, 3],
        "waiting": [3, 3],
        "task_s": [2.0, 2.0],
        "next_work": [0.0, 0.0],
        "ratio": [1.0, 1.0],
        "since": [0.0, 0.0],
        "here": [[1, 2], [3, 0]],
        "data": [[10.0, 20.0], [15.0, 0.0]],
        "started": [[0, 0], [0, 0]],
        "running": [[0, 0], [0, 0]],
        "plan": [[-1, -1], [-1, -1]],
    }


def test_given_columns_of_a_stage_are_kept():
    ready = Ready.of(
        [0, 1, 1],
        [2.0, 3.0, 4.0],
        [[1, 2], [0, 0], [0, 0]],
        data=[[7.0, 7.0], [8.0, 1.0], [0.0, 4.0]],
        waiting=[9, 5, 6],
        job=[4, 4, 6],
        left=[3, 2, 1],
        next_work=[0.5, 0.25, 0.125],
        ratio=[2.0, 3.0, 4.0],
    )
    found = columns_of(ready)
    # Maps count by the input that is there, of a byte a task where none is named; shuffles as they are given.
    assert (found["data"], found["waiting"]) == ([[1.0, 2.0], [8.0, 1.0], [0.0, 4.0]], [3, 5, 6])
    assert (found["job"], found["left"], found["task_s"]) == ([4, 4, 6], [3, 2, 1], [2.0, 3.0, 4.0])
    assert (found["next_work"], found["ratio"]) == ([0.5, 0.25, 0.125], [2.0, 3.0, 4.0])
    assert (found["shuffles"], found["total"]) == ([0, 1, 1], [3, 5, 6])
    # Each column is its own: what is written to one is not seen in another.
    ready.waiting[:] = 0
    ready.started[:] = 1
    assert ready.total.tolist() == [3, 5, 6]
    assert ready.running.tolist() == [[0, 0]] * 3


def test_sites_are_idle_by_default():
    slots, up, down = np.array([3, 4]), np.array([1e9, 2e9]), np.array([3e9, 4e9])
    sites = Sites.of(slots, up, down)
    assert columns_of(sites) == {
        "slots": [3, 4],
        "free": [3, 4],
        "up": [1e9, 2e9],
        "down": [3e9, 4e9],
        "up_free": [1e9, 2e9],
        "down_free": [3e9, 4e9],
    }
    for part in (sites.free, sites.up_free, sites.down_free):
        part[:] = 0
    assert {part.dtype for part in Sites.of([1], [2], [3], free=[1.0])[2:]} == {np.dtype(np.float64)}
    assert {part.dtype for part in Sites.of([1.0], [2], [3], free=[1.0])[:2]} == {np.dtype(np.int64)}
    assert (sites.slots.tolist(), sites.up.tolist(), sites.down.tolist()) == ([3, 4], [1e9, 2e9], [3e9, 4e9])
    assert Sites.of(slots, up, down, free=[1, -1]).free.tolist() == [1, -1]


def test_defaults_of_views_and_answers():
    sites = Sites.of([3], [1e9], [1e9])
    view = PlaceView(0.0, sites, Ready.of(0, 1.0, [[2], [1]]))
    assert (view.fresh.tolist(), view.changed, view.moved) == ([1, 1], False, True)
    assert PlaceView(0.0, sites, view.ready, np.array([0, 1])).fresh.tolist() == [0, 1]
    answer = Placement(np.empty((0, 4), np.int64), np.empty(0, np.int64), ())
    assert (answer.moves.shape, answer.plan, answer.largest_first, answer.wake) == (
        (0, 4),
        None,
        False,
        math.inf,
    )


def test_columns_have_fixed_dtypes_for_any_input():
    ready = Ready.of(
        [1.0], [1], [[0.0, 0.0]], 1, data=[[1, 2]], waiting=[3.0], job=[4.0], next_work=[1], ratio=[2]
    )
    whole = {"job", "left", "shuffles", "total", "waiting", "here", "started", "running", "plan"}
    assert {name for name in ready._fields if getattr(ready, name).dtype == np.int64} == whole
    assert {getattr(ready, name).dtype for name in set(ready._fields) - whole} == {np.dtype(np.float64)}
    assert all(getattr(ready, name).flags.c_contiguous for name in ready._fields)


@pytest.mark.matrix
@pytest.mark.parametrize("name", POLICIES.names())
def test_without_waiting_tasks_or_free_slots_nothing_starts(name):
    policy = POLICIES.make(name, np.random.default_rng(0))
    sites = Sites.of([3, 2], [1e9, 1e9], [1e9, 1e9])
    nothing = Ready.of(np.empty(0), np.empty(0), np.empty((0, 2)))
    assert policy.decide(PlaceView(0.0, sites, nothing)).starts.shape == (0, 4)
    waits = Ready.of([0, 1], 1.0, [[2, 1], [0, 0]], data=[[1.0, 1.0], [1.0, 1.0]], waiting=[3, 2])
    full = Sites.of([3, 2], [1e9, 1e9], [1e9, 1e9], free=[0, 0])
    for changed in (False, True):
        assert policy.decide(PlaceView(0.0, full, waits, changed=changed)).starts.shape == (0, 4)


@pytest.mark.parametrize("direction", ["reverse", "best"])
def test_maps_with_no_shuffle_behind_them_are_placed_forward(direction):
    sites = Sites.of([2, 20, 5], [1e9, 2e8, 1e9], [1e9, 5e8, 1e8])
    ready = Ready.of(0, 2.0, [[30, 4, 10]], 1e8, next_work=0.0)
    forward, other = (
        Tetrium(direction=way).decide(PlaceView(0.0, sites, ready)).starts.tolist()
        for way in ("forward", direction)
    )
    assert other == forward
