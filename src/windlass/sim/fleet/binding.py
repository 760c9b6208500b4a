"""The mapping of a fleet's sites to sites of a ledger, whose cores are its slots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.fleet import FleetCase
from windlass.sim.fleet.state import FleetState
from windlass.sim.ledger import Ledger

_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class FleetCores:
    """Sites of a ledger whose cores are the slots of a fleet, so that other parts can use the same nodes.

    The slots of a site are the cores that tasks of the fleet hold and those that are idle. A task takes one core when
    it starts and gives it back when it ends. If its row is vacated, the task is requeued, and its work is lost.

    Parameters
    ----------
    ledger
        The ledger.
    sites
        For each site of the fleet, the number of a site of the ledger, all different.
    number
        The part's number in the ledger; None for a number that no part has.

    Examples
    --------
    >>> from windlass.model.fleet import Fleet, fixed_table
    >>> from windlass.order.fleet.compiled import in_loop
    >>> from windlass.order.fleet.policies.swag import Swag
    >>> from windlass.sim.coupled import Coupled
    >>> from windlass.sim.fleet.part import OrderedFleet
    >>> ledger = Ledger([[2, 2], [8]], parts=1)
    >>> case = FleetCase(Fleet.of(slots=[4, 8]), fixed_table([0.0], [[5, 1]], [3.0] * 6))
    >>> part = OrderedFleet(case, in_loop(Swag()), cores=FleetCores(ledger, (0, 1)))
    >>> cluster = Coupled([part], ledger)
    >>> cluster.wait(), cluster.result()[0].end.tolist()
    (None, [6.0])
    """

    ledger: Ledger
    sites: tuple[int, ...]
    number: int | None = None

    def join(self, case: FleetCase) -> int:
        """Register the fleet as a part of the ledger, and return its number.

        Parameters
        ----------
        case
            The fleet, its jobs, and the timetable of its links.

        Raises
        ------
        InputError
            A site of the ledger does not exist or occurs twice. A site of the fleet has other slots than the ledger's
            site has cores. The timetable changes slots. Other parts may hold all cores of a site whose tasks cannot run
            elsewhere. Another part has the number.
        """
        fleet, ledger = case.fleet, self.ledger
        if len(self.sites) != len(fleet):
            raise InputError(
                f"sites has {len(self.sites)} entries, expected one for each of {len(fleet)} sites"
            )
        if len(set(self.sites)) < len(self.sites):
            raise InputError(f"sites is {self.sites}, expected each site of the ledger at most once")
        for site in self.sites:
            if not 0 <= site < len(ledger.nodes.total):
                raise InputError(f"sites: {site}, expected 0 to {len(ledger.nodes.total) - 1}")
        for name, slots, site in zip(fleet.names, fleet.slots.tolist(), self.sites, strict=True):
            cores = ledger.whole(site)
            if slots != cores:
                raise InputError(
                    f"slots of {name} is {slots}, expected the {cores} cores of site {site} of the ledger"
                )
        changes = case.timetable
        other = np.flatnonzero(changes.slots != fleet.slots[changes.site])
        if len(other):
            row, site = other[0], changes.site[other[0]]
            raise InputError(
                f"timetable: slots of {fleet.names[site]} becomes {changes.slots[row]}, expected {fleet.slots[site]}: "
                "with a ledger, the timetable may change only links; use Outages to change cores"
            )
        number = ledger.join(self.sites[0], self.number)
        self._check_cores_left(case, number)
        for site in self.sites:
            ledger.watch(site)
        return number

    def _check_cores_left(self, case: FleetCase, number: int) -> None:
        """Raise an error if other parts may hold all cores of a site whose tasks can run nowhere else."""
        if case.fleet.linked:
            return
        for site in np.unique(case.jobs.site[case.jobs.site >= 0]).tolist():
            if self.ledger.left_by_others(self.sites[site], number) == 0:
                raise InputError(
                    f"{case.fleet.names[site]} has tasks, but other parts may hold all of its cores, so they may never "
                    "start"
                )

    def fleet_sites(self) -> _Ints:
        """Return the fleet's site for each site of the ledger, or -1."""
        found = np.full(len(self.ledger.nodes.total), -1)
        found[list(self.sites)] = np.arange(len(self.sites))
        return found

    def fill(self, state: FleetState, number: int) -> None:
        """Set the sites of the ledger, and the slots that they have now.

        Parameters
        ----------
        state
            The fleet's state, made for the rows of this ledger.
        number
            The part's number in the ledger.
        """
        nodes, sites = self.ledger.nodes, list(self.sites)
        most = nodes.most[sites, number]
        free = np.where(most < 0, nodes.total[sites], np.minimum(nodes.total[sites], most))
        state.sites["ledger"], state.sites["slots"], state.sites["free"] = sites, free, free
        state.slots[:] = np.maximum(free, 1)
        state.run["part"], state.run["closed"] = number, (free == 0).sum()
