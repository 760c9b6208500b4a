"""Maps placed for the shuffle behind them: when that is done, where they run then, and when it is the better way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba import types

from tests.place.plain_tetrium import _SOLVE
from tests.place.test_scarce import _SHUFFLE
from windlass.jit import Kernel
from windlass.place.lib.reverse import Behind, map_share
from windlass.place.lib.stage import StageLoad, StageResources

_floats = types.float64[::1]
_SHARE = Kernel(
    map_share.py_func,
    types.Tuple((types.float64, types.int64))(
        _floats,
        types.NamedUniTuple(_floats, 3, StageResources),
        types.NamedUniTuple(types.float64, 3, StageLoad),
        types.NamedUniTuple(types.float64, 2, Behind),
        types.int64,
        _floats,
        _floats,
    ),
)
FORWARD, REVERSE, BEST = range(3)


def drawn(seed):
    """A map stage and the shuffle behind it; for some cases links, slots, data or a shuffle are not there."""
    rng = np.random.default_rng([29, seed])
    n = int(rng.integers(2, 6))
    data, slots = rng.uniform(0.5, 9.0, n), rng.integers(1, 12, n).astype(float)
    up, down = 10 ** rng.uniform(-1, 1, (2, n))
    if seed % 3 == 0:
        for values, share in ((slots, 0.3), (up, 0.15), (down, 0.15), (data, 0.3)):
            values[rng.random(n) < share] = 0.0
    slots[0], data[0] = max(slots[0], 1.0), max(data[0], 0.5)
    work, budget = (
        float(rng.uniform(0.1, 30.0)),
        [math.inf, float(data.sum() * rng.uniform(0.2, 0.9))][seed % 2],
    )
    behind = Behind(float(rng.choice([0.0, 1.0, 40.0, 40.0])), float(rng.choice([0.0, 0.5, 4.0, 9.0])))
    return data, StageResources(slots, up, down), StageLoad(work, budget, 0.0), behind


def map_times(data, sites, work, share):
    """Transfer and compute time of maps at these shares, s."""
    sent = np.maximum(data - share * data.sum(), 0.0)
    got = np.maximum(share * data.sum() - data, 0.0)
    worst = [0.0]
    for amounts, paces, least in (
        (sent, sites.up, 1e-12 * data.sum()),
        (got, sites.down, 1e-12 * data.sum()),
    ):
        worst += [
            amount / pace if pace > 0 else math.inf
            for amount, pace in zip(amounts, paces, strict=True)
            if amount > least
        ]
    compute = [
        work * part / own if own > 0 else math.inf
        for part, own in zip(share, sites.slots, strict=True)
        if part
    ]
    return max(worst), max(compute)


def shuffled_s(data, sites, share, behind):
    """The best that the shuffle can do once maps ran at these shares, s."""
    n = len(share)
    written = share * data.sum() * behind.ratio
    found = _SOLVE[1].ready()(written, sites, StageLoad(behind.work, math.inf, 0.0), np.empty(n), np.empty(n))
    return found[0] + found[1] if found[2] == 0 else math.inf


@pytest.mark.matrix(0)
@pytest.mark.parametrize("direction", [FORWARD, REVERSE, BEST])
def test_maps_are_placed_by_the_direction(direction):
    ways = {"forward": 0, "reverse": 0}
    for seed in range(120):
        data, sites, load, behind = drawn(seed)
        n = len(data)
        own, own_most, share, most = (np.empty(n) for _ in range(4))
        transfer, compute, status, _ = _SOLVE[0].ready()(data, sites, load, own, own_most)
        took, found = _SHARE.ready()(data, sites, load, behind, direction, share, most)
        assert found == status
        if status != 0:
            continue
        back, slots = None, sites.slots
        if direction != FORWARD and behind.work > 0 and behind.ratio > 0:
            wanted, written = np.empty(n), data.sum() * behind.ratio
            portion = data / data.sum()
            _SHUFFLE.ready()(slots / slots.sum(), sites.up / written, sites.down / written, portion, wanted)
            wanted = np.where(slots > 0, wanted, 0.0)
            if wanted.sum() > 0:
                back = wanted / wanted.sum()
        if back is not None:
            there, then = map_times(data, sites, load.work, back)
            moved = np.maximum(0.0, data - back * data.sum()).sum()
            if there + then == math.inf or moved > load.budget:
                back = None
            elif direction == BEST:
                ahead = transfer + compute + shuffled_s(data, sites, own, behind)
                reverse = there + then + shuffled_s(data, sites, back, behind)
                if ahead == pytest.approx(reverse, rel=1e-9):
                    continue
                back = back if reverse < ahead else None
        ways["forward" if back is None else "reverse"] += 1
        if back is None:
            assert share.tolist() == own.tolist(), seed
            assert most.tolist() == own_most.tolist()
            assert took == transfer + compute
        else:
            assert share.tolist() == pytest.approx(back.tolist(), rel=1e-9, abs=1e-12), seed
            assert most.tolist() == share.tolist()
            assert took == pytest.approx(there + then, rel=1e-9)
    assert ways["reverse"] > 3 or direction == FORWARD
    assert ways["forward"] > 10
