"""Admission ahead of late binding: a node that rejects is like a worker that left, for tasks that no node has taken.

While some node accepts, nodes that reject are not among the policy's present workers: they request no tasks, no task is
offered to them, and they get no reservations. If all nodes reject, the gate is open and all are present; with
``refuse``, only tasks that wait already pass it, and tasks that arrive are refused. The policy
keeps what it has learned about a node that rejects; benchmark tasks go to present workers only. The parts in ``ints``
are those of :mod:`windlass.sim.telemetry.answers`, and the room has 1 for each of the n workers that is down.

The engine sends waiting tasks to the present workers when answers change them, see
:mod:`windlass.sim.workers.membership`. If a worker fails or returns between two answers, reservations stay where they
are: a node that got some while all rejected keeps them until the next answers that change the present workers.
"""

from __future__ import annotations

import functools

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.dispatch.compiled import CompiledDispatch, binding, changing
from windlass.dispatch.state import DIRTY, JOINED, LEFT, WORKERS, add_member, drop_member, is_present
from windlass.jit import Kernel, helper, inlined
from windlass.sim.telemetry.answers import FULL, LIMITS, REFUSES, gate_at, set_answers


@inlined
def _down_at(ints):
    """Return the place of the first worker in the list of those that are down."""
    return gate_at(ints) - ints[WORKERS]


@helper
def _update_members(ints):
    """Make members of the nodes that accept, or of all if none does, but not of workers that are down.

    Returns whether a member was added or dropped.
    """
    down, limits = _down_at(ints), gate_at(ints) + LIMITS
    accepting = up = 0
    for worker in range(ints[WORKERS]):
        up += ints[down + worker] == 0
        accepting += ints[down + worker] == 0 and ints[limits + worker] > 0
    ints[gate_at(ints) + FULL] = ints[gate_at(ints) + REFUSES] != 0 and up > 0 and accepting == 0
    updated = 0
    for worker in range(ints[WORKERS]):
        taking = ints[down + worker] == 0 and (accepting == 0 or ints[limits + worker] > 0)
        if taking and not is_present(ints, worker):
            add_member(ints, worker)
            updated = 1
        elif not taking and is_present(ints, worker):
            drop_member(ints, worker)
            updated = 1
    if updated != 0:
        ints[DIRTY] = 1
    return updated


def _update(ints):
    return _update_members(ints)


#: Update the members after new answers, and return 1 if they changed, else 0.
UPDATE = Kernel(_update, types.int64(types.int64[::1]), allocates=False)


@functools.cache
def _binding_present(kernel: Kernel) -> Kernel:
    """Return a policy's ``bind``, which gives no task to a worker that is not present."""
    bind = helper(kernel.python)

    def _bind_present(worker, now, waiting, others, held, fetch, ints, floats):
        if not is_present(ints, worker):
            return 0
        return bind(worker, now, waiting, others, held, fetch, ints, floats)

    return binding(_bind_present)


@functools.cache
def _changing_down(kernel: Kernel) -> Kernel:
    """Return a policy's ``changed``, which also notes the workers that are down."""
    changed = helper(kernel.python)

    def _change_down(kind, worker, rate, ints, floats):
        changed(kind, worker, rate, ints, floats)
        if kind == LEFT:
            ints[_down_at(ints) + worker] = 1
        elif kind == JOINED:
            ints[_down_at(ints) + worker] = 0
        return _update_members(ints)

    return changing(_change_down)


def late_gated(cls: type[CompiledDispatch]) -> type[CompiledDispatch]:
    """Return a class of policies that bind late, with admission.

    Parameters
    ----------
    cls
        The policy's class.
    """
    functions = {"binding": _binding_present(cls.binding), "changing": _changing_down(cls.changing)}
    return type(f"LateGated{cls.__name__}", (cls,), functions)


def set_late_answers(states: NDArray[np.int64], limits: NDArray[np.int64]) -> bool:
    """Set the answers of all nodes, and return whether that changes which workers are present.

    Parameters
    ----------
    states
        (k, …) the gated policy's ``ints``, one row for each scheduler.
    limits
        (n,) most tasks that each node has at once. Only 0 matters, as a node has at most one task that binds late.

    Raises
    ------
    InputError
        Not one answer for each node.

    Examples
    --------
    >>> from windlass.dispatch.policies.pull import Pull
    >>> from windlass.sim.telemetry.answers import limits_of
    >>> from windlass.sim.telemetry.gate import gate
    >>> gated_policy = gate(Pull(3, rng=np.random.default_rng(1)))
    >>> set_late_answers(gated_policy.ints[None], limits_of(np.array([False, True, False])))
    True
    >>> list(gated_policy.offers()), gated_policy.takes(1, now=0.0, waiting=5)
    ([0, 2], 0)
    """
    set_answers(states, limits)
    update = UPDATE.ready()
    return any([update(row) != 0 for row in states])
