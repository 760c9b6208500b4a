"""The part that changes the capacity of nodes by a timetable."""

from __future__ import annotations

import numpy as np

from windlass.model import InputError
from windlass.model.timetable import NodeTimetable
from windlass.sim.ledger import Ledger
from windlass.sim.part import Concerns, Quiet


class Outages(Quiet):
    """Changes of a site's capacity: see :class:`windlass.sim.part.Part`.

    Parameters
    ----------
    timetable
        The changes.
    ledger, site
        The site whose rows are the nodes, in their order.

    Raises
    ------
    InputError
        A node does not exist or has fewer cores; jobs are to be killed on a pooled site, which does not record the
        node of a job; or another part sets the capacity of a node in the timetable.

    Examples
    --------
    >>> ledger = Ledger([[4, 4]], parts=0)
    >>> outages = Outages(NodeTimetable.outage(1, 5.0, None, cores=4), ledger)
    >>> outages.horizon()
    5.0
    >>> outages.alter(5.0)
    >>> ledger.nodes.capacity.tolist(), outages.horizon()
    ([4, 0], inf)
    """

    def __init__(self, timetable: NodeTimetable, ledger: Ledger, site: int = 0) -> None:
        rows = ledger.rows(site)
        if len(timetable) and timetable.node.max() >= len(rows):
            raise InputError(f"outages: node {timetable.node.max()}, expected 0 to {len(rows) - 1}")
        whole = ledger.nodes.whole[rows.start + timetable.node]
        if (timetable.cores > whole).any():
            row = int(np.argmax(timetable.cores > whole))
            raise InputError(
                f"outages: cores of row {row} is {timetable.cores[row]}, the node has {whole[row]}"
            )
        if ledger.pooled(site) and timetable.kill.any():
            raise InputError(
                "outages: kill: a pooled site cannot tell which jobs run on a node; describe its nodes instead"
            )
        ledger.own(np.unique(rows.start + timetable.node), "outages")
        # Holders of the site's cores must be notified.
        if len(timetable):
            ledger.watch(site)
        self._timetable, self._ledger, self._first = timetable, ledger, rows.start
        self._times, self._next = np.append(timetable.time, np.inf), 0

    def concerns(self) -> Concerns:
        """Return nothing: the timetable does not depend on other parts."""
        return Concerns()

    def horizon(self) -> float:
        """Return the instant of the next change."""
        return float(self._times[self._next])

    def alter(self, now: float) -> None:
        """Apply the changes that are due."""
        timetable = self._timetable
        while self._times[self._next] <= now:
            row = self._next
            node, cores = self._first + int(timetable.node[row]), int(timetable.cores[row])
            self._ledger.set_capacity(node, cores, vacate=bool(timetable.kill[row]))
            self._next += 1

    def result(self) -> NodeTimetable:
        """Return the timetable."""
        return self._timetable
