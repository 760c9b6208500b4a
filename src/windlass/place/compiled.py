"""Placement policies as one compiled function over the view's arrays.

The function receives the clock, the sites, the ready stages, whether resources changed, the policy's
parameters as an array of floats, and space for starts and their reasons; it returns the number of starts
written.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.place.lib.pick import REASONS, STARTS, Starts
from windlass.place.view import READY, SITES, Placement, PlaceView

PLACE = types.int64(types.float64, SITES, READY, types.boolean, types.float64[::1], STARTS)


class CompiledPlacement:
    """Base class that implements ``decide`` with a policy's compiled ``place`` and its ``parameters``."""

    place: ClassVar[Kernel]
    reasons: ClassVar[tuple[str, ...]] = REASONS
    largest_first: bool = False
    parameters: NDArray[np.float64]

    @classmethod
    def functions(cls) -> tuple[Kernel, ...]:
        """Return the compiled functions to prepare ahead: ``place``, and others that a policy adds."""
        return (cls.place,)

    def moves(self, view: PlaceView) -> NDArray[np.int64]:
        """Return input to move ahead of the tasks: none by default."""
        return np.empty((0, 4), np.int64)

    def decide(self, view: PlaceView) -> Placement:
        """Return which waiting tasks start now, at which sites, and from where they read."""
        moves = self.moves(view)
        m, n = view.ready.here.shape
        plan = view.ready.plan.copy()
        here = view.ready.here
        waiting, data = view.ready.waiting, view.ready.data
        if len(moves):
            # Tasks whose input moves now cannot start now.
            here, waiting, data = here.copy(), waiting.copy(), data.copy()
            for row, source, _, tasks in moves:
                data[row, source] -= data[row, source] * tasks / here[row, source]
                here[row, source] -= tasks
                waiting[row] -= tasks
        ready = view.ready._replace(plan=plan, here=here, waiting=waiting, data=data)
        # At most two passes for each site, and for each pair of sites.
        most = m * (4 * n + 2) + 8
        starts = Starts(np.empty((most, 4), np.int64), np.empty(most, np.int64))
        count = self.place.ready()(view.now, view.sites, ready, view.changed, self.parameters, starts)
        return Placement(
            starts.rows[:count],
            starts.why[:count],
            self.reasons,
            moves,
            plan,
            largest_first=self.largest_first,
        )
