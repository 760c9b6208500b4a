"""Neighbours: the part that holds cores of nodes in bursts, which begin and end in steps of a core.

It stands for whatever else runs there and asks nobody: other teams' services, backups, virtual machines of others.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import number, whole
from windlass.sim.nodes import Ledger
from windlass.sim.part import Quiet


@dataclass(frozen=True, slots=True, eq=False)
class CoreChanges:
    """(m,) in order of time: when, s, on which node, and how many cores more (or fewer, below 0) are wanted."""

    time: NDArray[np.float64]
    node: NDArray[np.int64]
    cores: NDArray[np.int64]


def draw_bursts(
    nodes: int,
    cores: int,
    every: float,
    last: float,
    ramp: float,
    until: float,
    rng: np.random.Generator,
) -> CoreChanges:
    """Bursts of each node by itself.

    Parameters
    ----------
    nodes, cores
        How many nodes, and the cores of each.
    every
        Mean seconds between two bursts of a node, from the end of one to the beginning of the next; exponential.
    last
        Mean seconds that one lasts at its height; exponential.
    ramp
        Mean seconds from one core to the next, going up and coming down; each burst has its own, exponential.
    until
        None begins at or after this time, s.
    rng
        Draws. The height is uniform on 1 to all cores.

    Raises
    ------
    InputError
        A time that is not above 0 (a ramp may be 0), or no nodes or cores.

    Examples
    --------
    >>> drawn = draw_bursts(2, 4, 50.0, 20.0, 3.0, 1000.0, np.random.default_rng(1))
    >>> bool((np.diff(drawn.time) >= 0).all()), int(drawn.cores.sum())
    (True, 0)
    """
    whole("nodes", nodes, 1), whole("cores", cores, 1)
    number("every", every, 0.0, open_below=True), number("last", last, 0.0, open_below=True)
    number("ramp", ramp, 0.0)
    rows: list[tuple[float, int, int]] = []
    for node in range(nodes):
        now = float(rng.exponential(every))
        while now < until:
            height, slope = int(rng.integers(1, cores + 1)), float(rng.exponential(1.0)) * ramp
            peak = now + slope * (height - 1)
            falls = peak + float(rng.exponential(last))
            rows += [(now + slope * step, node, 1) for step in range(height)]
            rows += [(falls + slope * step, node, -1) for step in range(height)]
            now = falls + slope * (height - 1) + float(rng.exponential(every))
    rows.sort(key=lambda row: row[:2])
    return CoreChanges(
        np.array([row[0] for row in rows], np.float64),
        np.array([row[1] for row in rows], np.int64),
        np.array([row[2] for row in rows], np.int64),
    )


class Neighbours(Quiet):
    """Holds cores as its changes say: see :class:`windlass.sim.part.Part`.

    Parameters
    ----------
    changes
        What is wanted when.
    ledger, site, number
        Whose rows the nodes are, and under which number cores are held.

    Examples
    --------
    >>> ledger = Ledger([[4, 4]], parts=1)
    >>> part = Neighbours(CoreChanges(np.array([1.0, 5.0]), np.array([1, 1]), np.array([1, -1])), ledger)
    >>> part.horizon(), part.decide(1.0), ledger.nodes.idle.tolist(), part.horizon()
    (1.0, (), [4, 3], 5.0)
    """

    def __init__(self, changes: CoreChanges, ledger: Ledger, site: int = 0, number: int = 0) -> None:
        ledger.join(site, number)
        self._changes, self._ledger, self._first, self._number = (
            changes,
            ledger,
            ledger.rows(site).start,
            number,
        )
        self._times, self._next = np.append(changes.time, np.inf), 0

    def horizon(self) -> float:
        """The next change."""
        return float(self._times[self._next])

    def decide(self, now: float) -> tuple[()]:
        """Take cores, and give them back."""
        while self._times[self._next] <= now:
            row = self._next
            node, cores = self._first + int(self._changes.node[row]), int(self._changes.cores[row])
            self._ledger.hold(node, self._number, cores)
            self._next += 1
        return ()
