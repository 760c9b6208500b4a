"""What the engine of scaling needs of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from windlass.model.instances import InstanceType
from windlass.scale import Demands, Totals

_Ints = NDArray[np.int64]


class ClusterError(RuntimeError):
    """A cluster did not answer, or refused to; says which and why in one line. Nothing was changed by that call."""


@dataclass(frozen=True, slots=True, eq=False)
class ClusterSnapshot:
    """A cluster at one instant; k types.

    Parameters
    ----------
    ready, coming, used
        (k,) as in a :class:`~windlass.scale.view.ScaleView`.
    running, waiting
        What jobs ask for.
    """

    ready: _Ints
    coming: _Ints
    used: _Ints
    running: Demands
    waiting: Demands


class ElasticSystem(Protocol):
    """A cluster that can be asked for instances. It knows no policy."""

    @property
    def types(self) -> tuple[InstanceType, ...]:
        """Which instances can be had, smallest first."""
        ...

    def look(self) -> ClusterSnapshot:
        """The cluster as it is now; ClusterError where it does not answer."""
        ...

    def set_totals(self, totals: Totals, seen: ClusterSnapshot) -> None:
        """Have so many instances in all, those that hold jobs included; ClusterError where it does not answer.

        Said again and again, with no change. It never takes an instance away that holds a job.
        """
        ...

    def describe(self, totals: Totals, seen: ClusterSnapshot) -> list[str]:
        """What :meth:`set_totals` would do, a line each; nothing is changed."""
        ...
