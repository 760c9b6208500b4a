"""A part that samples the cores in use at each site, by load, and reports the progress of the simulated time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.sim.ledger import Ledger
from windlass.sim.part import Concerns, Due, Quiet
from windlass.sim.workers.part import WorkersPart
from windlass.sim.workers.scalars import NONE

_Cores = NDArray[np.int64]
_Amounts = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Cores in use over time.

    Parameters
    ----------
    time
        (m,) time of each sample, s.
    end
        End of the last one, s.
    by_load
        By load: (m, sites) cores that it holds.
    busy
        (m, sites) cores that no load holds, of nodes on which a short task runs; the task uses them.
    capacity
        (m, sites) cores that there are.
    """

    time: NDArray[np.float64]
    end: float
    by_load: Mapping[str, _Amounts]
    busy: _Amounts
    capacity: _Amounts

    @property
    def held(self) -> _Amounts:
        """(m, sites) cores that loads hold."""
        found: _Amounts = sum(self.by_load.values(), np.zeros_like(self.capacity))
        return found


class Sampler(Quiet):
    """Samples the cores in use at each site while jobs and tasks arrive; a :class:`windlass.sim.part.Part`.

    Parameters
    ----------
    ledger, sites
        The ledger, and the number of its first sites that are sampled.
    loads
        The load of each part of the ledger, in the order of their numbers.
    workers
        By site, the part of its short tasks.
    every, until
        Time between samples, and their end, s.
    progress
        Receives the share of the simulated time that has passed.
    begin
        Time of the first sample, s.
    units
        Units of the ledger in a core.

    Examples
    --------
    >>> from windlass.sim.coupled import Coupled
    >>> ledger = Ledger([[4, 4]], parts=1)
    >>> part = Sampler(ledger, 1, ["batch"], {}, 10.0, 30.0, lambda share: None)
    >>> ledger.hold(0, 0, 3), part.decide(0.0), part.horizon()
    (3, (), 10.0)
    >>> found = part.result()
    >>> found.by_load["batch"].tolist(), found.capacity.tolist()
    ([[3.0]], [[8.0]])
    """

    def __init__(
        self,
        ledger: Ledger,
        sites: int,
        loads: Sequence[str],
        workers: Mapping[int, WorkersPart],
        every: float,
        until: float,
        progress: Callable[[float], None],
        begin: float = 0.0,
        units: int = 1,
    ) -> None:
        self._begin, self._units = begin, units
        self._nodes, self._every, self._until, self._progress = ledger.nodes, every, until, progress
        self._loads, self._workers = tuple(loads), dict(workers)
        self._first = self._nodes.first[: sites + 1]
        self._held: list[_Cores] = []
        self._busy: list[list[int]] = []
        self._capacity: list[_Cores] = []
        # Other parts bring the rows that they watch up to date at each instant.
        for site in range(sites):
            ledger.watch(site)

    def concerns(self) -> Concerns:
        """Return the short tasks: it reads which nodes run one, at instants of its own."""
        return Concerns(reads=tuple(self._workers.values()))

    def horizon(self) -> float:
        """Return the time of the next sample, s; infinity after the last."""
        time = self._begin + len(self._held) * self._every
        return time if time < self._until else np.inf

    def decide(self, now: float) -> Sequence[Due]:
        """Take the sample that is due."""
        if now >= self.horizon():
            first, end = self._first[:-1], self._first[-1]
            self._capacity.append(np.add.reduceat(self._nodes.capacity[:end], first))
            self._held.append(np.add.reduceat(self._nodes.held[:end], first, axis=0))
            self._busy.append([self._busy_at(site) for site in range(len(first))])
            self._progress(min((now - self._begin) / (self._until - self._begin), 1.0))
        return ()

    def _busy_at(self, site: int) -> int:
        """Return the idle cores of a site's nodes that run a short task."""
        part = self._workers.get(site)
        if part is None:
            return 0
        idle = self._nodes.idle[self._first[site] : self._first[site + 1]]
        running = part.state.line["running"]
        # Higher numbers are benchmark tasks, which make way for those of the load.
        busy = (running != NONE) & (running < len(part.state.submit))
        return int(np.maximum(idle[busy], 0).sum())

    def result(self) -> Samples:
        """Return the samples."""
        sites = len(self._first) - 1
        time = self._begin + np.arange(len(self._held), dtype=np.float64) * self._every
        held = (
            np.array(self._held, np.int64).reshape(len(time), sites, self._nodes.held.shape[1]) / self._units
        )
        by_load = {
            load: held[:, :, [part for part, each in enumerate(self._loads) if each == load]].sum(axis=2)
            for load in dict.fromkeys(self._loads)
        }
        busy, capacity = (
            np.array(rows, np.int64).reshape(len(time), sites) / self._units
            for rows in (self._busy, self._capacity)
        )
        return Samples(time, self._until, by_load, busy, capacity)
