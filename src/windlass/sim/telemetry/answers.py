"""The nodes' answers at the end of a gated policy's ``ints``, and tasks by answer.

The loop of small tasks is then the same with and without admission, and reads an answer as fast as an array entry:

============================  ======================================================================
part of ``ints``              what it is
============================  ======================================================================
m numbers                     the dispatch policy's own state
room                          for :mod:`windlass.sim.telemetry.gate`: m numbers; for
                              :mod:`windlass.sim.telemetry.late_gate`: n numbers
``LIMITED``                   nodes that reject all tasks, or have a limit
``ACCEPTED``                  tasks that their first choice accepted
``DIVERTED``                  tasks that their first choice rejected, and that another node got
``FORCED``                    tasks that their first choice got although it rejected them, as all did
``REFUSES``                   1 if a task that all present nodes reject is refused, 0 if a node gets it
``FULL``                      with late binding, 1 while all present nodes reject and tasks that arrive are refused
n numbers from ``LIMITS``     most tasks that each node has at once: 0 if it rejects all tasks,
                              ``NO_LIMIT`` if it rejects none
============================  ======================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.admit.site import NO_LIMIT as NO_LIMIT
from windlass.dispatch.state import WORKERS
from windlass.jit import inlined
from windlass.model import InputError

#: Places behind the policy's state and the room, of single numbers and of the first answer.
LIMITED, ACCEPTED, DIVERTED, FORCED, REFUSES, FULL, LIMITS = range(7)


@inlined
def gate_at(ints):
    """Return the place behind the policy's state and the room."""
    return len(ints) - LIMITS - ints[WORKERS]


@dataclass(frozen=True, slots=True)
class Counts:
    """Tasks by the answer of a node.

    If dispatch binds at once, the node is the first choice. If it binds late, a task has no first choice: the node is
    the one that takes it, and no task is diverted.

    Parameters
    ----------
    accepted
        Tasks that the node accepted.
    diverted, forced
        Tasks that the node rejected: those that another node got, and those that stayed because all nodes rejected.
    refused
        Tasks that all nodes rejected, and that were refused.
    """

    accepted: int
    diverted: int
    forced: int
    refused: int = 0

    @property
    def rejected(self) -> int:
        """Tasks that the node rejected: diverted, forced and refused ones."""
        return self.diverted + self.forced + self.refused

    def since(self, before: Counts) -> Counts:
        """Return the tasks that were not counted before.

        Parameters
        ----------
        before
            Earlier counts of the same run.

        Examples
        --------
        >>> Counts(9, 2, 0, 5).since(Counts(4, 1, 0, 2))
        Counts(accepted=5, diverted=1, forced=0, refused=3)
        """
        return Counts(
            self.accepted - before.accepted,
            self.diverted - before.diverted,
            self.forced - before.forced,
            self.refused - before.refused,
        )


def limits_of(rejects: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return (n,) the limits of nodes that reject all tasks or none.

    >>> limits_of(np.array([True, False])).tolist() == [0, NO_LIMIT]
    True
    """
    return np.where(rejects, 0, NO_LIMIT)


def set_answers(states: NDArray[np.int64], limits: NDArray[np.int64]) -> None:
    """Set the answers of all nodes, for the tasks that come from now on.

    Parameters
    ----------
    states
        (k, …) the gated policy's ``ints``, one row for each scheduler.
    limits
        (n,) most tasks that each node has at once; 0 if it rejects all, :data:`NO_LIMIT` if it rejects none.

    Raises
    ------
    InputError
        Not one answer for each node.
    """
    workers = int(states[0, WORKERS])
    if limits.shape != (workers,):
        raise InputError(f"limits have shape {limits.shape}, expected ({workers},)")
    states[:, -workers:] = limits
    states[:, LIMITED - LIMITS - workers] = int((limits < NO_LIMIT).sum())


def counts(states: NDArray[np.int64], refused: int = 0) -> Counts:
    """Return the tasks of all schedulers by answer, if dispatch binds at once.

    Parameters
    ----------
    states
        (k, …) the gated policy's ``ints``, one row for each scheduler.
    refused
        Tasks that were refused, which the engine counts.
    """
    workers = int(states[0, WORKERS])
    sums = states[:, -LIMITS - workers : len(states[0]) - workers].sum(axis=0)
    accepted, diverted, forced = (int(sums[place]) for place in (ACCEPTED, DIVERTED, FORCED))
    return Counts(accepted, diverted, forced, refused)
