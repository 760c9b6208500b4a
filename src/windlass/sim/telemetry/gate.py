"""Admission ahead of dispatch: a compiled dispatch policy that avoids nodes that reject tasks.

A node rejects a task if it has as many tasks, in the view of the scheduler, as its limit allows. The task goes to the
policy's next choice: its choice if all nodes that reject had left. The rejected choice leaves no trace in the policy's
state, except in its random stream. If all nodes reject, the first choice gets the task, or the task is refused and the
policy is not called. Behind the policy's state is room for a copy of it, from before a choice that is rejected; the
layout is in :mod:`windlass.sim.telemetry.answers`.

A policy that binds late has no choice to reject; its gate is :mod:`windlass.sim.telemetry.late_gate`.
"""

from __future__ import annotations

import copy
import functools
from typing import Literal, get_args

import numpy as np

from windlass.dispatch import DispatchPolicy
from windlass.dispatch.compiled import REFUSE, CompiledDispatch, as_compiled, choosing
from windlass.dispatch.state import DIRTY, MEMBERS_AT, PRESENT, RNG, WORKERS, drop_member, is_present
from windlass.jit import Kernel, helper, inlined
from windlass.model import InputError
from windlass.sim.telemetry.answers import (
    ACCEPTED,
    DIVERTED,
    FORCED,
    FULL,
    LIMITED,
    LIMITS,
    NO_LIMIT,
    REFUSES,
    gate_at,
)
from windlass.sim.telemetry.late_gate import late_gated

#: What happens to a task that all present nodes reject: a node gets it nevertheless, or it is refused.
WhenFull = Literal["force", "refuse"]


@inlined
def _restore(ints, own):
    """Restore the policy's state from its copy, except its random stream."""
    for place in range(own):
        if place != RNG:
            ints[place] = ints[own + place]


@inlined
def _drop_rejecting(lengths, ints, limits):
    """Drop the nodes that reject from the present workers."""
    for worker in range(ints[WORKERS]):
        if lengths[worker] >= ints[limits + worker]:
            drop_member(ints, worker)
    ints[DIRTY] = 1


@inlined
def _restore_members(ints, own):
    """Restore the list of present workers, with its order, from the copy."""
    ints[PRESENT] = ints[own + PRESENT]
    for place in range(MEMBERS_AT, MEMBERS_AT + 2 * ints[WORKERS]):
        ints[place] = ints[own + place]
    ints[DIRTY] = 1


@inlined
def _some_accepts(lengths, ints, limits):
    """Return whether a present node accepts."""
    accepting = 0
    for worker in range(ints[WORKERS]):
        accepting += is_present(ints, worker) and lengths[worker] < ints[limits + worker]
    return accepting > 0


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
        gate = gate_at(ints)
        if ints[gate + LIMITED] == 0:
            ints[gate + ACCEPTED] += 1
            return choose(lengths, ints, floats)
        own, limits = gate // 2, gate + LIMITS
        if ints[gate + REFUSES] != 0 and ints[PRESENT] > 0 and not _some_accepts(lengths, ints, limits):
            return REFUSE
        for place in range(own):
            ints[own + place] = ints[place]
        first = choose(lengths, ints, floats)
        if first < 0 or lengths[first] < ints[limits + first]:
            ints[gate + ACCEPTED] += 1
            return first
        if not _some_accepts(lengths, ints, limits):
            ints[gate + FORCED] += 1
            return first
        _restore(ints, own)
        _drop_rejecting(lengths, ints, limits)
        other = choose(lengths, ints, floats)
        _restore_members(ints, own)
        ints[gate + DIVERTED] += 1
        return other

    return choosing(_choose_accepting)


def gate(policy: DispatchPolicy, full: WhenFull = "force") -> CompiledDispatch:
    """Return a copy of a dispatch policy that avoids nodes that reject tasks; at first all accept.

    Parameters
    ----------
    policy
        A compiled policy.
    full
        ``force`` sends a task that all present nodes reject to a node nevertheless. With ``refuse``, the engine refuses
        it: ``choose`` returns :data:`~windlass.dispatch.compiled.REFUSE`, or, if the policy binds late, tasks that
        arrive while all present nodes reject are refused.

    Raises
    ------
    InputError
        The policy is not compiled, or ``full`` is neither of the two.

    Examples
    --------
    >>> from windlass.dispatch.policies.jsq import Jsq
    >>> from windlass.sim.telemetry.answers import counts, limits_of, set_answers
    >>> gated_policy = gate(Jsq(3, np.random.default_rng(1)))
    >>> set_answers(gated_policy.ints[None], limits_of(np.array([False, True, False])))
    >>> gated_policy.choose(np.array([5, 0, 4])), counts(gated_policy.ints[None])
    (2, Counts(accepted=0, diverted=1, forced=0, refused=0))
    """
    inner = as_compiled(policy)
    if inner is None:
        raise InputError(
            f"policies.dispatch: {policy.name} is not compiled, expected a compiled policy, as admission needs one"
        )
    if full not in get_args(WhenFull):
        raise InputError(f"full is {full!r}, expected 'force' or 'refuse'")
    found = copy.copy(inner)
    found.__class__ = late_gated(type(inner)) if inner.binds_late else _gated_class(type(inner))
    # For the copy of the state, or the workers that are down.
    room = inner.workers if inner.binds_late else len(inner.ints)
    behind = np.zeros(room + LIMITS + inner.workers, np.int64)
    behind[-inner.workers :] = NO_LIMIT
    if full == "refuse":
        behind[room + REFUSES] = 1
        found.refusing_at = len(inner.ints) + room + FULL
    found.ints, found.floats = np.concatenate([inner.ints, behind]), inner.floats.copy()
    return found


def _gated_class(cls: type[CompiledDispatch]) -> type[CompiledDispatch]:
    return type(f"Gated{cls.__name__}", (cls,), {"choosing": gated(cls.choosing)})
