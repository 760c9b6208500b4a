"""Cores that queries hold in the ledger: their site, their units, and more while they catch up."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled.test_queries import Ticking
from tests.oracles import query_streams
from tests.sim.queries import KINDS, TIERS, UNITS, ledger_of, one, timetable_of
from windlass.drive import drive
from windlass.model import InputError
from windlass.model.queries import Cluster, Hierarchy
from windlass.model.timetable import SiteTimetable
from windlass.plan import Plan, QueryOptions
from windlass.sim.coupled import SinglePart
from windlass.sim.ledger import Ledger
from windlass.sim.queries.cores import ClusterCores
from windlass.sim.queries.part import QueriesPart
from windlass.sim.queries.setup import Stays, Terms


def test_a_part_holds_cores_of_its_own_site_under_its_own_number():
    at = KINDS[0].labels[:].index("detect middle, tell middle@private")
    held = []

    class Keeps:
        name = "keeps"

        def decide(self, view):
            held.append(ledger.nodes.held.tolist())
            return Plan((at,) * len(view.queries), ("keeps",) * len(view.queries))

    rows = [round(cluster.cores * UNITS) for cluster in TIERS.clusters]
    ledger = Ledger([[500, 700], rows], parts=3)
    changes = timetable_of((20, "private", 0.75, 1, 1))
    case = replace(one(leave=40.0), timetable=changes)
    drive(SinglePart(case.part(ledger, site=1, number=2), ledger), {"plan": Keeps()})
    nothing = [[0, 0, 0]] * 6
    assert held == [nothing, [*nothing[:4], [0, 0, 2250], [0, 0, 0]]]
    assert ledger.nodes.capacity.tolist() == [500, 700, 1000, 0, 3000, 8000]
    for wrong in ({"site": 2}, {"site": -1}, {"number": 3}, {"number": -1}):
        with pytest.raises(InputError, match=r"(site|part) is (-1|2|3), expected"):
            case.part(ledger, **{"site": 1, "number": 0, **wrong})


def test_cores_are_rounded_up_to_units_but_not_because_of_the_rounding_of_sums():
    ledger = Ledger([[40]], parts=1)
    cores = ClusterCores(ledger, [range(1)], 0, units=10)
    for wanted, held in (((0.1 + 0.2), 3), (0.3, 3), (0.3001, 4), (0.2999, 3)):
        cores.hold(np.array([wanted]), take=True)
        assert ledger.nodes.held[0, 0] == held


def test_a_query_holds_more_cores_while_it_catches_up():
    """A link carries 200 of 250 kB/s from 20 s to 30 s: a second of the stream waits then, and takes 4 s."""
    at, held = KINDS[0].labels[:].index("detect middle, tell middle@private"), {}
    case = replace(
        one(notice=15.0, restart=0.0, buffer=1.0, catch_up=0.25),
        timetable=timetable_of((20, "east", 1, 0.5, 1), (30, "east", 1, 1, 1)),
    )
    ledger = ledger_of(parts=2)

    class Watching(Ticking):
        def decide(self, now: float) -> tuple[()]:
            held[now] = int(ledger.nodes.held[2, 0])
            return super().decide(now)

    class Always:
        name = "always"

        def decide(self, view):
            return Plan((at,) * len(view.queries), ("always",) * len(view.queries))

    case.run_coupled(Always(), Watching(0.5), ledger=ledger, first=True)
    assert [held[now] for now in (14.5, 18.5, 25.5, 29.5)] == [0, 2250, 2250, 2250]
    assert [held[now] for now in (30.5, 32.0, 33.5)] == [2813] * 3
    assert [held[now] for now in (34.5, 40.5)] == [2250] * 2


@pytest.mark.parametrize("units", [1, 10, 1000])
def test_units_of_the_ledger_are_fractions_of_a_core(units):
    seen = []

    class Watching:
        name = "watching"

        def decide(self, view):
            seen.append((view.capacity[0], int(ledger.nodes.held[0, 0])))
            return Plan((0,) * len(view.queries), ("watching",) * len(view.queries))

    ledger = Ledger([[4 * units]], parts=1)
    options = [QueryOptions(0, "cars", np.array([0.5]), np.array([[1.25, 0.0, 0.0]]))]
    changes = SiteTimetable(np.array([4.0]), np.zeros(1, int), np.array([3 * units]), np.ones(1), np.ones(1))
    stays = Stays(np.zeros(1), np.full(1, 9.0))
    part = QueriesPart(
        Hierarchy((Cluster("cloud", 4.0),)),
        options,
        stays,
        ledger,
        terms=Terms(notice=0.0),
        timetable=changes,
        units=units,
    )
    drive(SinglePart(part, ledger), {"plan": Watching()})
    assert seen == [(4.0, 0), (3.0, int(np.ceil(1.25 * units)))]


@settings(max_examples=150)
@given(st.integers(0, 10**6))
def test_held_cores_equal_the_plain_version_row_by_row(seed):
    """Another part takes cores, rows lose some, and both parts have limits."""
    rng = np.random.default_rng(seed)
    sites = [[int(cores) for cores in rng.integers(0, 6, rng.integers(1, 4))] for _ in range(3)]
    ledgers = [Ledger(sites, parts=2) for _ in range(2)]
    clusters = [ledgers[0].rows(site) for site in (2, 0, 1)]
    if rng.random() < 0.5:
        for each in ledgers:
            each.limit(1, 0, 2)
    compiled = ClusterCores(ledgers[0], clusters, 0, units=1)
    for site in range(3):
        ledgers[1].watch(site)
    for _ in range(10):
        wanted, take = rng.integers(0, 9, 3), bool(rng.random() < 0.6)
        row, cores = int(rng.integers(0, sum(map(len, sites)))), int(rng.integers(0, 6))
        other, change = int(rng.integers(0, sum(map(len, sites)))), int(rng.integers(-3, 4))
        for each in ledgers:
            each.set_capacity(row, min(cores, int(each.nodes.whole[row])))
            each.hold(other, 1, change)
        compiled.hold(wanted.astype(float), take)
        query_streams.hold(ledgers[1], clusters, 0, wanted.tolist(), take)
        for name in ("held", "idle", "total", "marked"):
            assert np.array_equal(getattr(ledgers[0].nodes, name), getattr(ledgers[1].nodes, name)), name
        nodes = ledgers[1].nodes
        assert compiled.owes() == bool(((nodes.idle < 0) & (nodes.held[:, 0] > 0)).any())
