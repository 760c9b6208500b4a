"""Two decisions as one: a fleet policy says which job goes first, and its tasks run where their data is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.order.fleet import FleetPolicy, FleetView
from windlass.order.fleet.view import as_orders
from windlass.place.view import Placement, PlaceView, Ready, Sites

_Ints = NDArray[np.int64]

_REASONS = (
    "its job is next, and its input is here",
    "its job is next, and what it reads is mostly here",
    "its job is next, and its input's site has no slots",
)
_LOCAL, _SHUFFLE, _ELSEWHERE = range(3)


class InOrder:
    """Serves jobs in a fleet policy's order, each task where its data is.

    Map tasks run where their input lies (where the site has no slots left at all, at the site with the most free
    ones), shuffle tasks in proportion to the data at the sites. Each site gives its slots to the first job in the
    order that still has tasks for it. The fleet policy sees what the jobs' ready stages have left to start, and is
    asked whenever the engine asks: more often than on arrivals and departures, and with what is left by then.

    Parameters
    ----------
    order
        Says which job goes first.

    Examples
    --------
    >>> from windlass.order.fleet.policies.swag import Swag
    >>> sites = Sites.of(slots=[1, 1, 1], up=[1e9] * 3, down=[1e9] * 3)
    >>> ready = Ready.of(shuffles=[0, 0, 0], task_s=1, here=[[1, 10, 1], [3, 8, 0], [7, 0, 6]])
    >>> InOrder(Swag()).decide(PlaceView(0.0, sites, ready)).starts.tolist()
    [[2, 0, 0, 1], [1, 1, 1, 1], [2, 2, 2, 1]]
    """

    def __init__(self, order: FleetPolicy) -> None:
        self._order = order

    @property
    def name(self) -> str:
        """The fleet policy's."""
        return self._order.name

    def decide(self, view: PlaceView) -> Placement:
        """Which waiting tasks start now, at which sites."""
        sites, ready = view.sites, view.ready
        want = wanted(sites, ready)
        jobs, owner = np.unique(ready.job, return_inverse=True)
        subjobs = np.zeros((len(jobs), len(sites.slots)))
        np.add.at(subjobs, owner, want)
        backlog = ready.running.sum(axis=0).astype(np.float64)
        slots = np.maximum(sites.slots, 1).astype(np.float64)
        answer = self._order.decide(FleetView(view.now, subjobs, slots, backlog, jobs))
        orders = np.broadcast_to(as_orders(answer.order, len(jobs), len(slots)), (len(slots), len(jobs)))
        free, lines, why = sites.free.copy(), [], []
        for site in np.argsort(sites.slots == 0, kind="stable").tolist():
            for job in orders[site].tolist():
                for row in np.flatnonzero(owner == job).tolist():
                    # A site without slots has its maps run where most are free.
                    runs_at = site if sites.slots[site] > 0 else int(np.argmax(free))
                    tasks = int(min(want[row, site], free[runs_at]))
                    if tasks < 1 or (runs_at != site and sites.up[site] <= 0.0):
                        continue
                    free[runs_at] -= tasks
                    shuffles = bool(ready.shuffles[row])
                    lines.append([row, -1 if shuffles else site, runs_at, tasks])
                    why.append(_SHUFFLE if shuffles else _LOCAL if runs_at == site else _ELSEWHERE)
        starts = np.array(lines, np.int64).reshape(-1, 4)
        return Placement(starts, np.array(why, np.int64), _REASONS)


def wanted(sites: Sites, ready: Ready) -> _Ints:
    """(m, n) tasks that each stage still runs at each site, when they run where their data is."""
    want = ready.here.copy()
    for row in np.flatnonzero(ready.shuffles).tolist():
        share = np.where(sites.slots > 0, ready.data[row], 0.0)
        if share.sum() <= 0.0:
            share = sites.slots.astype(np.float64)
        # Of the whole stage, so that what has begun does not shift what is left.
        exact = share / max(share.sum(), 1e-300) * ready.total[row]
        counts = np.floor(exact).astype(np.int64)
        rest = np.argsort(counts - exact, kind="stable")[: int(ready.total[row] - counts.sum())]
        counts[rest] += 1
        left = np.maximum(counts - ready.started[row], 0)
        while left.sum() > ready.waiting[row]:
            left[np.argmax(left)] -= 1
        want[row] = left
    return want
