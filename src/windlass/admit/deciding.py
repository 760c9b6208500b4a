"""Admission policies of a site as one compiled function over their state, for the simulator's loop and for live use.

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
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from numba import types

from windlass.jit import Kernel
from windlass.jit.schema import numba_type

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
