"""The part that takes cores of nodes away and brings them back, as a timetable says."""

from __future__ import annotations

import numpy as np

from windlass.model import InputError
from windlass.model.timetable import NodeTimetable
from windlass.sim.nodes import Ledger
from windlass.sim.part import Quiet


class Outages(Quiet):
    """Changes of a site's capacity: see :class:`windlass.sim.part.Part`.

    Parameters
    ----------
    timetable
        What changes when.
    ledger, site
        Whose rows the nodes are, in their order.

    Raises
    ------
    InputError
        A node that is not there, or more cores than it has; or jobs are to be killed on a pooled site, of which nobody
        can say which would have to die.

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
            raise InputError("outages: kill: a pooled site cannot say which jobs die; give its nodes")
        # Whoever holds cores of the site has to learn of it.
        if len(timetable):
            ledger.watch(site)
        self._timetable, self._ledger, self._first = timetable, ledger, rows.start
        self._times, self._next = np.append(timetable.time, np.inf), 0

    def horizon(self) -> float:
        """The next change."""
        return float(self._times[self._next])

    def alter(self, now: float) -> None:
        """Carry out what is due."""
        timetable = self._timetable
        while self._times[self._next] <= now:
            row = self._next
            node, cores = self._first + int(timetable.node[row]), int(timetable.cores[row])
            self._ledger.set_capacity(node, cores, vacate=bool(timetable.kill[row]))
            self._next += 1

    def result(self) -> NodeTimetable:
        """The timetable."""
        return self._timetable
