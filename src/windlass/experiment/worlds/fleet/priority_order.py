"""An ordering policy for an engine that requests placements: tasks of the first job run where their data is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.order.fleet import FleetPolicy, FleetView
from windlass.place.functions.in_place import wanted_in_place
from windlass.place.view import Placement, PlaceView

_Ints = NDArray[np.int64]

_REASONS = (
    "its job is first, and its input is here",
    "its job is first, and most of its input is here",
    "its job is first, and its input's site has no slots",
)
_LOCAL, _SHUFFLE, _ELSEWHERE = range(3)


class OrderedPlacement:
    """A placement policy that serves jobs in an ordering policy's order, as the simulator does.

    Each task runs where its data is: map tasks at the site of their input, or, if that site has no slots left at all,
    at the site with the most free ones. Shuffle tasks run in proportion to the data at the sites. Each site gives its
    slots to the first job in the order that has tasks for it. The order is recomputed when jobs arrive or depart, a
    stage can begin, or slots change.

    Parameters
    ----------
    order
        The ordering policy.

    Examples
    --------
    >>> from windlass.order.fleet.policies.swag import Swag
    >>> from windlass.place.view import Ready, Sites
    >>> sites = Sites.of(slots=[1, 1, 1], up=[1e9] * 3, down=[1e9] * 3)
    >>> ready = Ready.of(shuffles=[0, 0, 0], task_s=1, here=[[1, 10, 1], [3, 8, 0], [7, 0, 6]])
    >>> OrderedPlacement(Swag()).decide(PlaceView(0.0, sites, ready)).starts.tolist()
    [[2, 0, 0, 1], [1, 1, 1, 1], [2, 2, 2, 1]]
    """

    def __init__(self, order: FleetPolicy) -> None:
        self._order = order
        # (1, jobs) or (sites, jobs): jobs in order, one order for all sites or one each.
        self._orders: _Ints = np.empty((1, 0), np.int64)

    @property
    def name(self) -> str:
        """The ordering policy's name."""
        return self._order.name

    def decide(self, view: PlaceView) -> Placement:
        """Return the waiting tasks to start now, and their sites."""
        sites, ready = view.sites, view.ready
        want = wanted_in_place(sites, ready)
        # A failed task may bring back a job that had no tasks left to start.
        if view.moved or view.changed or not np.isin(ready.job, self._orders).all():
            self._orders = self._new_order(view, want)
        rows_of = {job: np.flatnonzero(ready.job == job).tolist() for job in np.unique(ready.job).tolist()}
        free, lines, why = sites.free.copy(), [], []
        for site in np.argsort(sites.slots == 0, kind="stable").tolist():
            for job in self._orders[site % len(self._orders)].tolist():
                for row in rows_of.get(job, ()):
                    # Map tasks of a site without slots run where the most slots are free.
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

    def _new_order(self, view: PlaceView, want: _Ints) -> _Ints:
        """Call the ordering policy, and return (1, jobs) or (sites, jobs) numbers of the waiting jobs in order."""
        sites, ready = view.sites, view.ready
        jobs, owner = np.unique(ready.job, return_inverse=True)
        subjobs = np.zeros((len(jobs), len(sites.slots)))
        np.add.at(subjobs, owner, want)
        slots = np.maximum(sites.slots, 1).astype(np.float64)
        backlog = (sites.slots - sites.free).astype(np.float64)
        answer = self._order.decide(FleetView(view.now, subjobs, slots, backlog, jobs))
        found: _Ints = jobs[answer.orders(len(jobs), len(slots))]
        return found
