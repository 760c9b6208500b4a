"""The log of sharing pairs, as columns."""

from __future__ import annotations

import numpy as np

from windlass.sim.shares.log import QuotaLog


def test_an_empty_log_has_columns_of_the_same_types():
    empty, log = QuotaLog().result(5.0, 2, 3), QuotaLog()
    log.change(4, 7, 30, 1.0, "idle")
    log.change(5, 8, 40, 2.0, "busy")
    log.end(4, 3.0)
    full = log.result(9.0, 1, 6)
    for found in (empty, full):
        kinds = [getattr(found, name).dtype for name in ("host", "guest", "quota", "start", "end")]
        assert kinds == [np.int64] * 3 + [np.float64] * 2
    assert (empty.quota.tolist(), empty.why, empty.evicted, empty.decisions) == ([], (), 2, 3)
    assert (full.host.tolist(), full.guest.tolist(), full.quota.tolist()) == ([4, 5], [7, 8], [30, 40])
    assert (full.start.tolist(), full.end.tolist(), full.why) == ([1.0, 2.0], [3.0, 9.0], ("idle", "busy"))
