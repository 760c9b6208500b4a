"""Calls of an admission policy's compiled function from the loop, which has the policy's state as an address."""

from __future__ import annotations

import functools

from numba import types

from windlass.admit.compiled import STEP
from windlass.jit import Kernel, helper
from windlass.sim.handle import opening, storing

#: The address of the policy's state, then the arguments of :mod:`windlass.admit.compiled`.
DECIDE_AT = types.int64(types.int64, *STEP)


def _outside(address, busy, ready, present, limits):
    return 0


#: Placeholder for a policy that is called outside of the loop.
OUTSIDE = Kernel(_outside, DECIDE_AT, allocates=False)


@functools.cache
def by_address(kernel: Kernel) -> Kernel:
    """Return a policy's function, with the address of its state in place of the state.

    Parameters
    ----------
    kernel
        The policy's ``deciding``.
    """
    decide, opened = helper(kernel.python), opening(kernel.signature.args[0])

    def _decide_at(address, busy, ready, present, limits):
        return decide(opened(address), busy, ready, present, limits)

    return Kernel(_decide_at, DECIDE_AT, allocates=False)


@functools.cache
def store_of(kernel: Kernel) -> Kernel:
    """Return the function that writes the state of a policy; the parameter is that of :func:`by_address`."""
    return storing(kernel.signature.args[0])
