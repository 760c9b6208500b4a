"""A part that samples the cores in use at each site, and reports the progress of the simulated time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.sim.nodes import Ledger
from windlass.sim.part import Concerns, Due, Quiet


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Cores in use over time.

    Parameters
    ----------
    time
        (m,) time of each sample, s.
    held, capacity
        (m, sites) cores that loads hold, and cores that there are.
    """

    time: NDArray[np.float64]
    held: NDArray[np.int64]
    capacity: NDArray[np.int64]


class Sampler(Quiet):
    """Samples the cores in use at each site until the end of the arrivals; a :class:`windlass.sim.part.Part`.

    Parameters
    ----------
    ledger, sites
        The ledger, and the number of its first sites that are sampled.
    every, until
        Time between samples, and their end, s.
    progress
        Receives the share of the simulated time that has passed.

    Examples
    --------
    >>> from windlass.sim.coupled import Coupled
    >>> ledger = Ledger([[4, 4]], parts=1)
    >>> part = Sampler(ledger, 1, 10.0, 30.0, lambda share: None)
    >>> part.decide(0.0), part.horizon(), part.result().capacity.tolist()
    ((), 10.0, [[8]])
    """

    def __init__(
        self, ledger: Ledger, sites: int, every: float, until: float, progress: Callable[[float], None]
    ) -> None:
        self._nodes, self._every, self._until, self._progress = ledger.nodes, every, until, progress
        self._first = self._nodes.first[: sites + 1]
        self._held: list[NDArray[np.int64]] = []
        self._capacity: list[NDArray[np.int64]] = []
        # Other parts bring the rows that they watch up to date at each instant.
        for site in range(sites):
            ledger.watch(site)

    def concerns(self) -> Concerns:
        """Return nothing: it reads the ledger at instants of its own."""
        return Concerns()

    def horizon(self) -> float:
        """Return the time of the next sample, s; infinity after the last."""
        time = len(self._held) * self._every
        return time if time < self._until else np.inf

    def decide(self, now: float) -> Sequence[Due]:
        """Take the sample that is due."""
        if now >= self.horizon():
            rows = self._nodes.capacity[: self._first[-1]]
            held = self._nodes.held[: self._first[-1]].sum(axis=1)
            self._capacity.append(np.add.reduceat(rows, self._first[:-1]))
            self._held.append(np.add.reduceat(held, self._first[:-1]))
            self._progress(min(now / self._until, 1.0))
        return ()

    def result(self) -> Samples:
        """Return the samples."""
        time = np.arange(len(self._held), dtype=np.float64) * self._every
        shape = (-1, len(self._first) - 1)
        return Samples(time, np.array(self._held).reshape(shape), np.array(self._capacity).reshape(shape))
