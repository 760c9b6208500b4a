"""Admission policies of a site as one compiled function over their state, and the current answers of nodes.

The function is called once a step for all n nodes::

    decide(state, busy, ready, present, limits)

===========  ==========  ===========================================================================
``state``    tuple       the policy's own state, a declared one (:mod:`windlass.jit.schema`)
``busy``     float (n,)  see :class:`~windlass.admit.site.AdmitSiteView`; NaN for an absent node
``ready``    float (n,)  the same
``present``  bool (n,)   whether the node has measured itself
``limits``   int64 (n,)  out: most tasks that each node has at once: 0 to reject all,
                         :data:`~windlass.admit.site.NO_LIMIT` for no limit
===========  ==========  ===========================================================================

It changes nothing but ``limits`` and the arrays of the state, and allocates nothing. An entry of ``limits`` for an
absent node has no effect. The methods of the policy call the same function.

Decisions and reads have different rates. Once per step of telemetry each node decides. Once per task a loop reads the
current answer, which takes nanoseconds. The answers are in :class:`CurrentAnswers`, and one function reads them for all
policies:

==============================  ==========================================================
``accept(node, now, answers)``  1 if the node accepts one more task, 0 if it does not
==============================  ==========================================================

``answers`` is a :class:`NodeAnswers`. The function allocates nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.jit.schema import Scalars, allocate, column, numba_type
from windlass.model import InputError
from windlass.model.values import number, whole

#: Types of the arguments after the state.
STEP = (types.float64[::1], types.float64[::1], types.boolean[::1], types.int64[::1])


def deciding(function: Callable[..., Any], state: type) -> Kernel:
    """Compile a policy's ``decide``.

    Parameters
    ----------
    function
        The function.
    state
        Class of the state, a ``NamedTuple``.
    """
    return Kernel(function, types.int64(numba_type(state), *STEP), allocates=False)


@runtime_checkable
class DecidesCompiled(Protocol):
    """A policy of all nodes of a site with a compiled function, which an engine may call instead of ``decide_all``."""

    @property
    def deciding(self) -> Kernel:
        """The function, from :func:`deciding`."""
        ...

    def state_of(self, nodes: int) -> Any:
        """Return the state for a site of this many nodes; the policy's methods read and change the same arrays.

        Raises
        ------
        InputError
            The policy is for another number of nodes.
        """
        ...


class AnswerCounts(Scalars):
    """State of the answers: ``now`` is the time of the last call, s; ``accepted`` and ``rejected`` count tasks."""

    now: float
    accepted: int
    rejected: int


class NodeAnswers(NamedTuple):
    """The last answer of each node."""

    #: 1 for each node that rejects tasks.
    rejects: Annotated[NDArray[np.uint8], column("nodes")]
    counts: Annotated[NDArray[np.void], AnswerCounts]


ACCEPT = types.int64(types.int64, types.float64, numba_type(NodeAnswers))


def accepting(function: Callable[..., Any]) -> Kernel:
    """Compile a policy's ``accept``."""
    return Kernel(function, ACCEPT, allocates=False)


def _accept(node, now, answers):
    counts = answers.counts[0]
    counts.now = now
    if answers.rejects[node] != 0:
        counts.rejected += 1
        return 0
    counts.accepted += 1
    return 1


ACCEPT = accepting(_accept)


class CurrentAnswers:
    """The last answer of each node, for a loop that reads one per task.

    Parameters
    ----------
    nodes
        Number of nodes; all accept at first.

    Raises
    ------
    InputError
        The number is below 1.

    Examples
    --------
    >>> current = CurrentAnswers(2)
    >>> current.notify(np.array([False, True]))
    >>> current.accept(0, now=1.0), current.accept(1, now=1.0), current.accepted, current.rejected
    (True, False, 1, 1)
    """

    accepting = ACCEPT

    def __init__(self, nodes: int) -> None:
        self._answers = allocate(NodeAnswers, {"nodes": whole("nodes", nodes, 1)})
        self._counts = AnswerCounts.of(self._answers.counts)

    def notify(self, rejects: NDArray[np.bool_]) -> None:
        """Store the nodes' answers, (n,) True for those that reject."""
        expected = self._answers.rejects.shape
        if rejects.shape != expected:
            raise InputError(f"rejects have shape {rejects.shape}, expected {expected}")
        self._answers.rejects[:] = rejects

    def accept(self, node: int, now: float) -> bool:
        """Return whether a node accepts one more task, and count it, as the simulator's loop does.

        Raises
        ------
        InputError
            The node does not exist, or the time is not finite.
        """
        nodes = len(self._answers.rejects)
        if not 0 <= node < nodes:
            raise InputError(f"node is {node}, expected 0 to {nodes - 1}")
        return bool(self.accepting.entry()(int(node), number("now", now, -np.inf), self._answers))

    @property
    def now(self) -> float:
        """Time of the last call of :meth:`accept`, s."""
        return self._counts.now

    @property
    def accepted(self) -> int:
        """Tasks that were accepted."""
        return self._counts.accepted

    @property
    def rejected(self) -> int:
        """Tasks that were rejected."""
        return self._counts.rejected
