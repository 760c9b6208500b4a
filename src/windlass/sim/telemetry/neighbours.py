"""Neighbours: a part that holds cores of nodes in bursts, which grow and shrink one core at a time.

It models other software on the nodes that no scheduler controls: services of other teams, backups, virtual machines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.jit.schema import allocate
from windlass.model.values import number, whole
from windlass.sim.handle import Handle
from windlass.sim.ledger import Ledger
from windlass.sim.part import ABSENT, Concerns, Entries, Quiet
from windlass.sim.telemetry.neighbour_steps import (
    DECIDE,
    KERNELS,
    NEXT,
    RUN_TYPE,
    SETTLE,
    NeighbourCounts,
    NeighbourRun,
)


@dataclass(frozen=True, slots=True, eq=False)
class CoreChanges:
    """Changes of the cores that neighbours demand, in order of time.

    Parameters
    ----------
    time
        (m,) when, s.
    node
        (m,) int64, on which node.
    cores
        (m,) int64, by how many cores the demand grows; negative if it shrinks.
    """

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
    """Draw bursts of each node independently.

    Parameters
    ----------
    nodes, cores
        Number of nodes, and of cores of each.
    every
        Mean time from the end of a burst of a node to the start of the next, s; exponential.
    last
        Mean duration of a burst's peak, s; exponential.
    ramp
        Mean time from one core to the next while a burst grows or shrinks, s; drawn once per burst, exponential.
    until
        All bursts start before this time, s.
    rng
        Draws the bursts. Their height is uniform from 1 to all cores.

    Raises
    ------
    InputError
        A time is not above 0 (``ramp`` may be 0), or there are no nodes or cores.

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
    """Demand of neighbours for cores; a :class:`windlass.sim.part.Part`.

    They take idle cores only, and give up those of a node that is vacated. When the node is back, a burst that has not
    ended takes no cores again, except as it still grows.

    Parameters
    ----------
    changes
        Changes of the demand.
    ledger, site, number
        The ledger, the site with one row for each node, and the part's number in the ledger; by default a
        number that no part has.

    Examples
    --------
    >>> ledger = Ledger([[4, 4]], parts=1)
    >>> part = Neighbours(CoreChanges(np.array([1.0, 5.0]), np.array([1, 1]), np.array([1, -1])), ledger)
    >>> part.horizon(), part.decide(1.0), ledger.nodes.idle.tolist(), part.horizon()
    (1.0, (), [4, 3], 5.0)
    """

    #: Its compiled functions.
    kernels: tuple[Kernel, ...] = KERNELS

    def __init__(
        self, changes: CoreChanges, ledger: Ledger, site: int = 0, number: int | None = None
    ) -> None:
        changing = len(changes.time)
        run = allocate(
            NeighbourRun,
            {"changes": changing, "ends": changing + 1},
            nodes=ledger.nodes,
            time=np.append(changes.time, np.inf),
            row=ledger.rows(site).start + changes.node,
            cores=changes.cores,
        )
        NeighbourCounts.of(run.counts).part = ledger.join(site, number)
        self._site, self._handle = site, Handle(run, RUN_TYPE)
        # A change of capacity may end a burst.
        ledger.watch(site)

    def concerns(self) -> Concerns:
        """Return the site: its rows may have to be vacated."""
        return Concerns(sites=(self._site,))

    def entries(self) -> Entries:
        """Return the compiled steps."""
        return Entries(
            self._handle.address,
            run=ABSENT,
            steps=0,
            settle=SETTLE.as_argument().entry,
            decide=DECIDE.as_argument().entry,
            horizon=NEXT.as_argument().entry,
            ended=ABSENT,
            advanced=lambda _, until: until,
            settled=lambda _, now: None,
            decided=lambda _, now: (),
        )

    def horizon(self) -> float:
        """Return when the demand changes next, s."""
        change: float = NEXT.entry()(self._handle.address)
        return change

    def settle(self, now: float) -> None:
        """Give up the cores of rows to be vacated; the burst does not take them again."""
        SETTLE.entry()(self._handle.address, now)

    def decide(self, now: float) -> tuple[()]:
        """Take cores, or give them back, as the demand changes."""
        DECIDE.entry()(self._handle.address, now)
        return ()
