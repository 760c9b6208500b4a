"""Plain versions of the steps of streams and of the cores that they hold, array by array and row by row.

The package's compiled versions have to give the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from windlass.sim.ledger import Ledger
from windlass.sim.queries.streams import Streams


def advance(streams: Streams, seconds: float, buffer: float, deadline: float) -> None:
    """Advance by a time in which no rate changes, s."""
    silent = streams.present & ~streams.works
    streams.arrived[streams.present] += seconds
    streams.lost[silent] += seconds
    streams.silent[silent] += seconds
    works = np.flatnonzero(streams.works)
    before, rate = streams.waiting[works], streams.rate[works]
    after = before + (1.0 - rate) * seconds
    lost = np.maximum(after - buffer, 0.0)
    after = np.where(after < 1e-9, 0.0, after - lost)
    served = before + seconds - lost - after
    streams.waiting[works] = after
    streams.lost[works] += lost
    streams.served[works] += served
    streams.accurate[works] += streams.accuracy[works] * served
    late = _late(before, 1.0 - rate, seconds, buffer, deadline)
    streams.late[works] += np.minimum(rate * late, served)


def _late(
    before: np.ndarray, growth: np.ndarray, seconds: float, buffer: float, deadline: float
) -> np.ndarray:
    if buffer <= deadline:
        return np.zeros(len(before))
    over = before - deadline
    crossing = np.clip(-over / np.where(growth == 0.0, 1.0, growth), 0.0, seconds)
    steady = np.where(over > 0.0, seconds, 0.0)
    return np.where(growth > 0.0, seconds - crossing, np.where(growth < 0.0, crossing, steady))


def hold(ledger: Ledger, clusters: Sequence[range], part: int, wanted: Sequence[int], take: bool) -> None:
    """Give back cores that rows have no longer, then hold what is wanted; without ``take``, only release some."""
    nodes = ledger.nodes
    held = [int(nodes.held[cluster.start : cluster.stop, part].sum()) for cluster in clusters]
    for at, cluster in enumerate(clusters):
        for row in cluster:
            owed = int(min(max(-nodes.idle[row], 0), nodes.held[row, part]))
            if owed:
                ledger.hold(row, part, -owed)
                held[at] -= owed
    for cluster, before, after in zip(clusters, held, wanted, strict=True):
        if after < before or (take and after > before):
            ledger.hold_among(cluster, part, after - before)
