"""The cores that a load lacks, from which an autoscaler derives the instances to launch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from windlass.model.instances import InstanceType
from windlass.scale.view import Demands
from windlass.sim.part import Part

_Floats = NDArray[np.float64]
_Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class CoreDemand:
    """Waiting work that the idle cores of its nodes do not suffice for, as columns.

    Parameters
    ----------
    cores
        (n,) cores that each job lacks; infinity for one more instance of any size.
    since
        (n,) since when it waits, s.
    walltime
        (n,) its time limit, s; infinity if it has none.
    """

    cores: _Floats
    since: _Floats
    walltime: _Floats

    @staticmethod
    def none() -> CoreDemand:
        """Return the demand of a load that lacks nothing."""
        return CoreDemand(np.empty(0), np.empty(0), np.empty(0))

    def newest(self) -> float:
        """Return since when the job waits that came last, s; minus infinity without one."""
        return float(self.since.max(initial=-np.inf))

    def total(self, smallest: float) -> float:
        """Return the sum of the cores, where an instance of any size has ``smallest``: that of :meth:`requests`.

        >>> CoreDemand(np.array([10.0, np.inf]), np.zeros(2), np.full(2, np.inf)).total(4.0)
        14.0
        """
        return float(np.where(np.isinf(self.cores), smallest, self.cores).sum()) if len(self.cores) else 0.0

    def requests(self, types: Sequence[InstanceType]) -> Demands:
        """Return the demand as requests that each fit on an instance without GPUs.

        A job that lacks more cores than the largest type has makes several requests.

        Parameters
        ----------
        types
            Types of instances, at least one of them without GPUs and with cores.

        Examples
        --------
        >>> demand = CoreDemand(np.array([10.0, np.inf]), np.zeros(2), np.full(2, np.inf))
        >>> demand.requests([InstanceType("small", cores=4), InstanceType("large", cores=8)]).resources[:, 1].tolist()
        [8.0, 2.0, 4.0]
        """
        sizes = [kind.cores for kind in types if kind.gpus == 0 and kind.cores > 0]
        smallest, largest = min(sizes), np.floor(max(sizes))
        cores = np.where(np.isinf(self.cores), smallest, self.cores)
        pieces = np.maximum(np.ceil(cores / largest), 1).astype(np.int64)
        row = np.repeat(np.arange(len(cores)), pieces)
        place = np.arange(len(row)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        vectors = np.zeros((len(row), 3))
        vectors[:, 1] = np.minimum(cores[row] - largest * place, largest)
        return Demands(vectors, self.since[row], self.walltime[row])


class ScaledLoad(Part, Protocol):
    """A part whose load runs on instances of an autoscaler, next to other nodes or on instances only."""

    def lacking(self, within: float, site: int) -> CoreDemand:
        """Return the cores that its waiting work lacks at a site, if the work is to begin within ``within`` seconds.

        A load of one site, or whose work may run on all of its sites, returns the same for each of them.
        """
        ...

    def finish(self) -> float:
        """Return when the last of its work so far ended, s; minus infinity if none has."""
        ...

    def uses(self, rows: Sequence[int]) -> _Bools:
        """Return for each row of the ledger whether work runs there without holding cores."""
        ...
