"""Orders of jobs as plain Python: no policy reads or writes beyond its arrays, and all decide the same."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracles.interpreted import interpreted
from windlass.order.fleet import POLICIES
from windlass.order.fleet.policies.swag import Swag

CASES = {name: POLICIES.make(name, np.random.default_rng(0)) for name in POLICIES.names()}
CASES["own sites"] = Swag(own_sites=True, backlog=True)


def tables():
    """Yield small tables with jobs absent from some sites, and two with every job at every site."""
    for seed in range(30):
        rng = np.random.default_rng([3, seed])
        jobs, sites = int(rng.integers(1, 9)), int(rng.integers(1, 6))
        subjobs = rng.integers(0, 1 + 3 ** int(rng.integers(1, 4)), (jobs, sites))
        slots = rng.integers(1, 4, sites) if seed % 2 else np.full(sites, 2)
        yield subjobs * rng.integers(0, 2, (jobs, sites)), slots, rng.integers(0, 9, sites)
    rng = np.random.default_rng(4)
    for slots in (np.arange(1, 10), np.full(9, 3)):
        # Bottlenecks move with every choice here, so that SWAG falls back to the plain loop.
        yield rng.integers(0, 1001, (110, 9)), slots, np.zeros(9)


def orders_of(select, refine, arrays, options, found):
    """Return the rows that a policy writes; entries that it does not write keep the value `found`."""
    subjobs, slots, backlog = (np.ascontiguousarray(part, np.float64) for part in arrays)
    out = np.full((len(slots), len(subjobs)), found)
    with np.errstate(all="ignore"):
        rows = select(subjobs, slots, backlog, options, out)
        rows = refine(subjobs, slots, backlog, rows, out)
    same = all(
        np.array_equal(own, given) for own, given in zip((subjobs, slots, backlog), arrays, strict=True)
    )
    return rows, out[:rows].tolist(), same


@pytest.mark.parametrize("name", CASES)
def test_no_order_reads_or_writes_beyond_its_arrays(name):
    policy = CASES[name]
    select, refine = policy.select, policy.refine
    plain = interpreted(select.python), interpreted(refine.python)
    for arrays in tables():
        # As plain Python first: machine code that writes where it must not ends the process. A search over ten jobs
        # of many takes long as plain Python.
        small = name != "optimal" or len(arrays[0]) < 8
        written = orders_of(*plain, arrays, policy.options, -8) if small else None
        expected = orders_of(select.ready(), refine.ready(), arrays, policy.options, -7)
        assert written in (None, expected)
        rows, found, same = expected
        assert same
        assert all(sorted(row) == list(range(len(arrays[0]))) for row in found)
        assert rows in (1, len(arrays[1]))
