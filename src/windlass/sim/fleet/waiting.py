"""The stages for whose tasks a placement is requested."""

from __future__ import annotations

from numba import types

from windlass.jit import Kernel
from windlass.sim.fleet.state import FLEET_RUN
from windlass.sim.handle import opening

_opened = opening(FLEET_RUN)


def _list_waiting(address, found):
    """Fill ``found`` with the stages that are ready and have waiting tasks; return their number."""
    stages, count = _opened(address).state.stages, 0
    for which in range(len(stages)):
        if stages[which].waiting > 0 and stages[which].ready > 0:
            found[count] = which
            count += 1
    return count


WAITING = Kernel(_list_waiting, types.int64(types.int64, types.int64[::1]), allocates=False)
