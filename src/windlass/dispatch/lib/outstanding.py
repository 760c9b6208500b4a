"""Tasks that a scheduler sent and that have not returned: a number per worker, first in the policy's own ``ints``."""

from __future__ import annotations

from windlass.dispatch.state import LEFT, own_ints
from windlass.jit import inlined


@inlined
def count_return(worker, own, ints):
    """Count a completion; ``own`` is 1 for a task of this scheduler, as for ``completed``."""
    place = own_ints(ints) + worker
    if own == 1 and ints[place] > 0:
        ints[place] -= 1


@inlined
def forget_sent(kind, worker, ints):
    """Forget the tasks of a worker that left: they are dispatched again, and counted at their new workers."""
    if kind == LEFT:
        ints[own_ints(ints) + worker] = 0
