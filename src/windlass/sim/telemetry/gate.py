"""Admission ahead of dispatch: a compiled dispatch policy that avoids nodes that reject tasks.

The answers of the nodes are at the end of the policy's own ``ints``, so that the loop of small tasks is the same with
and without admission, and reads an answer as fast as an array entry:

============================  ======================================================================
part of ``ints``              what it is
============================  ======================================================================
m numbers                     the dispatch policy's own state
m numbers                     room for a copy of it, from before a choice that is rejected
``REJECTING``                 nodes that reject
``ACCEPTED``                  tasks that their first choice accepted
``DIVERTED``                  tasks that their first choice rejected, and that another node got
``FORCED``                    tasks that their first choice got although it rejected them, as all did
n numbers from ``ANSWERS``    1 for each node that rejects
============================  ======================================================================

A task that a node rejects goes to the policy's next choice: its choice if all nodes that reject had left. The rejected
choice leaves no trace in the policy's state, except in its random stream. If all nodes reject, the first choice gets
the task.
"""

from __future__ import annotations

import copy
import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.dispatch import DispatchPolicy
from windlass.dispatch.compiled import CompiledDispatch, as_compiled, choosing
from windlass.dispatch.state import DIRTY, MEMBERS_AT, PRESENT, RNG, WORKERS, drop_member
from windlass.jit import Kernel, helper, inlined
from windlass.model import InputError

#: Places behind the policy's state and its copy, of single numbers and of the first answer.
REJECTING, ACCEPTED, DIVERTED, FORCED, ANSWERS = range(5)


@inlined
def _gate_at(ints):
    """Return the place behind the policy's state and its copy."""
    return len(ints) - ANSWERS - ints[WORKERS]


@inlined
def _restore(ints, own):
    """Restore the policy's state from its copy, except its random stream."""
    for place in range(own):
        if place != RNG:
            ints[place] = ints[own + place]


@inlined
def _drop_rejecting(ints, answers):
    """Drop the nodes that reject from the present workers."""
    for worker in range(ints[WORKERS]):
        if ints[answers + worker] != 0:
            drop_member(ints, worker)
    ints[DIRTY] = 1


@inlined
def _restore_members(ints, own):
    """Restore the list of present workers, with its order, from the copy."""
    ints[PRESENT] = ints[own + PRESENT]
    for place in range(MEMBERS_AT, MEMBERS_AT + 2 * ints[WORKERS]):
        ints[place] = ints[own + place]
    ints[DIRTY] = 1


@functools.cache
def gated(kernel: Kernel) -> Kernel:
    """Return a policy's ``choose`` with admission.

    Parameters
    ----------
    kernel
        The policy's own ``choose``.
    """
    choose = helper(kernel.python)

    def _choose_accepting(lengths, ints, floats):
        gate = _gate_at(ints)
        if ints[gate + REJECTING] == 0:
            ints[gate + ACCEPTED] += 1
            return choose(lengths, ints, floats)
        own, answers = gate // 2, gate + ANSWERS
        for place in range(own):
            ints[own + place] = ints[place]
        first = choose(lengths, ints, floats)
        if first < 0 or ints[answers + first] == 0:
            ints[gate + ACCEPTED] += 1
            return first
        accepting = 0
        for worker in range(ints[WORKERS]):
            # A worker that left has no place in the list of present workers.
            present = ints[MEMBERS_AT + ints[WORKERS] + worker] >= 0
            accepting += 1 if present and ints[answers + worker] == 0 else 0
        if accepting == 0:
            ints[gate + FORCED] += 1
            return first
        _restore(ints, own)
        _drop_rejecting(ints, answers)
        other = choose(lengths, ints, floats)
        _restore_members(ints, own)
        ints[gate + DIVERTED] += 1
        return other

    return choosing(_choose_accepting)


@dataclass(frozen=True, slots=True)
class Counts:
    """Tasks by the answer of the node that dispatch chose first.

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
        """Tasks that their first choice rejected: diverted and forced ones."""
        return self.diverted + self.forced


def gate(policy: DispatchPolicy) -> CompiledDispatch:
    """Return a copy of a dispatch policy that avoids nodes that reject tasks; at first all accept.

    Parameters
    ----------
    policy
        A compiled policy that binds at once.

    Raises
    ------
    InputError
        The policy is not compiled, or binds late: a reservation does not choose a node yet.

    Examples
    --------
    >>> from windlass.dispatch.policies.jsq import Jsq
    >>> gated_policy = gate(Jsq(3, np.random.default_rng(1)))
    >>> set_answers(gated_policy.ints[None], np.array([False, True, False]))
    >>> gated_policy.choose(np.array([5, 0, 4])), counts(gated_policy.ints[None])
    (2, Counts(accepted=0, diverted=1, forced=0))
    """
    inner = as_compiled(policy)
    if inner is None:
        raise InputError(
            f"policies.dispatch: {policy.name} is not compiled, expected a compiled policy, as admission needs one"
        )
    if inner.binds_late:
        raise InputError(
            f"policies.dispatch: {policy.name} binds late, expected a policy that chooses a node for each task, "
            "which admission then accepts or rejects"
        )
    found = copy.copy(inner)
    found.__class__ = _gated_class(type(inner))
    room = np.zeros(len(inner.ints) + ANSWERS + inner.workers, np.int64)
    found.ints, found.floats = np.concatenate([inner.ints, room]), inner.floats.copy()
    return found


def _gated_class(cls: type[CompiledDispatch]) -> type[CompiledDispatch]:
    return type(f"Gated{cls.__name__}", (cls,), {"choosing": gated(cls.choosing)})


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
    """Return the tasks of all schedulers, by answer.

    Parameters
    ----------
    states
        (k, …) the gated policy's ``ints``, one row for each scheduler.
    """
    sums = states[:, -ANSWERS - int(states[0, WORKERS]) :].sum(axis=0)
    return Counts(*(int(sums[place]) for place in (ACCEPTED, DIVERTED, FORCED)))
