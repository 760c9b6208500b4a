"""The form in which the simulator's loop asks: once a task, of one node, in compiled code.

=======================================  ==========================================================
``accept(node, now, ints, floats)``      1 where the node takes one more task, 0 where it does not
=======================================  ==========================================================

Two clocks tick. Once a step of telemetry each node decides anew (``decide``, or
:meth:`~windlass.admit.fleet.AdmissionFleet.observe` for all nodes at once), which takes microseconds. Once a task the
loop asks what stands, which takes nanoseconds. So policies need no compiled function of their own: what they decided
is in :class:`StandingAnswers`, and the function that reads it is the same for all. One that draws anew for each task
would have its own.

``ints`` is int64: the number of nodes, how many tasks were accepted and rejected, and from :data:`REJECTS` on 1 for
each node that rejects. ``floats`` is float64: the clock. The function allocates nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.model import InputError
from windlass.model.values import number, whole

ACCEPT = types.int64(types.int64, types.float64, types.int64[::1], types.float64[::1])

#: Places in ``ints``: nodes, tasks taken, tasks refused, and the first node's answer.
NODES, TAKEN, REFUSED, REJECTS = 0, 1, 2, 8
#: Places in ``floats``: the time of the last question, s.
NOW = 0


def accepting(function: Callable[..., Any]) -> Kernel:
    """Compile a policy's ``accept``."""
    return Kernel(function, ACCEPT, allocates=False)


def _standing(node, now, ints, floats):
    floats[NOW] = now
    if ints[REJECTS + node]:
        ints[REFUSED] += 1
        return 0
    ints[TAKEN] += 1
    return 1


STANDING = accepting(_standing)


class StandingAnswers:
    """What each node has answered last, for a loop that asks once a task.

    Parameters
    ----------
    nodes
        How many; all accept at first.

    Raises
    ------
    InputError
        There are none.

    Examples
    --------
    >>> standing = StandingAnswers(2)
    >>> standing.tell(np.array([False, True]))
    >>> standing.accept(0, now=1.0), standing.accept(1, now=1.0), standing.taken, standing.refused
    (True, False, 1, 1)
    """

    accepting = STANDING

    def __init__(self, nodes: int) -> None:
        self.ints: NDArray[np.int64] = np.zeros(REJECTS + whole("nodes", nodes, 1), np.int64)
        self.floats: NDArray[np.float64] = np.zeros(1)
        self.ints[NODES] = nodes

    def tell(self, rejects: NDArray[np.bool_]) -> None:
        """What nodes have answered, (n,) True for those that reject."""
        if rejects.shape != (self.ints[NODES],):
            raise InputError(f"rejects have shape {rejects.shape}, expected ({self.ints[NODES]},)")
        self.ints[REJECTS:] = rejects

    def accept(self, node: int, now: float) -> bool:
        """Whether a node takes one more task, as the loop would be told; counted.

        Raises
        ------
        InputError
            There is no such node, or the time is not finite.
        """
        if not 0 <= node < self.ints[NODES]:
            raise InputError(f"node is {node}, expected 0 to {self.ints[NODES] - 1}")
        return bool(self.accepting.ready()(int(node), number("now", now, -np.inf), self.ints, self.floats))

    @property
    def taken(self) -> int:
        """Tasks that were accepted."""
        return int(self.ints[TAKEN])

    @property
    def refused(self) -> int:
        """Tasks that were rejected."""
        return int(self.ints[REFUSED])
