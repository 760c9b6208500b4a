"""The part in which a planner acts: queries hold cores and links, in configurations that the planner chooses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.queries import KINDS, Hierarchy
from windlass.model.timetable import SiteTimetable
from windlass.plan.view import Plan, PlanView, QueryOptions
from windlass.sim.nodes import Ledger
from windlass.sim.part import Concerns, Due, Quiet
from windlass.sim.queries.log import StreamLog
from windlass.sim.queries.result import Streamed
from windlass.sim.queries.setup import Stays, Terms
from windlass.sim.queries.sharing import load_of, share
from windlass.sim.queries.streams import Streams

_PLAN = "plan"
_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]
_CORES, _UP, _DOWN = range(len(KINDS))
#: Units of the ledger by which rounding may exceed the cores that fit.
_ROUNDING = 1e-6


class QueriesPart(Quiet):
    """Streaming queries on a hierarchy: see :class:`windlass.sim.part.Part`.

    When queries arrive or leave, or a capacity changes, the planner is called ``terms.notice`` seconds later. Until
    then queries share the capacity: all queries that use a short resource slow down in proportion.

    Parameters
    ----------
    hierarchy
        Clusters, in the order of the ledger's rows.
    options
        Configurations of each query; the ``query`` of each entry is its index.
    stays
        Arrival and departure of each query.
    ledger
        Ledger of the cores that queries hold.
    terms
        Delays and limits; None for the defaults.
    timetable
        Changes of the clusters' cores (``slots``, in units of the ledger) and links.
    units
        Units of the ledger in one core, since components use fractions of a core.
    site, number
        Number of the site and of this part in the ledger; by default a number that no part has.
    progress
        Called with the share of the simulated time that has passed.

    Raises
    ------
    InputError
        The ledger has the wrong number of rows, ``options`` and ``stays`` differ in length, the timetable has an
        unknown cluster, or another part sets the capacity of a cluster in the timetable.

    Examples
    --------
    >>> from windlass.model.queries import Cluster
    >>> tiers = Hierarchy((Cluster("cloud", 2.0),))
    >>> options = QueryOptions(0, "cars", np.array([0.9]), np.array([[4.0, 0.0, 0.0]]), ("all@cloud",))
    >>> part = QueriesPart(
    ...     tiers, [options], Stays(np.zeros(1), np.full(1, 60.0)), Ledger([[2000]], parts=1))
    >>> part.horizon()
    0.0
    """

    def __init__(
        self,
        hierarchy: Hierarchy,
        options: Sequence[QueryOptions],
        stays: Stays,
        ledger: Ledger,
        *,
        terms: Terms | None = None,
        timetable: SiteTimetable | None = None,
        units: int = 1000,
        site: int = 0,
        number: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        number = ledger.join(site, number)
        clusters = len(hierarchy.clusters)
        timetable = SiteTimetable.none() if timetable is None else timetable
        if len(ledger.rows(site)) != clusters:
            raise InputError(
                f"site {site} of the ledger has {len(ledger.rows(site))} rows, expected {clusters}: one a cluster"
            )
        if len(options) != len(stays):
            raise InputError(
                f"options has {len(options)} entries, expected one for each of {len(stays)} stays"
            )
        if len(timetable) and timetable.site.max() >= clusters:
            raise InputError(f"timetable: site is {timetable.site.max()}, expected 0 to {clusters - 1}")
        ledger.own(np.unique(ledger.rows(site).start + timetable.site), "the timetable of queries")
        self._resources, self._options, self._stays = hierarchy.resources, tuple(options), stays
        self._terms = terms = Terms() if terms is None else terms
        self._ledger, self._rows, self._number, self._units = ledger, ledger.rows(site), number, units
        self._links = hierarchy.capacity()
        self._timetable, self._changes, self._next_change = timetable, np.append(timetable.time, np.inf), 0
        self._streams = Streams(len(stays), terms.buffer, terms.deadline)
        self._choice, self._switches = np.full(len(stays), -1), np.zeros(len(stays), np.int64)
        #: Time at which the starting components of each query will run, s; infinity if none are starting.
        self._up = np.full(len(stays), np.inf)
        self._order, self._arrived, self._departed = np.argsort(stays.arrive, kind="stable"), 0, 0
        self._now, self._plan_due, self._decided = 0.0, np.inf, -np.inf
        self._merged, self._load = False, load_of(self._options, self._choice, False)
        self._capacity, self._log = self._available(), StreamLog(clusters)
        self._progress, self._last = progress or (lambda _: None), float(stays.leave.max(initial=0.0))
        self._site = site
        ledger.watch(site)

    def concerns(self) -> Concerns:
        """Return the site of the clusters."""
        return Concerns(sites=(self._site,))

    def horizon(self) -> float:
        """Return the time of the next event, s.

        Events are arrivals, departures, components that start to run, emptied buffers, changes of cores or links, and
        calls of the planner.
        """
        stays, changes = self._stays, float(self._changes[self._next_change])
        if self.ended():
            return changes
        coming = stays.arrive[self._order[self._arrived]] if self._arrived < len(stays) else np.inf
        leaving = stays.leave[self._streams.present].min(initial=np.inf)
        caught_up = self._now + self._streams.caught_up_in()
        return float(min(coming, leaving, self._up.min(initial=np.inf), caught_up, changes, self._plan_due))

    def advance(self, until: float) -> float:
        """Process streams up to a time, s, or to the next event; return the time reached."""
        own = self.horizon()
        if until < own:
            # Changes by other parts arrive through the ledger, in :meth:`settle`.
            return until
        self._flow(own)
        streams = self._streams
        departed = np.flatnonzero(streams.present & (self._stays.leave <= own))
        for row in departed.tolist():
            streams.stop(row)
            streams.present[row] = False
            self._choice[row], self._up[row] = -1, np.inf
        up = self._up <= own
        streams.works[up], self._up[up] = True, np.inf
        if len(departed):
            self._departed += len(departed)
            self._load = load_of(self._options, self._choice, self._merged)
            self._call_planner(own)
        self._share(take=False)
        self._progress(min(1.0, own / self._last) if self._last > 0.0 else 1.0)
        return own

    def alter(self, now: float) -> None:
        """Carry out the changes of cores and links that are due."""
        table = self._timetable
        while self._changes[self._next_change] <= now:
            row = self._next_change
            cluster = int(table.site[row])
            self._ledger.set_capacity(self._rows.start + cluster, int(table.slots[row]))
            self._links[len(KINDS) * cluster + _UP] = table.up[row]
            self._links[len(KINDS) * cluster + _DOWN] = table.down[row]
            self._next_change += 1
        self._check_capacity(now)

    def settle(self, now: float) -> None:
        """Take note of cores that other parts hold or release, and of changes of capacity."""
        self._check_capacity(now)

    def decide(self, now: float) -> Sequence[Due]:
        """Add arriving queries; return the planning decision if one is due."""
        stays, streams, before = self._stays, self._streams, self._arrived
        self._flow(now)
        self._decided = now
        while self._arrived < len(stays) and stays.arrive[self._order[self._arrived]] <= now:
            row = self._order[self._arrived]
            streams.present[row] = stays.leave[row] > now
            self._departed += int(stays.leave[row] <= now)
            self._arrived += 1
        if self._arrived > before:
            self._call_planner(now)
        self._share(take=True)
        if not streams.present.any():
            self._plan_due = np.inf
        return (Due(self, _PLAN),) if self._plan_due <= now else ()

    def wants(self, decision: str) -> bool:
        """Return whether the decision has no answer yet."""
        return self._plan_due <= self._now

    def view(self, decision: str) -> PlanView:
        """Return the current queries in the order of arrival, and the capacity that they can use."""
        return PlanView(
            self._now,
            self._resources,
            self._capacity,
            tuple(
                replace(self._options[row], current=int(self._choice[row]))
                for row in self._present().tolist()
            ),
        )

    def act(self, decision: str, answer: Plan) -> None:
        """Give queries their configurations; restart queries with another configuration than before."""
        answer.check(self.view(decision))
        rows = self._present()
        before = self._choice[rows]
        for row, new in zip(rows.tolist(), answer.choices, strict=True):
            if new != self._choice[row]:
                self._switches[row] += self._choice[row] >= 0
                self._switch(row, new)
        self._merged, self._plan_due = answer.merged, np.inf
        self._load = load_of(self._options, self._choice, self._merged)
        self._log.log_answer(self._now, rows, before, answer)
        self._share(take=True)

    def ended(self) -> bool:
        """Return whether all queries have left."""
        return self._departed == len(self._stays)

    def result(self) -> Streamed:
        """Return the result so far."""
        streams = self._streams
        return Streamed(
            self._stays,
            streams.accurate,
            streams.served,
            streams.late,
            streams.lost,
            streams.silent,
            self._switches,
            self._log.answers(),
            self._log.course(),
        )

    def _present(self) -> _Ints:
        """Return the rows of the current queries, in the order of arrival."""
        order = self._order[: self._arrived]
        rows: _Ints = order[self._streams.present[order]]
        return rows

    def _available(self) -> _Floats:
        """Return the capacity for queries, (L,): cores that they hold or that are idle, and links."""
        nodes, capacity = self._ledger.nodes, self._links.copy()
        free = nodes.idle[self._rows] + nodes.held[self._rows, self._number]
        capacity[_CORES :: len(KINDS)] = np.maximum(free, 0) / self._units
        return capacity

    def _check_capacity(self, now: float) -> None:
        """Share the capacity again if it has changed."""
        capacity = self._available()
        if not np.array_equal(capacity, self._capacity):
            self._flow(now)
            self._capacity = capacity
            self._call_planner(now)
            # Before its turn at this instant the part takes no cores; after it, no other turn follows.
            self._share(take=self._decided == now)

    def _call_planner(self, now: float) -> None:
        """Schedule a call of the planner after a change."""
        self._plan_due = min(self._plan_due, now + self._terms.notice)

    def _switch(self, row: int, choice: int) -> None:
        """Stop a query's components, and start those of another configuration."""
        self._streams.stop(row)
        self._choice[row], self._up[row] = choice, np.inf
        if choice >= 0:
            self._streams.accuracy[row] = self._options[row].accuracy[choice]
            if self._terms.restart > 0.0:
                self._up[row] = self._now + self._terms.restart
            else:
                self._streams.works[row] = True

    def _flow(self, now: float) -> None:
        """Process streams up to an instant; no rate changes before it."""
        if now > self._now:
            if not self.ended():
                self._streams.advance(now - self._now)
                self._log.went(self._now, now)
            self._now = now

    def _share(self, take: bool) -> None:
        """Set the speeds of all queries, and hold the cores that they need; more cores only with ``take``."""
        streams, step = self._streams, len(KINDS)
        speeds = share(
            self._load, self._capacity, streams.works & (streams.waiting > 0.0), self._terms.catch_up
        )
        streams.rate[:] = np.where(streams.works, speeds.rate, 0.0)
        cores, held = speeds.held[_CORES::step], self._ledger.nodes.held
        for row, wanted in zip(self._rows, cores.tolist(), strict=True):
            more = math.ceil(wanted * self._units - _ROUNDING) - int(held[row, self._number])
            if more < 0 or (more > 0 and take):
                self._ledger.hold(row, self._number, more)
        sent = self._load.usage(streams.rate)[_UP::step]
        self._log.now(int(streams.present.sum()), streams.results(), cores, sent)
