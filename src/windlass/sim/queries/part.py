"""The part in which a planner acts: queries hold cores and links, and the planner says in which configuration."""

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
from windlass.sim.part import Due, Quiet
from windlass.sim.queries.log import StreamLog
from windlass.sim.queries.result import Streamed
from windlass.sim.queries.setup import Stays, Terms
from windlass.sim.queries.sharing import load_of, share
from windlass.sim.queries.streams import Streams

_PLAN = "plan"
_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]
_CORES, _UP, _DOWN = range(len(KINDS))
#: What rounding may add to the cores that fit.
_ROUNDING = 1e-6


class QueriesPart(Quiet):
    """Streaming queries on a hierarchy: see :class:`windlass.sim.part.Part`.

    When queries come or go, or capacity changes, the planner is asked, so many seconds later as ``terms.notice`` says.
    Until then queries have what there is: all that use a resource slow down in proportion.

    Parameters
    ----------
    hierarchy
        Its clusters are the ledger's rows, in their order.
    options
        What each query can run as; ``query`` of each is its place here.
    stays
        When each is there.
    ledger
        Whose cores they hold.
    terms
        How long things take.
    timetable
        Cores (in ``slots``, units of the ledger) and links of clusters that change.
    units
        How many units of the ledger are one core: components ask for parts of one.
    site, number
        Which site of the ledger, and which part.
    progress
        Told the share of time that is over.

    Raises
    ------
    InputError
        The ledger's rows are not the clusters, there are not as many options as stays, or a cluster is not there.

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
        number: int = 0,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        ledger.join(site, number)
        clusters = len(hierarchy.clusters)
        timetable = SiteTimetable.none() if timetable is None else timetable
        if len(ledger.rows(site)) != clusters:
            raise InputError(
                f"site {site} of the ledger has {len(ledger.rows(site))} rows, expected {clusters}"
            )
        if len(options) != len(stays):
            raise InputError(f"options: {len(options)} of them, expected one for each of {len(stays)} stays")
        if len(timetable) and timetable.site.max() >= clusters:
            raise InputError(f"timetable: site is {timetable.site.max()}, expected 0 to {clusters - 1}")
        self._resources, self._options, self._stays = hierarchy.resources, tuple(options), stays
        self._terms = terms = Terms() if terms is None else terms
        self._ledger, self._rows, self._number, self._units = ledger, ledger.rows(site), number, units
        self._links = hierarchy.capacity()
        self._timetable, self._changes, self._next_change = timetable, np.append(timetable.time, np.inf), 0
        self._streams = Streams(len(stays), terms.buffer, terms.deadline)
        self._choice, self._switches = np.full(len(stays), -1), np.zeros(len(stays), np.int64)
        #: When the components that are being started work, s; infinity where none are.
        self._up = np.full(len(stays), np.inf)
        self._order, self._came, self._gone = np.argsort(stays.arrive, kind="stable"), 0, 0
        self._now, self._ask_at, self._decided = 0.0, np.inf, -np.inf
        self._merged, self._load = False, load_of(self._options, self._choice, False)
        self._capacity, self._log = self._there_is(), StreamLog(clusters)
        self._progress, self._last = progress or (lambda _: None), float(stays.leave.max(initial=0.0))
        ledger.watch(site)

    def horizon(self) -> float:
        """When a query comes, goes, works or has caught up, cores or links change, or the planner is to be asked."""
        stays, changes = self._stays, float(self._changes[self._next_change])
        if self.ended():
            return changes
        coming = stays.arrive[self._order[self._came]] if self._came < len(stays) else np.inf
        leaving = stays.leave[self._streams.there].min(initial=np.inf)
        caught_up = self._now + self._streams.caught_up_in()
        return float(min(coming, leaving, self._up.min(initial=np.inf), caught_up, changes, self._ask_at))

    def advance(self, until: float) -> float:
        """Let streams flow; queries leave, and components that were started work."""
        own = self.horizon()
        if until < own:
            # What others did until then shows in the ledger, if it matters.
            return until
        self._flow(own)
        streams = self._streams
        gone = np.flatnonzero(streams.there & (self._stays.leave <= own))
        for row in gone.tolist():
            streams.stop(row)
            streams.there[row] = False
            self._choice[row], self._up[row] = -1, np.inf
        up = self._up <= own
        streams.works[up], self._up[up] = True, np.inf
        if len(gone):
            self._gone += len(gone)
            self._load = load_of(self._options, self._choice, self._merged)
            self._ask(own)
        self._share(take=False)
        self._progress(min(1.0, own / self._last) if self._last > 0.0 else 1.0)
        return own

    def alter(self, now: float) -> None:
        """Cores and links change."""
        table = self._timetable
        while self._changes[self._next_change] <= now:
            row = self._next_change
            cluster = int(table.site[row])
            self._ledger.set_capacity(self._rows.start + cluster, int(table.slots[row]))
            self._links[len(KINDS) * cluster + _UP] = table.up[row]
            self._links[len(KINDS) * cluster + _DOWN] = table.down[row]
            self._next_change += 1
        self._look(now)

    def settle(self, now: float) -> None:
        """Others hold other cores, or there are other ones."""
        self._look(now)

    def decide(self, now: float) -> Sequence[Due]:
        """Queries come; and the planner is asked, if something changed long enough ago."""
        stays, streams, came = self._stays, self._streams, self._came
        self._flow(now)
        self._decided = now
        while self._came < len(stays) and stays.arrive[self._order[self._came]] <= now:
            row = self._order[self._came]
            streams.there[row] = stays.leave[row] > now
            self._gone += int(stays.leave[row] <= now)
            self._came += 1
        if self._came > came:
            self._ask(now)
        self._share(take=True)
        if not streams.there.any():
            self._ask_at = np.inf
        return (Due(self, _PLAN),) if self._ask_at <= now else ()

    def wants(self, decision: str) -> bool:
        """Until it was answered."""
        return self._ask_at <= self._now

    def view(self, decision: str) -> PlanView:
        """The queries that are there, in the order in which they came, and what there is for them."""
        return PlanView(
            self._now,
            self._resources,
            self._capacity,
            tuple(
                replace(self._options[row], current=int(self._choice[row])) for row in self._there().tolist()
            ),
        )

    def act(self, decision: str, answer: Plan) -> None:
        """Give queries their configurations; those that have another one than before are started anew."""
        answer.check(self.view(decision))
        rows = self._there()
        before = self._choice[rows]
        for row, new in zip(rows.tolist(), answer.choices, strict=True):
            if new != self._choice[row]:
                self._switches[row] += self._choice[row] >= 0
                self._switch(row, new)
        self._merged, self._ask_at = answer.merged, np.inf
        self._load = load_of(self._options, self._choice, self._merged)
        self._log.answered(self._now, rows, before, answer)
        self._share(take=True)

    def ended(self) -> bool:
        """Whether all queries have gone."""
        return self._gone == len(self._stays)

    def result(self) -> Streamed:
        """What happened."""
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

    def _there(self) -> _Ints:
        """Rows of the queries that are there, in the order in which they came."""
        order = self._order[: self._came]
        found: _Ints = order[self._streams.there[order]]
        return found

    def _there_is(self) -> _Floats:
        """(L,) what queries can have: cores that they hold or that are idle, and links."""
        nodes, found = self._ledger.nodes, self._links.copy()
        free = nodes.idle[self._rows] + nodes.held[self._rows, self._number]
        found[_CORES :: len(KINDS)] = np.maximum(free, 0) / self._units
        return found

    def _look(self, now: float) -> None:
        """Take in that there is more or less than before, if there is."""
        capacity = self._there_is()
        if not np.array_equal(capacity, self._capacity):
            self._flow(now)
            self._capacity = capacity
            self._ask(now)
            # Cores are taken in turn with other parts; but who has had its turn gets no other.
            self._share(take=self._decided == now)

    def _ask(self, now: float) -> None:
        """Something changed: the planner will be asked."""
        self._ask_at = min(self._ask_at, now + self._terms.notice)

    def _switch(self, row: int, choice: int) -> None:
        """Stop what a query runs, and start what it is to run."""
        self._streams.stop(row)
        self._choice[row], self._up[row] = choice, np.inf
        if choice >= 0:
            self._streams.accuracy[row] = self._options[row].accuracy[choice]
            if self._terms.restart > 0.0:
                self._up[row] = self._now + self._terms.restart
            else:
                self._streams.works[row] = True

    def _flow(self, now: float) -> None:
        """Go on to an instant; nothing changes on the way."""
        if now > self._now:
            if not self.ended():
                self._streams.go(now - self._now)
                self._log.went(self._now, now)
            self._now = now

    def _share(self, take: bool) -> None:
        """Work out how fast all are from now on, and hold what they need: more than before only with ``take``."""
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
        sent = self._load.taken(streams.rate)[_UP::step]
        self._log.now(int(streams.there.sum()), streams.results(), cores, sent)
