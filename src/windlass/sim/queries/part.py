"""The part in which a planner acts: queries hold cores and links, in configurations that the planner chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.model import InputError
from windlass.model.queries import KINDS, Hierarchy
from windlass.model.timetable import SiteTimetable
from windlass.plan.view import TOLERANCE, Plan, PlanView, QueryOptions
from windlass.sim.demand import CoreDemand
from windlass.sim.handle import Handle
from windlass.sim.ledger import Ledger
from windlass.sim.part import Concerns, Due, Entries, Quiet
from windlass.sim.queries.cores import HOLD_CLUSTERS, ClusterCores, rows_of_clusters
from windlass.sim.queries.demand import lacking_cores
from windlass.sim.queries.log import StreamLog
from windlass.sim.queries.result import Streamed
from windlass.sim.queries.setup import Stays, Terms
from windlass.sim.queries.sharing import load_of, share
from windlass.sim.queries.steps import KERNELS, RUN_TYPE, QueryClock, QueryCounts, entries_of, make_run
from windlass.sim.queries.streams import ADVANCE, Streams

_PLAN = "plan"
_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]
_CORES, _UP, _DOWN = range(len(KINDS))


class QueriesPart(Quiet):
    """Streaming queries on a hierarchy: see :class:`windlass.sim.part.Part`.

    When queries arrive or leave, or a capacity changes, the planner is called ``terms.notice`` seconds later. Until
    then queries share the capacity: all queries that use a short resource slow down in proportion. While the running
    configurations fit, a changed capacity is only a possible gain, for which the planner is called at most once in
    ``terms.patience`` seconds.

    Parameters
    ----------
    hierarchy
        Clusters, in the order of the ledger's rows, or of ``at``.
    options
        Configurations of each query; the ``query`` of each entry is its index.
    stays
        Arrival and departure of each query.
    ledger
        Ledger of the cores that queries hold.
    terms
        Delays and limits; None for the defaults.
    timetable
        Changes of the clusters' cores (``slots``, in units of the ledger) and links. A cluster of several rows keeps
        its cores here: its rows change by outages.
    units
        Units of the ledger in one core, since components use fractions of a core. With 1, a cluster's components
        together hold whole cores.
    site, number
        Number of the site and of this part in the ledger; by default a number that no part has.
    at
        For each cluster, the site of the ledger that is its cores, which other parts may use as well; None for the
        rows of ``site``, one a cluster.
    keep
        For each cluster, units that the part holds in any case until the last query has left; None for none.
    progress
        Called with the share of the simulated time that has passed.

    Raises
    ------
    InputError
        The ledger has the wrong number of rows or sites, ``options`` and ``stays`` differ in length, the timetable has
        an unknown cluster or changes the cores of one of several rows, or another part sets the capacity of a cluster
        in the timetable.

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

    #: Compiled functions of the part.
    kernels: tuple[Kernel, ...] = (*KERNELS, ADVANCE, HOLD_CLUSTERS)

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
        at: Sequence[int] | None = None,
        keep: Sequence[int] | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        number = ledger.join(site, number)
        clusters = len(hierarchy.clusters)
        timetable = SiteTimetable.none() if timetable is None else timetable
        rows = rows_of_clusters(ledger, clusters, site, at)
        if len(options) != len(stays):
            raise InputError(
                f"options has {len(options)} entries, expected one for each of {len(stays)} stays"
            )
        if len(timetable) and timetable.site.max() >= clusters:
            raise InputError(f"timetable: site is {timetable.site.max()}, expected 0 to {clusters - 1}")
        self._rows = [each.start if len(each) == 1 else None for each in rows]
        _check_fixed(timetable, rows, ledger)
        changing = [self._rows[each] for each in np.unique(timetable.site).tolist()]
        ledger.own([row for row in changing if row is not None], "the timetable of queries")
        self._resources, self._options, self._stays = hierarchy.resources, tuple(options), stays
        self._shown = list(options)
        self._terms = terms = Terms() if terms is None else terms
        self._ledger, self._cores = ledger, ClusterCores(ledger, rows, number, units=units, keep=keep)
        self._links = hierarchy.capacity()
        self._timetable, self._changes, self._next_change = timetable, np.append(timetable.time, np.inf), 0
        self._streams = Streams(len(stays), terms.buffer, terms.deadline)
        self._choice, self._switches = np.full(len(stays), -1), np.zeros(len(stays), np.int64)
        #: Time at which the starting components of each query will run, s; infinity if none are starting.
        self._up = np.full(len(stays), np.inf)
        self._order, self._arrived = np.argsort(stays.arrive, kind="stable"), 0
        self._now, self._decided = 0.0, -np.inf
        self._log = StreamLog(clusters)
        self._run = make_run(
            ledger,
            rows,
            number,
            units=units,
            keep=self._cores.keep,
            capacity=self._available(),
            queries=len(stays),
        )
        self._handle = Handle(self._run, RUN_TYPE)
        self._counts, self._clock = QueryCounts.of(self._run.counts), QueryClock.of(self._run.clock)
        self._clock.notice, self._clock.patience = terms.notice, terms.patience
        self._clock.next_change = self._changes[0]
        self._merged, self._load = False, load_of(self._options, self._choice, False)
        self._progress, self._last = progress or (lambda _: None), float(stays.leave.max(initial=0.0))
        self._sites = (site,) if at is None else tuple(at)
        #: The site of each cluster; empty if the clusters are rows of one site.
        self._at = () if at is None else tuple(at)

    def concerns(self) -> Concerns:
        """Return the sites of the clusters."""
        return Concerns(sites=self._sites)

    def entries(self) -> Entries:
        """Return the compiled steps, which complete an instant at which nothing happens to a query."""
        return entries_of(self, self._handle.address)

    def horizon(self) -> float:
        """Return the time of the next event, s.

        Events are arrivals, departures, components that start to run, emptied buffers, changes of cores or links, and
        calls of the planner.
        """
        if np.isnan(self._clock.next_event):
            self._clock.next_event = self._find_next_event()
        return self._clock.next_event

    def _find_next_event(self) -> float:
        stays, changes = self._stays, self._clock.next_change
        if self.ended():
            return changes
        coming = stays.arrive[self._order[self._arrived]] if self._arrived < len(stays) else np.inf
        leaving = stays.leave[self._streams.present].min(initial=np.inf)
        caught_up = self._now + self._streams.caught_up_in()
        return float(
            min(coming, leaving, self._up.min(initial=np.inf), caught_up, changes, self._clock.plan_due)
        )

    def advance(self, until: float) -> float:
        """Process streams up to a time, s, or to the next event; return the time reached."""
        own = self.horizon()
        if until < own:
            # Changes by other parts arrive through the ledger, in :meth:`settle`.
            return until
        self._flow(own)
        self._counts.quiet, self._clock.next_event, streams = 0, np.nan, self._streams
        departed = np.flatnonzero(streams.present & (self._stays.leave <= own))
        for row in departed.tolist():
            streams.stop(row)
            streams.present[row] = False
            self._choice[row], self._up[row] = -1, np.inf
        up = self._up <= own
        streams.works[up], self._up[up] = True, np.inf
        if len(departed):
            self._counts.departed += len(departed)
            self._load = load_of(self._options, self._choice, self._merged)
            self._call_planner(own)
        self._share(take=False)
        self._progress(min(1.0, own / self._last) if self._last > 0.0 else 1.0)
        return own

    def alter(self, now: float) -> None:
        """Carry out the changes of cores and links that are due."""
        table, before = self._timetable, self._next_change
        while self._changes[self._next_change] <= now:
            row = self._next_change
            cluster = int(table.site[row])
            if (changing := self._rows[cluster]) is not None:
                self._ledger.set_capacity(changing, int(table.slots[row]))
            self._links[len(KINDS) * cluster + _UP] = table.up[row]
            self._links[len(KINDS) * cluster + _DOWN] = table.down[row]
            self._next_change += 1
        # Changes by other parts are noticed when all have been made, in :meth:`settle`.
        if self._next_change > before:
            self._clock.next_change, self._clock.next_event = self._changes[self._next_change], np.nan
            self._check_capacity(now)

    def settle(self, now: float) -> None:
        """Take note of cores that other parts hold or release, and of changes of capacity; take back kept cores."""
        self._check_capacity(now)
        # No other part decides before all have settled, so none takes these cores.
        self._cores.take_kept()

    def decide(self, now: float) -> Sequence[Due]:
        """Add arriving queries; return the planning decision if one is due."""
        stays, streams, before = self._stays, self._streams, self._arrived
        if self._counts.quiet and self.horizon() > now:
            return ()
        self._flow(now)
        self._decided, self._clock.next_event = now, np.nan
        while self._arrived < len(stays) and stays.arrive[self._order[self._arrived]] <= now:
            row = self._order[self._arrived]
            streams.present[row] = stays.leave[row] > now
            self._counts.departed += int(stays.leave[row] <= now)
            self._arrived += 1
        if self._arrived > before:
            self._call_planner(now)
        self._share(take=True)
        self._counts.quiet = 1
        if not streams.present.any():
            self._clock.plan_due = np.inf
        if self.ended():
            self._cores.release()
        return (Due(self, _PLAN),) if self._clock.plan_due <= now else ()

    def wants(self, decision: str) -> bool:
        """Return whether the decision has no answer yet."""
        return self._clock.plan_due <= self._now

    def view(self, decision: str) -> PlanView:
        """Return the current queries in the order of arrival, and the capacity that they can use."""
        queries = tuple(self._option(row) for row in self._present().tolist())
        return PlanView(self._now, self._resources, self._run.capacity.copy(), queries)

    def act(self, decision: str, answer: Plan) -> None:
        """Give queries their configurations; restart queries with another configuration than before."""
        answer.check(self.view(decision))
        rows = self._present()
        before = self._choice[rows]
        for row, new in zip(rows.tolist(), answer.choices, strict=True):
            if new != self._choice[row]:
                self._switches[row] += self._choice[row] >= 0
                self._switch(row, new)
        self._merged, self._clock.plan_due, self._clock.planned = answer.merged, np.inf, self._now
        self._load = load_of(self._options, self._choice, self._merged)
        self._log.log_answer(self._now, rows, before, answer)
        self._clock.next_event = np.nan
        self._share(take=True)

    def ended(self) -> bool:
        """Return whether all queries have left."""
        return self._counts.departed == len(self._stays)

    def lacking(self, within: float, site: int) -> CoreDemand:
        """Return the cores that queries lack at a site of the ledger, if it is a cluster's."""
        if site not in self._at:
            return CoreDemand.none()
        resource = self._at.index(site) * len(KINDS) + _CORES
        rows = self._present()
        # The planner decides on a query that has just arrived, before it lacks any.
        rows = rows[self._stays.arrive[rows] <= self._clock.planned]
        return lacking_cores(
            [self._options[row] for row in rows.tolist()],
            self._choice[rows],
            self._stays.arrive[rows],
            resource,
            float(self._run.wanted[resource]),
            float(self._run.capacity[resource]),
        )

    def finish(self) -> float:
        """Return when the last query so far left, s; minus infinity if none has."""
        gone = self._stays.leave <= self._now
        return float(self._stays.leave[gone].max(initial=-np.inf))

    def uses(self, rows: Sequence[int]) -> NDArray[np.bool_]:
        """Return False for each row: queries hold the cores that they use."""
        return np.zeros(len(rows), np.bool_)

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

    def _option(self, row: int) -> QueryOptions:
        """Return the options of a query with its running configuration; they are built anew only after a switch."""
        shown = self._shown[row]
        if shown.current != self._choice[row]:
            shown = self._shown[row] = self._options[row].running(int(self._choice[row]))
        return shown

    def _present(self) -> _Ints:
        """Return the rows of the current queries, in the order of arrival."""
        order = self._order[: self._arrived]
        rows: _Ints = order[self._streams.present[order]]
        return rows

    def _available(self) -> _Floats:
        """Return the capacity for queries, (L,): cores that they hold or that are idle, and links."""
        capacity = self._links.copy()
        capacity[_CORES :: len(KINDS)] = self._cores.available()
        return capacity

    def _check_capacity(self, now: float) -> None:
        """Share the capacity again if it has changed."""
        capacity, owes, run, clock = self._available(), self._cores.owes(), self._run, self._clock
        same = np.array_equal(capacity, run.capacity)
        if same and not owes:
            return
        clock.next_event = np.nan
        same_speeds = bool((run.wanted <= np.minimum(capacity, run.capacity)).all())
        run.capacity[:] = capacity
        if not same and self._streams.present.any():
            lacks = (self._load.total > capacity * (1.0 + TOLERANCE)).any()
            self._call_planner(now if lacks else max(now, clock.planned + self._terms.patience))
        if same_speeds and self._counts.quiet and not owes:
            return
        self._flow(now)
        # Before its turn at this instant the part takes no cores; after it, no other turn follows.
        self._share(take=self._decided == now)
        self._counts.quiet = 0

    def _call_planner(self, now: float) -> None:
        """Schedule a call of the planner after a change."""
        self._clock.plan_due = min(self._clock.plan_due, now + self._terms.notice)

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
            self._load, self._run.capacity, streams.works & (streams.waiting > 0.0), self._terms.catch_up
        )
        streams.rate[:] = np.where(streams.works, speeds.rate, 0.0)
        self._run.wanted[:], cores = speeds.wanted, speeds.held[_CORES::step]
        self._cores.hold(cores, take)
        sent = self._load.usage(streams.rate)[_UP::step]
        self._counts.present = int(streams.present.sum())
        self._log.now(self._counts.present, streams.results(), cores, sent)


def _check_fixed(timetable: SiteTimetable, rows: Sequence[range], ledger: Ledger) -> None:
    """Raise InputError if a timetable changes the cores of a cluster of several rows."""
    for time, cluster, cores in zip(timetable.time, timetable.site, timetable.slots, strict=True):
        several = rows[int(cluster)]
        whole = int(ledger.nodes.whole[several.start : several.stop].sum())
        if len(several) > 1 and cores != whole:
            raise InputError(
                f"timetable: cluster {cluster} has {cores} cores from {time:g} s on, expected its {whole}, as it has"
                f" {len(several)} rows; use outages of rows"
            )
