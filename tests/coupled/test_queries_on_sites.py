"""Queries on sites of the ledger that jobs and short tasks use as well: whole cores, patience, limits, kept cores."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled.cases import Tasks, workers
from tests.coupled.test_queries import same
from tests.sim.queries import KINDS, TIERS, UNITS, Case, RandomPlanner, cases, ledger_of, one, timetable_of
from windlass.drive import drive
from windlass.model import InputError, JobTable
from windlass.model.timetable import NodeTimetable, SiteTimetable
from windlass.order.site.policies.easy import Easy
from windlass.plan import POLICIES, Plan, QueryOptions
from windlass.sim.coupled import Coupled
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Concerns, Part, Quiet
from windlass.sim.queries.part import QueriesPart
from windlass.sim.queries.result import Streamed
from windlass.sim.queries.setup import Stays, Terms
from windlass.sim.site.part import SitePart

#: Nodes of the clusters east, west, private and cloud, in whole cores. Site 2 is of no cluster.
_NODES: list[list[int]] = [[1], [2, 3, 4], [9], [4, 4, 4], [1]]
#: The site of each cluster.
_AT = (0, 4, 1, 3)


def _on_nodes(case: Case, ledger: Ledger, **options: Any) -> QueriesPart:
    settled = dict(terms=case.terms, units=1, at=_AT) | options
    return QueriesPart(TIERS, case.options(), case.stays, ledger, **settled)


class Checked(Quiet):
    """Checks at each change of a row, in plain Python, that cores are conserved and added up."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    def settle(self, now: float) -> None:
        nodes = self._ledger.nodes
        for row in range(len(nodes.capacity)):
            held = [int(each) for each in nodes.held[row]]
            assert min(held) >= 0
            assert nodes.idle[row] == nodes.capacity[row] - sum(held)
        for site, total in enumerate(nodes.total.tolist()):
            rows = self._ledger.rows(site)
            assert total == sum(max(int(nodes.idle[row]), 0) for row in rows)


class Sampled(Quiet):
    """Notes the cores that part 0 holds in each of the sites of clusters, at instants of no other part."""

    def __init__(self, ledger: Ledger, at: tuple[int, ...] = _AT) -> None:
        self._ledger, self._at, self._next, self.held = ledger, at, 0.137, dict[float, list[int]]()

    def concerns(self) -> Concerns:
        return Concerns()

    def horizon(self) -> float:
        return self._next

    def decide(self, now: float) -> tuple[()]:
        held = self._ledger.nodes.held[:, 0]
        rows = [self._ledger.rows(site) for site in self._at]
        self.held[now] = [int(held[each.start : each.stop].sum()) for each in rows]
        self._next += 0.5
        return ()


def _drawn_jobs(seed: int, widest: int) -> JobTable:
    rng = np.random.default_rng(seed)
    run = rng.integers(1, 15, 30).astype(float)
    return JobTable.of(
        np.sort(rng.integers(0, 60, 30)).astype(float), run, rng.integers(1, widest + 1, 30), run
    )


def _drawn_tasks(seed: int, nodes: int) -> Tasks:
    rng = np.random.default_rng(seed)
    return Tasks(np.sort(rng.random(50) * 60.0).tolist(), rng.exponential(0.3, 50).tolist(), [1.0] * nodes)


@settings(max_examples=30, deadline=None)
@given(case=cases())
def test_a_site_for_each_cluster_equals_a_row_for_each(case: Case) -> None:
    alone = case.run(RandomPlanner(np.random.default_rng(case.seed)))
    ledger = Ledger([[5], *([round(cluster.cores * UNITS)] for cluster in TIERS.clusters)], parts=1)
    part = QueriesPart(
        TIERS,
        case.options(),
        case.stays,
        ledger,
        terms=case.terms,
        timetable=case.timetable,
        units=UNITS,
        at=(1, 2, 3, 4),
    )
    done = drive(Coupled([part], ledger), {"plan": RandomPlanner(np.random.default_rng(case.seed))})[0]
    same(alone, done)
    assert not ledger.nodes.held.any()


