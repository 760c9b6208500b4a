"""The protocol of a cluster that the scaling engine drives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from windlass.model.instances import InstanceType
from windlass.scale import Demands, Totals

_Ints = NDArray[np.int64]


class ClusterError(RuntimeError):
    """A cluster does not answer or rejects a call; the message has the reason."""


@dataclass(frozen=True, slots=True)
class SeenMachine:
    """A machine of a cluster, for people to see: no decision reads it.

    Parameters
    ----------
    name
        Its name in the cluster.
    row
        The number of its type.
    state
        ``up``; ``starting``; ``drained``, if it accepts no more jobs; ``leaving``, if it is being removed;
        ``unreachable``, if it does not report and has jobs; or ``down``.
    held
        Cores that jobs request there.
    """

    name: str
    row: int
    state: str
    held: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class ClusterSnapshot:
    """The state of a cluster at one time; k types.

    Parameters
    ----------
    ready, coming, used
        (k,) see :class:`~windlass.scale.view.ScaleView`.
    running, waiting
        Requests of running and waiting jobs.
    machines
        The machines by name, also those that do not count; empty if the cluster does not name them.
    """

    ready: _Ints
    coming: _Ints
    used: _Ints
    running: Demands
    waiting: Demands
    machines: tuple[SeenMachine, ...] = ()


class ElasticSystem(Protocol):
    """A cluster from which instances can be requested. It knows no policy."""

    @property
    def types(self) -> tuple[InstanceType, ...]:
        """The available types of instances, smallest first."""
        ...

    def look(self) -> ClusterSnapshot:
        """Return the current state of the cluster; raise ClusterError if it does not answer."""
        ...

    def set_totals(self, totals: Totals, seen: ClusterSnapshot) -> None:
        """Request a total number of instances, including those with jobs; ClusterError if the cluster does not answer.

        It is called once a period, even without a change, so a call that fails midway is completed by a later one.
        Instances with jobs are never removed.
        """
        ...

    def describe(self, totals: Totals, seen: ClusterSnapshot) -> list[str]:
        """Describe what :meth:`set_totals` would do, one line each; nothing is changed."""
        ...
