"""Queries coupled with other parts: the first to take cores gets them, and observers change nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sim.queries import TIERS, UNITS, Case, RandomPlanner, cases, ledger_of, one
from windlass.model.timetable import NodeTimetable, SiteTimetable
from windlass.plan import POLICIES
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Quiet

FIELDS = ("accurate", "served", "late", "lost", "silent", "switches")


class Ticking(Quiet):
    """A part with regular events and no effect."""

    def __init__(self, every: float) -> None:
        self._every, self._next = every, every

    def horizon(self) -> float:
        return self._next

    def decide(self, now: float) -> tuple[()]:
        if now >= self._next:
            self._next += self._every
        return ()


class Taking(Quiet):
    """Takes up to `cores` idle cores of a row from one time to another."""

    def __init__(self, ledger: Ledger, row: int, begin: float, end: float, cores: int) -> None:
        self._ledger, self._row, self._cores = ledger, row, cores
        self._times = [begin, end]
        self.held = 0

    def horizon(self) -> float:
        return self._times[0] if self._times else np.inf

    def advance(self, until: float) -> float:
        if len(self._times) == 1 and self._times[0] <= until:
            self._times.clear()
            self._ledger.hold(self._row, 1, -self.held)
            self.held = 0
        return until

    def decide(self, now: float) -> tuple[()]:
        if len(self._times) == 2 and self._times[0] <= now:
            del self._times[0]
            self.held = self._ledger.hold(self._row, 1, self._cores)
        return ()


def same(one, other):
    for field in FIELDS:
        assert getattr(one, field).tolist() == pytest.approx(getattr(other, field).tolist(), abs=1e-6), field
    assert [each.time for each in one.answers] == [each.time for each in other.answers]
    assert all(
        np.array_equal(mine.choice, its.choice) for mine, its in zip(one.answers, other.answers, strict=True)
    )


@settings(max_examples=30, deadline=None)
@given(case=cases(), every=st.sampled_from([0.5, 0.31]))
def test_an_observing_part_changes_nothing(case: Case, every: float):
    alone = case.run(RandomPlanner(np.random.default_rng(case.seed)))
    coupled_run = case.run_coupled(
        RandomPlanner(np.random.default_rng(case.seed)), Ticking(every), ledger=ledger_of()
    )
    same(alone, coupled_run)


@settings(max_examples=30, deadline=None)
@given(case=cases())
def test_outages_equal_the_same_changes_in_the_own_timetable(case: Case):
    """Outages of rows, and the same changes of cores in the part's own timetable, are the same run."""
    names = [cluster.up for cluster in TIERS.clusters], [cluster.down for cluster in TIERS.clusters]
    table = case.timetable
    cores_only = replace(
        case,
        timetable=SiteTimetable(
            table.time,
            table.site,
            table.slots,
            np.array(names[0])[table.site],
            np.array(names[1])[table.site],
        ),
    )
    own = cores_only.run(RandomPlanner(np.random.default_rng(case.seed)))
    ledger = ledger_of()
    rows = NodeTimetable(table.time, table.site, table.slots, np.zeros(len(table), np.bool_))
    none = replace(case, timetable=SiteTimetable.none())
    same(
        own,
        none.run_coupled(
            RandomPlanner(np.random.default_rng(case.seed)), Outages(rows, ledger), ledger=ledger
        ),
    )


@settings(max_examples=40, deadline=None)
@given(
    case=cases(),
    begin=st.integers(0, 60).map(lambda half: half / 2),
    lasts=st.integers(1, 60).map(lambda half: half / 2),
    cores=st.integers(1, 9000),
    first=st.booleans(),
)
def test_held_cores_never_exceed_the_capacity(
    case: Case, begin: float, lasts: float, cores: int, first: bool
):
    ledger, seen = ledger_of(parts=2), []

    class Watching(Quiet):
        """Checks at each instant that cores are conserved."""

        def settle(self, now: float) -> None:
            nodes = ledger.nodes
            seen.append((nodes.idle + nodes.held.sum(axis=1) == nodes.capacity).all())

    taking = Taking(ledger, 3, begin, begin + lasts, cores)
    planner = RandomPlanner(np.random.default_rng(case.seed))
    done = case.run_coupled(planner, taking, Watching(), ledger=ledger, first=first)
    assert all(seen)
    assert (ledger.nodes.held[:, 0] == 0).all()
    length = done.stays.leave - done.stays.arrive
    assert (done.served + done.lost).tolist() == pytest.approx(length.tolist(), abs=1e-6)
    # Of the cloud both together never held more than it had.
    wholes = np.array([cluster.cores for cluster in TIERS.clusters])
    assert (done.course.held <= wholes + 1e-9).all()
    times = done.course.time[:-1]
    inside = (times >= begin) & (times < begin + lasts)
    if not len(case.timetable):
        left = (8000 - min(cores, 8000)) / UNITS if first and begin == 0 else 8.0
        assert (done.course.held[inside, 3] <= left + 1e-9).all()


def test_a_planner_sees_the_capacity_left_by_other_parts():
    case = one(leave=40.0)
    ledger, seen = ledger_of(parts=2), []

    class Recording:
        name = "looking"

        def decide(self, view):
            seen.append((view.now, view.capacity[9]))
            return POLICIES.make("fair", np.random.default_rng(1)).decide(view)

    case.run_coupled(Recording(), Taking(ledger, 3, 10.0, 20.0, 6500), ledger=ledger, first=True)
    # It holds 4.5 of 8 when the other part wants 6.5.
    assert seen == [(1.0, 8.0), (11.0, 4.5), (21.0, 8.0)]


def test_cores_of_a_plan_are_held_from_the_decision_on():
    """The components are being started when another part comes: it finds what the plan leaves."""
    ledger = ledger_of(parts=2)
    taking, seen = Taking(ledger, 3, 1.5, 20.0, 6500), []

    class Recording(Quiet):
        def settle(self, now: float) -> None:
            seen.append((now, taking.held))

    planner = POLICIES.make("fair", np.random.default_rng(1))
    one(leave=40.0).run_coupled(planner, taking, Recording(), ledger=ledger, first=True)
    # The plan, of the instant 1, asks for 4.5 of 8 cores.
    assert {held for now, held in seen if 1.5 < now < 20.0} == {3500}