@settings(max_examples=40, deadline=None)
@given(case=cases(), patience=st.sampled_from([0.0, 3.0]), outage=st.booleans(), first=st.booleans())
def test_queries_share_nodes_with_jobs_and_tasks(
    case: Case, patience: float, outage: bool, first: bool
) -> None:
    ledger = Ledger(_NODES, parts=3)
    case = replace(case, terms=replace(case.terms, patience=patience))
    queries, jobs = (
        _on_nodes(case, ledger),
        SitePart(_drawn_jobs(case.seed, 9), Easy(), ledger, site=1),
    )
    tasks = workers(_drawn_tasks(case.seed, 3), ledger, site=3)
    checked, sampled = Checked(ledger), Sampled(ledger)
    parts: list[Part] = [queries, jobs, tasks] if first else [jobs, tasks, queries]
    if outage:
        parts.append(Outages(NodeTimetable.outage(1, 7.0, 31.0, cores=3, kill=True), ledger, site=1))
        parts.append(Outages(NodeTimetable.outage(2, 5.0, 25.0, cores=4, left=1), ledger, site=3))
    done = drive(
        Coupled([*parts, checked, sampled], ledger), {"plan": RandomPlanner(np.random.default_rng(case.seed))}
    )
    streamed: Streamed = done[parts.index(queries)]
    table = done[parts.index(jobs)]
    assert (table.end >= table.start).all()
    assert not ledger.nodes.held.any()
    length = case.stays.leave - case.stays.arrive
    assert (streamed.served + streamed.lost).tolist() == pytest.approx(length.tolist(), abs=1e-6)
    whole = np.array([sum(_NODES[site]) for site in _AT])
    assert (streamed.course.held <= whole + 1e-9).all()
    course = streamed.course
    for time, held in sampled.held.items():
        at = int(np.searchsorted(course.time, time, side="right")) - 1
        if 0 <= at < len(course.held):
            # The whole cores that contain what all components of a cluster use together.
            assert held == np.ceil(course.held[at] - 1e-6).tolist()


def _answers(patience: float) -> Streamed:
    """Run three queries next to jobs that come and go on the private cluster, and never need the queries' cores."""
    ledger = Ledger([[1], [0], [40], [8]], parts=2)
    arrive = np.array([0.0, 25.0, 50.0])
    stays = Stays(arrive, np.array([90.0, 80.0, 95.0]))
    part = QueriesPart(
        TIERS,
        [QueryOptions.of(row, KINDS[0], merging=True) for row in range(3)],
        stays,
        ledger,
        terms=Terms(notice=1.0, patience=patience),
        units=1,
        at=(0, 1, 2, 3),
    )
    submit = np.arange(0.0, 90.0, 3.0)
    jobs = JobTable.of(submit, [2.0] * len(submit), [3] * len(submit), [2.0] * len(submit))
    site = SitePart(jobs, Easy(), ledger, site=2)
    planner = POLICIES.make("fair", np.random.default_rng(1))
    done: Streamed = drive(Coupled([part, site], ledger), {"plan": planner})[0]
    return done


def test_patience_saves_calls_for_capacity_and_delays_no_arrival() -> None:
    hasty, patient = _answers(0.0), _answers(30.0)
    times = [each.time for each in patient.answers]
    assert {1.0, 26.0, 51.0, 81.0} <= set(times)
    assert len(hasty.answers) > 40
    # Arrivals and departures, and in between at most a call in 30 s.
    own = [1.0, 26.0, 51.0, 81.0, 91.0, 96.0]
    others = [time for time in times if time not in own]
    for time in others:
        before = max(each for each in times if each < time)
        assert time - before >= 30.0
    for row, arrive in enumerate(patient.stays.arrive.tolist()):
        assert min(each.time for each in patient.answers if row in each.query) == arrive + 1.0


def test_a_query_that_lacks_cores_does_not_wait_for_patience() -> None:
    case = replace(one(leave=40.0, patience=100.0), timetable=timetable_of((20, "cloud", 0.1, 1, 1)))
    done = case.run(POLICIES.make("fair", np.random.default_rng(1)))
    assert [each.time for each in done.answers] == [1.0, 21.0]
    more = replace(one(leave=140.0, patience=100.0), timetable=timetable_of((20, "west", 1, 0.5, 1)))
    done = more.run(POLICIES.make("fair", np.random.default_rng(1)))
    assert [each.time for each in done.answers] == [1.0, 102.0]


def test_jobs_that_need_no_core_of_a_query_leave_its_timeline_alone() -> None:
    busy = _answers(1e6)
    # One interval for each arrival, start and departure; none for the 60 instants of jobs.
    assert len(busy.course.seconds) < 20


