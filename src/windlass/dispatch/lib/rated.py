"""Policies that sample workers in proportion to known rates."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import CompiledDispatch, changing
from windlass.dispatch.lib.alias import ALIAS_INTS, build, sample
from windlass.dispatch.state import (
    DIRTY,
    PRESENT,
    RATE,
    RATES_AT,
    TRUE_RATES,
    VALUES_AT,
    change_members,
    make_state,
)
from windlass.jit import Kernel, index, inlined, pick
from windlass.model.values import checked_rates


@inlined
def ready_to_sample(ints, floats):
    """Return whether there is a worker to draw; rebuild the table if rates or workers changed."""
    if ints[PRESENT] == 0:
        return False
    if ints[DIRTY] != 0:
        build(ints, floats)
    return True


@inlined
def two_by_queue(lengths, ints):
    """Draw two workers in proportion to their rates; return the one with the shorter queue, on a tie the first (SQ)."""
    first = sample(ints)
    second = sample(ints)
    return pick(lengths[index(second)] < lengths[index(first)], second, first)


@inlined
def sooner(worker, length, other, other_length, rates, floats):
    """Return whether a task of unit work is expected to end sooner at ``worker``, by the rates at place ``rates``."""
    # Multiplied out, so that a rate of 0 means an infinite wait instead of a division by zero.
    return (length + 1) * floats[rates + other] < (other_length + 1) * floats[rates + worker]


@inlined
def first_to_serve(other, chosen, lengths, ints, floats):
    """Return whether a task of unit work is expected to end sooner at ``other``."""
    return sooner(other, lengths[other], chosen, lengths[chosen], ints[RATES_AT], floats)


@inlined
def two_by_wait(lengths, ints, floats):
    """Draw two workers in proportion to their rates; return the one where a task of unit work ends first (LL)."""
    first = sample(ints)
    second = sample(ints)
    return second if first_to_serve(second, first, lengths, ints, floats) else first


def take_rates(kind, worker, rate, ints, floats):
    """Implement ``changed`` for policies that use given rates."""
    if kind == RATE:
        floats[ints[RATES_AT] + worker] = rate
    change_members(kind, worker, ints)
    return 0


TAKE_RATES = changing(take_rates)


class Rated(CompiledDispatch):
    """A policy with given rates of the workers.

    Parameters
    ----------
    rates
        (n,) work/s; not negative, not all 0.
    rng
        Random generator; None for a policy that draws nothing.

    Raises
    ------
    InputError
        A rate is negative or not a number, or none is above 0.
    """

    changing: ClassVar[Kernel] = TAKE_RATES
    follows: ClassVar[bool] = True

    def __init__(self, rates: object, rng: np.random.Generator | None) -> None:
        known = checked_rates(rates)
        self.ints, self.floats = make_state(len(known), rng, ints=ALIAS_INTS * len(known), floats=len(known))
        self.ints[RATES_AT] = VALUES_AT
        self.ints[DIRTY] = 1
        # The engine passes changes of true rates only to policies with this flag.
        self.ints[TRUE_RATES] = self.follows
        self.floats[VALUES_AT : VALUES_AT + len(known)] = known
