"""The nodes' answers at the end of a gated policy's ``ints``, and tasks by answer.

The loop of small tasks is then the same with and without admission, and reads an answer as fast as an array entry:

============================  ======================================================================
part of ``ints``              what it is
============================  ======================================================================
m numbers                     the dispatch policy's own state
room                          for :mod:`windlass.sim.telemetry.gate`: m numbers; for
                              :mod:`windlass.sim.telemetry.late_gate`: n numbers
``REJECTING``                 nodes that reject
``ACCEPTED``                  tasks that their first choice accepted
``DIVERTED``                  tasks that their first choice rejected, and that another node got
``FORCED``                    tasks that their first choice got although it rejected them, as all did
n numbers from ``ANSWERS``    1 for each node that rejects
============================  ======================================================================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.dispatch.state import WORKERS
from windlass.jit import inlined
from windlass.model import InputError

#: Places behind the policy's state and the room, of single numbers and of the first answer.
REJECTING, ACCEPTED, DIVERTED, FORCED, ANSWERS = range(5)


@inlined
def gate_at(ints):
    """Return the place behind the policy's state and the room."""
    return len(ints) - ANSWERS - ints[WORKERS]


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
    """

    accepted: int
    diverted: int
    forced: int

    @property
    def rejected(self) -> int:
        """Tasks that the node rejected: diverted and forced ones."""
        return self.diverted + self.forced


def set_answers(states: NDArray[np.int64], rejects: NDArray[np.bool_]) -> None:
    """Set the answers of all nodes, for the tasks that come from now on.

    Parameters
    ----------
    states
        (k, …) the gated policy's ``ints``, one row for each scheduler.
    rejects
        (n,) True for nodes that reject.

    Raises
    ------
    InputError
        Not one answer for each node.
    """
    workers = int(states[0, WORKERS])
    if rejects.shape != (workers,):
        raise InputError(f"rejects have shape {rejects.shape}, expected ({workers},)")
    states[:, -workers:] = rejects
    states[:, REJECTING - ANSWERS - workers] = int(rejects.sum())


def counts(states: NDArray[np.int64]) -> Counts:
    """Return the tasks of all schedulers by answer, if dispatch binds at once.

    Parameters
    ----------
    states
        (k, …) the gated policy's ``ints``, one row for each scheduler.
    """
    sums = states[:, -ANSWERS - int(states[0, WORKERS]) :].sum(axis=0)
    return Counts(*(int(sums[place]) for place in (ACCEPTED, DIVERTED, FORCED)))
