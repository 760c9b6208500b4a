"""In-place placement compared with a plain version, and its wake times."""

from __future__ import annotations

import numpy as np
import pytest

from tests.place.test_scarce import scarce_view
from windlass.place.functions.in_place import wanted_in_place
from windlass.place.functions.whole import ReducePlan, whole_reduce
from windlass.place.policies.gather import Gather
from windlass.place.policies.in_place import InPlace
from windlass.place.policies.tetrium import Tetrium
from windlass.place.view import PlaceView, Ready, Sites


def wanted(view: PlaceView) -> np.ndarray:
    """Maps where their input lies; of a shuffle, by data where there are slots, what has not begun."""
    found, sites, ready = view.ready.here.copy(), view.sites, view.ready
    for row in np.flatnonzero(ready.shuffles).tolist():
        share = np.where(sites.slots > 0, ready.data[row], 0.0)
        share = share if share.sum() > 0 else sites.slots.astype(float)
        whole = whole_reduce(ReducePlan(share / max(share.sum(), 1e-300), 0.0, 0.0), int(ready.total[row]))
        left = np.maximum(0, whole - ready.started[row])
        while left.sum() > ready.waiting[row]:
            left[int(left.argmax())] -= 1
        found[row] = left
    return found


def in_place(view: PlaceView, delay: float) -> np.ndarray:
    """(m, n, n) tasks that start, by where they read, or would, and by where they run."""
    sites, ready, want = view.sites, view.ready, wanted(view)
    m, n = want.shape
    found, free = np.zeros((m, n, n), int), np.maximum(sites.free, 0)
    held = [int(ready.running[ready.job == job].sum()) for job in ready.job.tolist()]
    for x in range(n):
        for _ in range(int(free[x])):
            rows = [row for row in range(m) if want[row, x] > 0]
            if not rows:
                break
            row = min(rows, key=lambda row: (held[row], row))
            found[row, x, x] += 1
            want[row, x] -= 1
            held[row] += 1
    left = np.where(sites.down > 0, free, 0) - found.sum(axis=(0, 1))
    for row in range(m):
        late = delay > 0 and view.now >= ready.since[row] + delay
        for x in range(n):
            if ready.shuffles[row] or sites.up[x] <= 0 or not (late or sites.slots[x] == 0):
                continue
            y = int(left.argmax())
            take = min(want[row, x], left[y])
            if take > 0 and y != x:
                found[row, x, y] += take
                left[y] -= take
                want[row, x] -= take
    return found


@pytest.mark.parametrize("delay", [0.0, 2.0])
def test_starts_equal_the_plain_version(delay):
    elsewhere = 0
    for seed in range(120):
        view = scarce_view(seed)
        rng = np.random.default_rng(seed)
        since = rng.choice([0.0, 3.0, 4.0, 5.5], len(view.ready.job))
        sites = view.sites
        if seed % 2:
            # All slots of a site are free or none, so that tasks wait at one while others have room.
            sites = sites._replace(free=sites.slots * 3 * rng.integers(0, 2, len(sites.slots)))
            sites = sites._replace(slots=sites.slots * 3)
        view = PlaceView(6.0, sites, view.ready._replace(since=since))
        starts = InPlace(delay).decide(view).starts
        found = np.zeros((*view.ready.here.shape, len(view.sites.slots)), int)
        for row, source, site, tasks in starts.tolist():
            found[row, site if source < 0 else source, site] += tasks
        assert found.tolist() == in_place(view, delay).tolist(), seed
        elsewhere += int((starts[:, 1] != starts[:, 2])[starts[:, 1] >= 0].sum())
    assert elsewhere > (10 if delay == 0.0 else 30)


def test_wanted_tasks_equal_the_plain_version():
    for seed in range(120):
        view = scarce_view(seed)
        assert wanted_in_place(view.sites, view.ready).tolist() == wanted(view).tolist(), seed


def test_with_a_delay_the_policy_wakes_when_the_next_stage_has_waited():
    sites = Sites.of(slots=[2, 2], up=[1e9] * 2, down=[1e9] * 2, free=[0, 2])
    ready = Ready.of(
        [0, 0, 1], 1.0, [[3, 0], [3, 0], [0, 0]], data=[[0, 0], [0, 0], [1e6, 0]], waiting=[0, 0, 4]
    )

    def wake(delay, since, what=ready, now=10.0):
        return InPlace(delay).decide(PlaceView(now, sites, what._replace(since=np.array(since)))).wake

    assert wake(0.0, [9.0, 8.0, 9.5]) == np.inf
    # The shuffle, which came last, does not wait for a slot at its input.
    assert wake(5.0, [9.0, 8.0, 9.9]) == 13.0
    near = Ready.of(0, 1.0, [[0, 1], [3, 0]])
    assert wake(5.0, [9.0, 9.5], near) == 14.0
    assert wake(5.0, [1.0, 2.0], near) == 15.0
    assert wake(5.0, [1.0, 2.0], Ready.of(0, 1.0, [[0, 0], [0, 0]])) == np.inf


@pytest.mark.parametrize(("order", "largest"), [("largest", True), ("given", False)])
def test_an_answer_has_the_order_of_tasks(order, largest):
    view = PlaceView(0.0, Sites.of([1], [1e9], [1e9]), Ready.of(0, 1.0, [[1]]))
    assert Tetrium(reduce_order=order).decide(view).largest_first == largest
    assert Gather().decide(view).largest_first
    assert not InPlace().decide(view).largest_first


def test_integers_are_accepted_for_float_columns():
    whole = Ready.of(
        [0, 1], 2, [[3, 1], [0, 0]], 5, data=[[0, 0], [7, 9]], waiting=[0, 4], next_work=1, ratio=2
    )
    real = Ready.of(
        [0, 1],
        2.0,
        [[3, 1], [0, 0]],
        5.0,
        data=[[0.0, 0.0], [7.0, 9.0]],
        waiting=[0, 4],
        next_work=1.0,
        ratio=2.0,
    )
    for name, own, other in zip(Ready._fields, whole, real, strict=True):
        assert (name, own.dtype, own.tolist()) == (name, other.dtype, other.tolist())
    assert real.data.tolist() == [[15.0, 5.0], [7.0, 9.0]]
    assert real.waiting.tolist() == real.total.tolist() == [4, 4]
    assert (real.job.tolist(), real.left.tolist()) == ([0, 1], [1, 1])