def test_rows_to_be_vacated_are_given_up_at_once() -> None:
    """A query of 4.5 cores holds three and two of two nodes; at 20 s the first fails, and four cores are left."""
    at = KINDS[0].labels[:].index("detect high, tell high@private")
    held: dict[float, list[int]] = {}
    ledger = Ledger(_NODES, parts=2)
    ledger.hold(1, 1, 2)

    class Watching(Quiet):
        def settle(self, now: float) -> None:
            held[now] = ledger.nodes.held[1:4, 0].tolist()

    class Always:
        name = "always"

        def decide(self, view):
            return Plan((at,) * len(view.queries), ("always",) * len(view.queries))

    case = one(leave=40.0, notice=5.0, restart=0.0)
    part = _on_nodes(case, ledger)
    outage = Outages(NodeTimetable.outage(1, 20.0, 30.0, cores=3, kill=True), ledger, site=1)

    class Shrinks(Always):
        def decide(self, view):
            if view.now > 20.0:
                return Plan((-1,) * len(view.queries), ("too little",) * len(view.queries))
            return super().decide(view)

    drive(Coupled([part, outage, Watching()], ledger), {"plan": Shrinks()})
    assert held[5.0] == [0, 3, 2]
    assert held[20.0] == [0, 0, 4]
    assert held[25.0] == [0, 0, 0]


def test_rows_are_given_up_although_the_capacity_is_the_same() -> None:
    """At one instant a node fails and another part returns as many cores of another node."""
    ledger = Ledger([[1], [0], [3, 3, 3], [8]], parts=2)
    at = KINDS[0].labels[:].index("detect middle, tell middle@private")

    class Always:
        name = "always"

        def decide(self, view):
            return Plan((at,) * len(view.queries), ("always",) * len(view.queries))

    part = _on_nodes(one(leave=40.0, notice=0.0, restart=0.0), ledger, at=(0, 1, 2, 3))
    borrowed = SitePart(JobTable.of([0.0], [20.0], [3], [20.0]), Easy(), ledger, site=2)
    times = NodeTimetable.outage(0, 20.0, 30.0, cores=3, kill=True)
    sampled = Sampled(ledger, (0, 1, 2, 3))
    drive(
        Coupled([part, borrowed, Outages(times, ledger, site=2), Checked(ledger), sampled], ledger),
        {"plan": Always()},
    )
    assert {held[2] for time, held in sampled.held.items() if time < 40.0} == {3}
    assert ledger.nodes.held.sum() == 0


def test_a_limit_bounds_cores_and_the_capacity_that_a_planner_sees() -> None:
    ledger, seen = Ledger([[1], [0], [4, 4, 4], [8]], parts=1), []
    ledger.limit(2, 0, 5)
    checked = Checked(ledger)

    class Recording:
        name = "looking"

        def decide(self, view):
            seen.append(view.capacity[6])
            return POLICIES.make("fair", np.random.default_rng(1)).decide(view)

    case = one(leave=40.0)
    part = _on_nodes(case, ledger, at=(0, 1, 2, 3))
    drive(Coupled([part, checked], ledger), {"plan": Recording()})
    assert set(seen) == {5.0}
    assert ledger.nodes.held.sum() == 0


def test_kept_cores_are_held_until_the_last_query_has_left() -> None:
    ledger = Ledger([[1], [0], [4, 4, 4], [8]], parts=2)
    part = _on_nodes(one(arrive=30.0, leave=40.0), ledger, at=(0, 1, 2, 3), keep=(0, 0, 6, 0))
    assert ledger.nodes.held[2:5, 0].tolist() == [4, 2, 0]
    jobs = JobTable.of([0.0, 0.0, 35.0], [10.0, 10.0, 10.0], [6, 6, 6], [10.0] * 3)
    site = SitePart(jobs, Easy(), ledger, site=2)
    done = drive(Coupled([part, site], ledger), {"plan": POLICIES.make("static", np.random.default_rng(1))})[
        1
    ]
    assert done.start.tolist() == [0.0, 10.0, 35.0]
    assert ledger.nodes.held.sum() == 0
    other = Ledger([[1], [0], [4, 4, 4], [8]], parts=2)
    _on_nodes(one(), other, at=(0, 1, 2, 3), keep=(0, 0, 6, 0))
    assert other.left_by_others(2, 1) == 6
    # The part keeps cores within its limit.
    other.limit(2, 0, 8)
    assert other.left_by_others(2, 1) == 4


@pytest.mark.parametrize("others", [(), (Quiet(),)])
def test_cores_that_are_free_and_gone_at_one_instant_need_no_plan(others: tuple[Part, ...]) -> None:
    # A job releases three cores when its node loses three. With another part, all are called at each instant.
    ledger = Ledger([[1], [0], [4, 1], [8]], parts=2)
    part = _on_nodes(one(leave=20.0, notice=0.0), ledger, at=(0, 1, 2, 3))
    site = SitePart(JobTable.of([0.0], [5.0], [3], [5.0]), Easy(), ledger, site=2)
    outage = Outages(NodeTimetable.outage(0, 5.0, 9.0, cores=4, left=1), ledger, site=2)
    policies = {"plan": POLICIES.make("static", np.random.default_rng(1))}
    done = drive(Coupled([part, site, outage, *others], ledger), policies)[0]
    assert 5.0 not in [answer.time for answer in done.answers]
    assert 9.0 in [answer.time for answer in done.answers]


