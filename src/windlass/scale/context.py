"""Constructor arguments that an engine offers to an autoscaler."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.policy.context import Context


@dataclass(frozen=True, slots=True)
class ScaleContext(Context):
    """Future demand; None except in the simulator.

    Parameters
    ----------
    rng
        See :class:`~windlass.policy.context.Context`.
    times
        (m,) times at which the demand changes, s.
    counts
        (m, types) instances of each type that jobs need from each of these times on.
    """

    times: NDArray[np.float64] | None = None
    counts: NDArray[np.int64] | None = None
