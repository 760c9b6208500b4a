"""Admission before dispatch's choice stands: a compiled dispatch policy that asks each node that it chooses.

What the nodes have answered lies at the end of the policy's own ``ints``, so that the loop of small tasks is the same
with admission and without, and asks in the time of one more look at an array:

=====================  ==========================================================================
in ``ints``, from      what it is
=====================  ==========================================================================
0                      the dispatch policy's own state, so many numbers
that number            room to remember it as it was before a choice that is refused
twice that number      what :class:`windlass.admit.compiled.StandingAnswers` has: ``TAKEN`` and ``REFUSED``
                       count first choices, ``REJECTS`` on has an answer a node. Besides, at
                       ``REJECTING`` how many nodes reject, at ``DIVERTED`` how many tasks went
                       elsewhere, and at ``FORCED`` how many stayed, as all nodes rejected
=====================  ==========================================================================

A task whose node rejects goes to the next choice: what the policy chooses if the nodes that reject had left. The choice
that was refused is forgotten, but for the chance that it drew. Where all nodes reject, the task goes where it was sent
first.
"""

from __future__ import annotations

import copy
import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.admit.compiled import REFUSED, REJECTS, TAKEN
from windlass.dispatch import DispatchPolicy
from windlass.dispatch.compiled import CompiledDispatch, as_compiled, choosing
from windlass.dispatch.state import COPIES, DIRTY, MEMBERS_AT, PRESENT, RNG, WORKERS, drop_member
from windlass.jit import Kernel, helper, inlined
from windlass.model import InputError

#: Places in what is standing, besides those of :mod:`windlass.admit.compiled`.
REJECTING, DIVERTED, FORCED = 3, 4, 5


@inlined
def _standing(ints):
    return len(ints) - REJECTS - ints[WORKERS]


@inlined
def _forget(ints, own):
    """The policy's state as it was before its choice, but for the chance that it drew."""
    for place in range(own):
        if place != RNG:
            ints[place] = ints[own + place]


@inlined
def _drop_who_rejects(ints, answers):
    for worker in range(ints[WORKERS]):
        if ints[answers + worker] != 0:
            drop_member(ints, worker)
    ints[DIRTY] = 1


@inlined
def _bring_back(ints, own):
    """All who are present, in the order in which they were."""
    ints[PRESENT] = ints[own + PRESENT]
    for place in range(MEMBERS_AT, MEMBERS_AT + 2 * ints[WORKERS]):
        ints[place] = ints[own + place]
    ints[DIRTY] = 1


@functools.cache
def gated(kernel: Kernel) -> Kernel:
    """A policy's ``choose`` that asks the nodes that it chooses."""
    choose = helper(kernel.python)

    def _choose_accepting(lengths, ints, floats):
        standing = _standing(ints)
        if ints[standing + REJECTING] == 0:
            ints[standing + TAKEN] += 1
            return choose(lengths, ints, floats)
        own, answers = standing // 2, standing + REJECTS
        for place in range(own):
            ints[own + place] = ints[place]
        first = choose(lengths, ints, floats)
        if first < 0 or ints[answers + first] == 0:
            ints[standing + TAKEN] += 1
            return first
        ints[standing + REFUSED] += 1
        kept = 0
        for worker in range(ints[WORKERS]):
            # Who has left has no place in the list of those that are present.
            present = ints[MEMBERS_AT + ints[WORKERS] + worker] >= 0
            kept += 1 if present and ints[answers + worker] == 0 else 0
        if kept == 0:
            ints[standing + FORCED] += 1
            return first
        _forget(ints, own)
        _drop_who_rejects(ints, answers)
        other = choose(lengths, ints, floats)
        _bring_back(ints, own)
        ints[standing + DIVERTED] += 1
        return other

    return choosing(_choose_accepting)


@dataclass(frozen=True, slots=True)
class Counts:
    """What became of the tasks that were dispatched.

    Parameters
    ----------
    taken
        Whose first choice accepted them.
    diverted, forced
        Whose first choice rejected them: those that went to another node, and those that stayed, as all rejected.
    """

    taken: int
    diverted: int
    forced: int

    @property
    def rejected(self) -> int:
        """Those whose first choice rejected them."""
        return self.diverted + self.forced


def gate(policy: DispatchPolicy) -> CompiledDispatch:
    """A copy of a dispatch policy that asks the nodes that it chooses; all accept at first.

    Parameters
    ----------
    policy
        Compiled, and one that binds at once.

    Raises
    ------
    InputError
        It is not compiled, or it binds late: a reservation is no choice of a node yet.

    Examples
    --------
    >>> from windlass.dispatch.policies.jsq import Jsq
    >>> asks = gate(Jsq(3, np.random.default_rng(1)))
    >>> tell(asks.ints[None], np.array([False, True, False]))
    >>> asks.choose(np.array([5, 0, 4])), counts(asks.ints[None])
    (2, Counts(taken=0, diverted=1, forced=0))
    """
    inner = as_compiled(policy)
    if inner is None:
        raise InputError(f"policies.dispatch: {policy.name} is not compiled, which admission asks for")
    if inner.ints[COPIES] > 0:
        raise InputError(
            f"policies.dispatch: {policy.name} binds late, and has chosen no node when admission is asked"
        )
    found = copy.copy(inner)
    found.__class__ = _gated_class(type(inner))
    room = np.zeros(len(inner.ints) + REJECTS + inner.workers, np.int64)
    found.ints, found.floats = np.concatenate([inner.ints, room]), inner.floats.copy()
    return found


def _gated_class(cls: type[CompiledDispatch]) -> type[CompiledDispatch]:
    return type(f"Gated{cls.__name__}", (cls,), {"choosing": gated(cls.choosing)})


def tell(states: NDArray[np.int64], rejects: NDArray[np.bool_]) -> None:
    """Let answers stand from now on.

    Parameters
    ----------
    states
        (k, …) of the gated policy, one for each scheduler.
    rejects
        (n,) True for nodes that reject.

    Raises
    ------
    InputError
        Answers of another number of nodes.
    """
    workers = int(states[0, WORKERS])
    if rejects.shape != (workers,):
        raise InputError(f"rejects have shape {rejects.shape}, expected ({workers},)")
    states[:, -workers:] = rejects
    states[:, REJECTING - REJECTS - workers] = int(rejects.sum())


def counts(states: NDArray[np.int64]) -> Counts:
    """What became of tasks, over all schedulers; ``states`` is (k, …), as of :func:`tell`."""
    standing = states[:, -REJECTS - int(states[0, WORKERS]) :].sum(axis=0)
    return Counts(*(int(standing[place]) for place in (TAKEN, DIVERTED, FORCED)))
