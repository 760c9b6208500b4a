"""Loads of other parts that run on the instances: batch and staged jobs, short tasks, and streaming queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.scale.view import Demands, ScaleView
from windlass.sim.demand import CoreDemand, ScaledLoad
from windlass.sim.instances.state import NONE, UP, InstanceTable
from windlass.sim.nodes import Nodes

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


class OtherLoads:
    """What loads of other parts use of the instances, and lack.

    Parameters
    ----------
    loads
        The parts.
    types
        Instance types, from the smallest to the largest.
    rows
        The ledger's rows of the instances.
    within
        Time in which a waiting short task should begin, s.
    site
        The site of the ledger.
    keeper
        Number in the ledger of the part that holds a share of each instance in any case; -1 for none.

    Raises
    ------
    InputError
        There are loads, but every type has GPUs or no cores.
    """

    def __init__(
        self,
        loads: Sequence[ScaledLoad],
        types: Sequence[InstanceType],
        rows: range,
        within: float,
        site: int = 0,
        keeper: int = NONE,
    ) -> None:
        self._loads, self._types, self._rows, self._within = tuple(loads), tuple(types), rows, within
        self._site, self._keeper = site, keeper
        self._plain = [at for at, kind in enumerate(types) if kind.gpus == 0 and kind.cores > 0]
        if loads and not self._plain:
            raise InputError("loads: every instance type has GPUs or no cores, expected one for other loads")
        #: The fewest cores that the loads have lacked since the last decision, and its time, s.
        self._known, self._decided = 0.0, -np.inf

    def __len__(self) -> int:
        return len(self._loads)

    def left(self) -> bool:
        """Return whether a load has work left."""
        return any(not load.ended() for load in self._loads)

    def finish(self) -> float:
        """Return when the last work of the loads ended, s; minus infinity without loads."""
        return max((load.finish() for load in self._loads), default=-np.inf)

    def lack_more(self) -> bool:
        """Return whether the loads lack cores for work that came after the last decision, or more cores than then."""
        demands = self._demands()
        lacking, came = self._total(demands), max((each.newest() for each in demands), default=-np.inf)
        more, self._known = lacking > self._known or came > self._decided, min(lacking, self._known)
        return more

    def note_decision(self, now: float) -> None:
        """Remember what the loads lack at an instant, s, as the policy has decided."""
        self._known, self._decided = self._total(self._demands()), now

    def add_to(self, view: ScaleView, fleet: InstanceTable, nodes: Nodes) -> ScaleView:
        """Return the view with what the loads use and lack."""
        requests = self._requests()
        waiting = Demands(
            np.concatenate((view.waiting.resources, requests.resources)),
            np.concatenate((view.waiting.since, requests.since)),
            np.concatenate((view.waiting.walltime, requests.walltime)),
        )
        alone = self._used(nodes) & (fleet.stage == UP) & (fleet.owner == NONE) & (fleet.jobs == 0)
        more = np.bincount(fleet.kind[alone], minlength=len(self._types))
        return replace(view, used=view.used + more, waiting=waiting)

    def needed(self, fleet: InstanceTable, nodes: Nodes) -> _Floats:
        """Return the instances of each type that the loads use or lack, in fractions: (k,)."""
        used = self._used(nodes) & (fleet.stage == UP)
        found = np.bincount(fleet.kind[used], minlength=len(self._types)).astype(np.float64)
        cores = self._requests().resources[:, 1]
        sizes = np.array([self._types[at].cores for at in self._plain])
        place = np.minimum(np.searchsorted(sizes, cores), len(sizes) - 1)
        np.add.at(found, np.array(self._plain, np.int64)[place], cores / sizes[place])
        return found

    def _demands(self) -> list[CoreDemand]:
        return [load.lacking(self._within, self._site) for load in self._loads]

    def _total(self, demands: Sequence[CoreDemand]) -> float:
        smallest = min((self._types[at].cores for at in self._plain), default=0.0)
        return sum(each.total(smallest) for each in demands)

    def _requests(self) -> Demands:
        demands = [each.requests(self._types) for each in self._demands()]
        if not demands:
            return Demands.none()
        return Demands(
            np.concatenate([each.resources for each in demands]),
            np.concatenate([each.since for each in demands]),
            np.concatenate([each.walltime for each in demands]),
        )

    def _used(self, nodes: Nodes) -> NDArray[np.bool_]:
        """Return for each instance whether a load holds cores or runs there; this part's own jobs count as well."""
        held = nodes.held[self._rows.start : self._rows.stop].copy()
        if self._keeper >= 0:
            held[:, self._keeper] = 0
        used: NDArray[np.bool_] = held.max(axis=1) > 0
        for load in self._loads:
            used |= load.uses(self._rows)
        return used
