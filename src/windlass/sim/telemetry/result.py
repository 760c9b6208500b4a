"""Measurements and answers of simulated nodes, step by step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.sim.telemetry.answers import Counts
from windlass.sim.telemetry.pressure import CHANNELS


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """Measurements and answers of n nodes during t steps.

    Parameters
    ----------
    channels
        (t, n, 5) pressure, in the order of :data:`~windlass.sim.telemetry.pressure.CHANNELS`; NaN for a node that was
        absent.
    rejects
        (t, n) True if a node rejects tasks from the end of that step to the end of the next; False for an absent node.
    tasks
        Tasks by answer, at the end.
    every
        Duration of a step, s.
    before
        (t,) tasks by answer, at the end of each step.
    """

    channels: NDArray[np.float64]
    rejects: NDArray[np.bool_]
    tasks: Counts
    every: float
    before: tuple[Counts, ...] = ()

    def since(self, warm: float) -> Observed:
        """Return only the steps that begin at or after a time, and the tasks dispatched in them.

        Parameters
        ----------
        warm
            The time, s.

        Examples
        --------
        >>> run = Observed(np.ones((3, 2, 5)), np.zeros((3, 2), bool), Counts(9, 2, 0), 10.0, (Counts(4, 1, 0),) * 3)
        >>> later = run.since(15.0)
        >>> len(later.channels), later.tasks
        (1, Counts(accepted=5, diverted=1, forced=0, refused=0))
        """
        first = int(np.ceil(warm / self.every))
        if first == 0:
            return self
        whole, then = self.tasks, self.before[min(first, len(self.before)) - 1] if self.before else self.tasks
        return Observed(self.channels[first:], self.rejects[first:], whole.since(then), self.every)

    def of(self, channel: str) -> NDArray[np.float64]:
        """Return (t, n) one channel of pressure.

        Parameters
        ----------
        channel
            Its name, one of :data:`~windlass.sim.telemetry.pressure.CHANNELS`.

        Examples
        --------
        >>> Observed(np.ones((2, 3, 5)), np.zeros((2, 3), bool), Counts(1, 0, 0), 1.0).of("ready").shape
        (2, 3)
        """
        return self.channels[:, :, CHANNELS.index(channel)]

    @property
    def present(self) -> NDArray[np.bool_]:
        """(t, n) whether the node had cores, and measured itself."""
        known: NDArray[np.bool_] = ~np.isnan(self.channels[:, :, 0])
        return known

    @property
    def downtime(self) -> float:
        """Share of steps and present nodes in which the node rejected tasks; NaN without any."""
        steps = int(self.present.sum())
        return int(self.rejects.sum()) / steps if steps else float("nan")
