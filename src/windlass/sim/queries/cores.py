"""The cores of the ledger that queries hold, cluster by cluster."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.model import InputError
from windlass.sim.ledger import Ledger
from windlass.sim.nodes import hold_rows, nodes_at

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]
#: Units of the ledger by which rounding may exceed the cores that fit.
_ROUNDING = 1e-6


def _hold_clusters(address, first, end, part, wanted, take):
    """Give back cores that rows have no longer, then what exceeds ``wanted``; with ``take``, take what lacks."""
    nodes = nodes_at(address)
    for cluster in range(len(first)):
        for row in range(first[cluster], end[cluster]):
            owed = min(-nodes.idle[row], nodes.held[row, part])
            if owed > 0:
                hold_rows(nodes, row, row + 1, part, -owed)
    for cluster in range(len(first)):
        more = wanted[cluster]
        for row in range(first[cluster], end[cluster]):
            more -= nodes.held[row, part]
        if more < 0 or (take and more > 0):
            hold_rows(nodes, first[cluster], end[cluster], part, more)


HOLD_CLUSTERS = Kernel(
    _hold_clusters,
    types.void(types.int64, types.int64[::1], types.int64[::1], types.int64, types.int64[::1], types.boolean),
    allocates=False,
)


class ClusterCores:
    """The rows of the ledger that form each cluster, and the cores that a part of queries holds there.

    Parameters
    ----------
    ledger
        The ledger.
    rows
        Rows of each cluster; see :func:`rows_of_clusters`.
    number
        The part's number in the ledger.
    units
        Units of the ledger in one core.
    keep
        Units reserved for the part in each cluster, from now until :meth:`release`; None for none.

    Raises
    ------
    InputError
        ``keep`` is not one number of at least 0 for each cluster.

    Examples
    --------
    A cluster of two nodes and one of a single row, in whole cores:

    >>> ledger = Ledger([[4, 4], [16]], parts=1)
    >>> cores = ClusterCores(ledger, [range(2), range(2, 3)], number=0, units=1)
    >>> cores.hold(np.array([5.5, 1.0]), take=True)
    >>> ledger.nodes.held[:, 0].tolist(), cores.available().tolist()
    ([4, 2, 1], [8.0, 16.0])
    """

    def __init__(
        self,
        ledger: Ledger,
        rows: Sequence[range],
        number: int,
        *,
        units: int,
        keep: Sequence[int] | None = None,
    ) -> None:
        keep = [0] * len(rows) if keep is None else keep
        if len(keep) != len(rows) or min(keep, default=0) < 0:
            raise InputError(
                f"keep is {list(keep)}, expected a number of at least 0 for each of {len(rows)} clusters"
            )
        self._ledger, self._clusters, self._number, self._units = ledger, tuple(rows), number, units
        self._rows = np.array([row for cluster in rows for row in cluster], np.int64)
        # Where the rows of each cluster begin in ``_rows``, for sums by cluster.
        self._begin = np.cumsum([0, *(len(cluster) for cluster in rows[:-1])])
        self._first = np.array([cluster.start for cluster in rows], np.int64)
        self._end = np.array([cluster.stop for cluster in rows], np.int64)
        self._hold = HOLD_CLUSTERS.entry()
        self._site, self._keep = ledger.nodes.site[self._rows[self._begin]], np.array(keep, np.int64)
        for site in sorted(set(self._site.tolist())):
            ledger.watch(site)
        for site, cores in zip(self._site.tolist(), keep, strict=True):
            ledger.reserve(site, number, cores)
        self.hold(np.zeros(len(rows)), take=True)

    @property
    def keep(self) -> _Ints:
        """The (clusters,) units that are reserved for the part now; :meth:`release` changes this array."""
        return self._keep

    def available(self) -> _Floats:
        """Return (clusters,) the cores that the part holds or may take, within its limit."""
        nodes, part = self._ledger.nodes, self._number
        free = np.add.reduceat(
            np.maximum(nodes.idle[self._rows] + nodes.held[self._rows, part], 0), self._begin
        )
        most = nodes.most[self._site, part]
        cores: _Floats = np.where(most < 0, free, np.minimum(free, most)) / self._units
        return cores

    def owes(self) -> bool:
        """Return whether the part holds more cores than a row still has."""
        nodes, part = self._ledger.nodes, self._number
        return bool(((nodes.idle[self._rows] < 0) & (nodes.held[self._rows, part] > 0)).any())

    def hold(self, cores: _Floats, take: bool) -> None:
        """Hold (clusters,) cores, rounded up to units in each cluster; without ``take``, only release some."""
        wanted = np.maximum(np.ceil(cores * self._units - _ROUNDING).astype(np.int64), self._keep)
        self._hold(self._ledger.address, self._first, self._end, self._number, wanted, take)

    def take_kept(self) -> None:
        """Take the idle cores that the part keeps and does not hold, as after an outage."""
        if not self._keep.any():
            return
        held = np.add.reduceat(self._ledger.nodes.held[self._rows, self._number], self._begin)
        for cluster in np.flatnonzero(held < self._keep).tolist():
            lacking = int(self._keep[cluster] - held[cluster])
            self._ledger.hold_among(self._clusters[cluster], self._number, lacking)

    def release(self) -> None:
        """Give all cores back, and keep none from now on."""
        self._keep[:] = 0
        self.hold(np.zeros(len(self._clusters)), take=False)


def rows_of_clusters(ledger: Ledger, clusters: int, site: int, at: Sequence[int] | None) -> list[range]:
    """Return the rows of each cluster: with ``at``, all rows of its site; otherwise one row of ``site``.

    Raises
    ------
    InputError
        A site does not exist or is named twice, or there is not one row, or one site, for each cluster.

    Examples
    --------
    >>> ledger = Ledger([[4, 4], [16]], parts=1)
    >>> rows_of_clusters(ledger, 2, 0, None), rows_of_clusters(ledger, 2, 0, (1, 0))
    ([range(0, 1), range(1, 2)], [range(2, 3), range(0, 2)])
    """
    if at is None:
        rows = ledger.rows(site)
        if len(rows) != clusters:
            raise InputError(
                f"site {site} of the ledger has {len(rows)} rows, expected {clusters}: one a cluster"
            )
        return [range(row, row + 1) for row in rows]
    sites = len(ledger.nodes.total)
    if len(at) != clusters or len(set(at)) < clusters or not set(at) <= set(range(sites)):
        raise InputError(
            f"at is {list(at)}, expected for each of {clusters} clusters a site of its own, 0 to {sites - 1}"
        )
    return [ledger.rows(each) for each in at]
