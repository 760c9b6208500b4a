"""Small random hierarchies with queries that arrive and leave, and a planner with random valid answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from windlass.drive import drive
from windlass.model.queries import Cluster, Component, Hierarchy, Query, QueryPlan
from windlass.model.timetable import SiteTimetable
from windlass.plan import Plan, PlanView, QueryOptions, configurations
from windlass.sim.coupled import Coupled, SinglePart
from windlass.sim.ledger import Ledger
from windlass.sim.part import Part
from windlass.sim.queries.part import QueriesPart
from windlass.sim.queries.result import Streamed
from windlass.sim.queries.setup import Stays, Terms

#: Units of the ledger that are one core.
UNITS = 1000
TIERS = Hierarchy(
    (
        Cluster("east", 1.0, up=4e5, parent="private"),
        Cluster("west", 0.0, up=3e5, parent="private"),
        Cluster("private", 4.0, up=5e5, down=6e5, parent="cloud"),
        Cluster("cloud", 8.0),
    )
)
_TRACK, _COUNT = (
    tuple(
        QueryPlan(
            accuracy, (Component(f"detect {name}", cores, sent), Component(f"tell {name}", cores / 2, 0.0))
        )
        for name, accuracy, cores, sent in plans
    )
    for plans in (
        (("high", 0.9, 3.0, 2e5), ("middle", 0.6, 1.5, 1e5), ("low", 0.2, 0.25, 2e4)),
        (("high", 0.8, 1.0, 5e4), ("low", 0.5, 0.0, 0.0)),
    )
)
KINDS = tuple(
    configurations(Query(kind, camera, plans, source=2.5e5), TIERS)
    for camera in ("east", "west")
    for kind, plans in (("track", _TRACK), ("count", _COUNT))
)


class RandomPlanner:
    """A planner with random fitting choices, unneeded changes, and sometimes equal work merged."""

    name = "nasty"

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def decide(self, view: PlanView) -> Plan:
        merged = bool(self._rng.random() < 0.4)
        choices = [-1] * len(view.queries)
        for row in self._rng.permutation(len(choices)):
            query = view.queries[row]
            kept = [query.current] if self._rng.random() < 0.4 else []
            for choice in [*kept, *self._rng.integers(-1, len(query), 4).tolist()]:
                tried = Plan((*choices[:row], choice, *choices[row + 1 :]), ("drawn",) * len(choices), merged)
                if (tried.demand(view) <= view.capacity).all():
                    choices[row] = choice
                    break
        plan = Plan(tuple(choices), ("drawn",) * len(choices), merged)
        return plan if (plan.demand(view) <= view.capacity).all() else self.nothing(view)

    @staticmethod
    def nothing(view: PlanView) -> Plan:
        return Plan((-1,) * len(view.queries), ("too much",) * len(view.queries))


@dataclass(frozen=True)
class Case:
    """A random case."""

    kinds: tuple[int, ...]
    stays: Stays
    terms: Terms
    timetable: SiteTimetable
    seed: int

    def options(self) -> list[QueryOptions]:
        """Of each query."""
        return [QueryOptions.of(row, KINDS[kind], merging=True) for row, kind in enumerate(self.kinds)]

    def part(self, ledger: Ledger, **options: Any) -> QueriesPart:
        """The part."""
        return QueriesPart(
            TIERS,
            self.options(),
            self.stays,
            ledger,
            terms=self.terms,
            timetable=self.timetable,
            units=UNITS,
            **options,
        )

    def run(self, policy: Any) -> Streamed:
        """By itself."""
        ledger = ledger_of()
        done: Streamed = drive(SinglePart(self.part(ledger), ledger), {"plan": policy})
        assert not ledger.nodes.held.any()
        return done

    def run_coupled(self, policy: Any, *others: Part, ledger: Ledger, first: bool = False) -> Streamed:
        """Run coupled with other parts; the ledger has room for one that holds cores."""
        part = self.part(ledger)
        parts = (*others, part) if first else (part, *others)
        done = drive(Coupled(parts, ledger), {"plan": policy})
        found: Streamed = done[parts.index(part)]
        return found


def one(arrive: float = 0.0, leave: float = 60.0, kind: int = 0, **terms: float) -> Case:
    """Return a case with a single query and no changes."""
    return Case(
        (kind,), Stays(np.array([arrive]), np.array([leave])), Terms(**terms), SiteTimetable.none(), 1
    )


def ledger_of(parts: int = 1) -> Ledger:
    """Return a ledger with one row per cluster."""
    return Ledger([[round(cluster.cores * UNITS) for cluster in TIERS.clusters]], parts)


def timetable_of(*rows: tuple[float, str, float, float, float]) -> SiteTimetable:
    """Changes, each a time, a cluster, and the parts of its cores, of its uplink and of its downlink that are there."""
    names = [cluster.name for cluster in TIERS.clusters]
    table = [
        (
            time,
            names.index(name),
            round(each.cores * UNITS * cores),
            each.up * up if up else 0.0,
            each.down * down,
        )
        for time, name, cores, up, down in rows
        for each in [TIERS.clusters[names.index(name)]]
    ]
    if not table:
        return SiteTimetable.none()
    times, site, slots, ups, downs = zip(*table, strict=True)
    return SiteTimetable(
        np.array(times, float), np.array(site), np.array(slots), np.array(ups), np.array(downs)
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Times are multiples of half a second, so that much happens at once."""
    half = st.integers(0, 80).map(lambda number: 0.5 * number)
    count = draw(st.integers(1, 7))
    arrive = np.array(draw(st.lists(half, min_size=count, max_size=count)))
    lasts = np.array(draw(st.lists(half, min_size=count, max_size=count)))
    part = st.sampled_from([0.0, 0.3, 0.7, 1.0])
    changes = draw(
        st.lists(
            st.tuples(half, st.sampled_from(["east", "west", "private", "cloud"]), part, part, st.just(1.0)),
            max_size=6,
        )
    )
    terms = Terms(
        restart=draw(st.sampled_from([0.0, 0.5, 1.3, 9.0])),
        notice=draw(st.sampled_from([0.0, 1.0, 2.5])),
        buffer=draw(st.sampled_from([0.0, 0.8, 2.0, 6.0])),
        deadline=draw(st.sampled_from([0.0, 0.5, 1.7])),
        catch_up=draw(st.sampled_from([0.0, 0.25, 1.0])),
    )
    return Case(
        tuple(draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))),
        Stays(arrive, arrive + lasts),
        terms,
        timetable_of(*sorted(changes, key=lambda change: change[0])),
        draw(st.integers(0, 1000)),
    )
