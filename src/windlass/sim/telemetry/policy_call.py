"""Calls of an admission policy's compiled function from the loop, which has the policy's state as an address."""

from __future__ import annotations

import functools
from typing import Any

from numba import types

from windlass.admit.compiled import STEP
from windlass.jit import Kernel, helper
from windlass.sim.handle import opening

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
    decide, opened = helper(kernel.python), opening(state_type(kernel))

    def _decide_at(address, busy, ready, present, limits):
        return decide(opened(address), busy, ready, present, limits)

    return Kernel(_decide_at, DECIDE_AT, allocates=False)


def state_type(kernel: Kernel) -> Any:
    """Return the Numba type of a policy's state; the parameter is that of :func:`by_address`."""
    return kernel.signature.args[0]