@pytest.mark.parametrize("first", [False, True])
def test_cores_that_are_kept_from_the_beginning_slow_tasks_before_the_first_instant(first: bool) -> None:
    ledger = Ledger([[1], [0], [4], [8]], parts=1)
    made: dict[bool, Part] = {}
    # Nothing but tasks happens before 9 s. The order in which the parts are made has no effect.
    for queries in (first, not first):
        if queries:
            made[True] = _on_nodes(one(arrive=9.0, leave=12.0), ledger, at=(0, 1, 2, 3), keep=(0, 0, 2, 0))
        else:
            made[False] = workers(Tasks([0.0, 4.0], [1.0, 1.0], [1.0]), ledger, site=2)
    policies = {"plan": POLICIES.make("static", np.random.default_rng(1))}
    done = drive(Coupled([made[False], made[True]], ledger), policies)[0]
    assert done.response.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("first", [False, True])
def test_kept_cores_are_taken_back_after_an_outage_before_jobs_start(first: bool) -> None:
    ledger = Ledger([[1], [0], [4, 1], [8]], parts=2)
    part = _on_nodes(one(arrive=30.0, leave=40.0), ledger, at=(0, 1, 2, 3), keep=(0, 0, 2, 0))
    jobs = JobTable.of([6.0, 6.0], [2.0, 2.0], [2, 2], [2.0, 2.0])
    site = SitePart(jobs, Easy(), ledger, site=2)
    outage = Outages(NodeTimetable.outage(0, 5.0, 10.0, cores=4), ledger, site=2)
    checked, sampled = Checked(ledger), Sampled(ledger, (0, 1, 2, 3))
    parts: list[Part] = [part, site] if first else [site, part]
    done = drive(
        Coupled([*parts, outage, checked, sampled], ledger),
        {"plan": POLICIES.make("static", np.random.default_rng(1))},
    )
    # Of the five cores, the jobs have three; while one node is down, the part keeps the core of the other.
    assert done[parts.index(site)].start.tolist() == [10.0, 12.0]
    assert {held[2] for time, held in sampled.held.items() if 5.0 < time < 10.0} == {1}
    assert {held[2] for time, held in sampled.held.items() if 10.0 < time < 30.0} == {2}


@pytest.mark.parametrize(
    ("at", "message"),
    [
        ((0, 1, 2), "expected for each of 4 clusters a site of its own, 0 to 4"),
        ((0, 1, 2, 2), "site of its own"),
        ((0, 1, 2, 5), "site of its own"),
        ((-1, 1, 2, 3), "site of its own"),
    ],
)
def test_sites_that_are_no_clusters_are_refused(at: tuple[int, ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        _on_nodes(one(), Ledger(_NODES, parts=1), at=at)


@pytest.mark.parametrize("keep", [(1, 2, 3), (0, 0, -1, 0)])
def test_kept_cores_are_one_number_for_each_cluster(keep: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="expected a number of at least 0 for each of 4 clusters"):
        _on_nodes(one(), Ledger(_NODES, parts=1), keep=keep)


def test_a_timetable_changes_cores_of_single_rows_only() -> None:
    def changes(slots: int) -> SiteTimetable:
        return SiteTimetable(np.array([4.0]), np.array([2]), np.array([slots]), np.ones(1), np.ones(1))

    _on_nodes(one(), Ledger(_NODES, parts=1), timetable=changes(9))
    with pytest.raises(
        InputError, match="cluster 2 has 8 cores from 4 s on, expected its 9, as it has 3 rows"
    ):
        _on_nodes(one(), Ledger(_NODES, parts=1), timetable=changes(8))


def test_cores_of_several_sites_are_not_taken_at_once() -> None:
    ledger = ledger_of()
    assert ledger.hold_among(range(2, 4), 0, 9000) == 9000
    assert ledger.nodes.held[:, 0].tolist() == [0, 0, 4000, 5000]
    # The last rows are given back first.
    assert ledger.hold_among(range(2, 4), 0, -6000) == 3000
    assert ledger.nodes.held[:, 0].tolist() == [0, 0, 3000, 0]
    assert ledger.hold_among(range(0), 0, 5) == 0
    with pytest.raises(InputError, match="rows 0 to 1 are of sites 0 to 1, expected one site"):
        Ledger([[1], [2]], parts=1).hold_among(range(2), 0, 1)
    with pytest.raises(InputError, match="row is 4, expected 0 to 3"):
        ledger.hold_among(range(2, 5), 0, 1)
