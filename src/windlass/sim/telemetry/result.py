"""What nodes measured of themselves and answered, step by step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.sim.telemetry.gate import Counts
from windlass.sim.telemetry.pressure import CHANNELS


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Of n nodes over t steps.

    Parameters
    ----------
    channels
        (t, n, 5) pressure, in the order of :data:`~windlass.sim.telemetry.pressure.CHANNELS`.
    rejects
        (t, n) True where a node rejected from the end of that step on.
    tasks
        What became of tasks.
    every
        Seconds a step.
    before
        (t,) what had become of tasks by the end of each step.
    """

    channels: NDArray[np.float64]
    rejects: NDArray[np.bool_]
    tasks: Counts
    every: float
    before: tuple[Counts, ...] = ()

    def since(self, warm: float) -> Observed:
        """Only the steps that begin at or after a time, s, and what became of tasks in them.

        Examples
        --------
        >>> seen = Observed(np.ones((3, 2, 5)), np.zeros((3, 2), bool), Counts(9, 2, 0), 10.0, (Counts(4, 1, 0),) * 3)
        >>> later = seen.since(15.0)
        >>> len(later.channels), later.tasks
        (1, Counts(taken=5, diverted=1, forced=0))
        """
        first = int(np.ceil(warm / self.every))
        if first == 0:
            return self
        whole, then = self.tasks, self.before[min(first, len(self.before)) - 1] if self.before else self.tasks
        return Observed(
            self.channels[first:],
            self.rejects[first:],
            Counts(whole.taken - then.taken, whole.diverted - then.diverted, whole.forced - then.forced),
            self.every,
        )

    def of(self, channel: str) -> NDArray[np.float64]:
        """(t, n) one channel.

        >>> Observed(np.ones((2, 3, 5)), np.zeros((2, 3), bool), Counts(1, 0, 0), 1.0).of("ready").shape
        (2, 3)
        """
        return self.channels[:, :, CHANNELS.index(channel)]

    @property
    def downtime(self) -> float:
        """Share of steps and nodes at which a node rejected; NaN where there were no steps."""
        return float(self.rejects.mean()) if self.rejects.size else float("nan")
