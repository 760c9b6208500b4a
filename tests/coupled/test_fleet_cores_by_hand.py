"""A fleet on the cores of a ledger, worked out by hand: lost tasks, varying slots, horizons, errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests.coupled.cases import Tasks, jobs_of, workers
from tests.coupled.test_concerns import content
from tests.coupled.test_fleets import Recorded, drawn, place_policy
from tests.oracles import staged
from windlass.drive import drive
from windlass.model import InputError, PolicyError
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec, fixed_table
from windlass.model.timetable import NodeTimetable, SiteTimetable
from windlass.order.fleet import FleetView, JobOrder
from windlass.order.fleet.compiled import in_loop
from windlass.order.fleet.policies.fcfs import Fcfs
from windlass.order.site import POLICIES as SITE_ORDER
from windlass.place.policies.in_place import InPlace
from windlass.place.view import Placement, PlaceView
from windlass.sim.coupled import Coupled
from windlass.sim.fleet.binding import FleetCores
from windlass.sim.fleet.part import OrderedFleet, PlacedFleet
from windlass.sim.ledger import Ledger
from windlass.sim.outages import Outages
from windlass.sim.part import Part
from windlass.sim.site.part import SitePart


def by_order(case: FleetCase, ledger: Ledger, sites: Sequence[int] = (0,), **setting: Any) -> OrderedFleet:
    """Return the part of a fleet under FCFS in the loop."""
    return OrderedFleet(case, in_loop(Fcfs()), log=True, cores=FleetCores(ledger, tuple(sites)), **setting)


def two_tasks(seconds: float, count: int = 2, slots: int = 2) -> FleetCase:
    """Tasks of one job at one site."""
    return FleetCase(Fleet.of([slots]), fixed_table([0.0], [[count]], [seconds] * count))


def test_a_task_on_a_vacated_row_starts_again_and_its_work_is_lost() -> None:
    ledger = Ledger([[1, 1]], parts=1)
    outages = Outages(NodeTimetable.outage(1, 4.0, 6.0, cores=1, kill=True), ledger)
    _, done = drive(Coupled([outages, by_order(two_tasks(10.0), ledger)], ledger), {})
    assert done.lost.tolist() == [[1.0, 0.0, 1.0, 0.0, 4.0]]
    assert (done.begun.tolist(), done.computed.tolist(), done.row.tolist()) == (
        [0.0, 6.0],
        [10.0, 16.0],
        [0, 1],
    )


def test_a_task_that_ends_as_its_row_is_vacated_is_not_lost() -> None:
    ledger = Ledger([[1, 1]], parts=1)
    outages = Outages(NodeTimetable.outage(1, 10.0, 16.0, cores=1, kill=True), ledger)
    _, done = drive(Coupled([outages, by_order(two_tasks(10.0, 3), ledger)], ledger), {})
    assert (len(done.lost), done.computed.tolist(), done.row.tolist()) == (0, [10.0, 10.0, 20.0], [0, 1, 0])


def test_the_task_that_came_to_a_row_last_is_lost_first() -> None:
    ledger = Ledger([[3, 0]], parts=1)
    outages = Outages(NodeTimetable.outage(0, 7.0, 9.0, cores=3, left=1, kill=True), ledger)
    jobs = fixed_table([0.0, 1.0, 2.0], [[1], [1], [1]], [10.0] * 3)
    _, done = drive(Coupled([outages, by_order(FleetCase(Fleet.of([3]), jobs), ledger)], ledger), {})
    assert done.lost.tolist() == [[2.0, 0.0, 0.0, 2.0, 7.0], [1.0, 0.0, 0.0, 1.0, 7.0]]
    assert done.computed.tolist() == [10.0, 19.0, 19.0]


class Counting:
    """FCFS in Python; counts the sub-jobs of its views."""

    name = "counting"

    def __init__(self) -> None:
        self.subjobs = 0

    def decide(self, view: FleetView) -> JobOrder:
        self.subjobs += int((view.subjobs > 0).sum())
        return Fcfs().decide(view)


def test_lost_tasks_are_in_the_views_again() -> None:
    ledger, policy = Ledger([[1] * 3, [1] * 3], parts=1), Counting()
    parts: list[Part] = []
    for site in (0, 1):
        times = NodeTimetable.outage(0, 4.0, 6.0, cores=1, kill=True)
        parts.append(Outages(times + NodeTimetable.outage(1, 7.0, 9.0, cores=1, kill=True), ledger, site))
    jobs = fixed_table([0.0, 1.0, 2.0], [[2, 1], [1, 1], [3, 2]], np.full(10, 10.0))
    fleet = OrderedFleet(FleetCase(Fleet.of([3, 3]), jobs), in_loop(policy), cores=FleetCores(ledger, (0, 1)))
    done = drive(Coupled([*parts, fleet], ledger), {"order": policy})[-1]
    assert (len(done.lost), done.subjobs_reported) == (4, policy.subjobs)


def shuffling() -> FleetCase:
    """Two sites with half of the input of a shuffle of two tasks, each of which reads for 5 s from the other one."""
    stages = [StageSpec(1.0, here=(1, 1), task_bytes=100.0), StageSpec(3.0, tasks=2, parents=(0,))]
    fleet = Fleet.of([1, 2], [10.0, 10.0], [10.0, 10.0])
    return FleetCase(fleet, FleetJobs.of([0.0], [stages]))


def test_a_task_that_is_lost_while_it_reads_sends_no_more_and_reads_all_again() -> None:
    ledger = Ledger([[1], [1, 1]], parts=1)
    outages = Outages(NodeTimetable.outage(0, 3.0, 4.0, cores=1, kill=True), ledger, 1)
    _, done = drive(Coupled([outages, by_order(shuffling(), ledger, (0, 1))], ledger), {})
    # After 2 of 5 s, on the other row of the site at once.
    assert done.lost.tolist() == [[3.0, 1.0, 1.0, 1.0, 3.0]]
    assert (done.begun.tolist(), done.read.tolist()) == ([0.0, 0.0, 1.0, 3.0], [0.0, 0.0, 6.0, 8.0])
    assert (done.computed.tolist(), done.row.tolist()) == ([1.0, 1.0, 9.0, 11.0], [0, 1, 0, 2])
    assert done.carried.tolist() == [[0.0, 70.0], [50.0, 0.0]]
    assert done.sent.tolist() == [120.0]
    assert sorted(done.flows.tolist()) == [
        [1.0, 3.0, 20.0, 0.0, 1.0, 1.0],
        [1.0, 6.0, 50.0, 1.0, 0.0, 1.0],
        [3.0, 8.0, 50.0, 0.0, 1.0, 1.0],
    ]


def test_of_tasks_that_read_together_the_others_go_on() -> None:
    # Two tasks at the second site read 25 bytes each from the first, and share its link.
    stages = [StageSpec(1.0, here=(2, 2), task_bytes=50.0), StageSpec(3.0, tasks=4, parents=(0,))]
    case = FleetCase(Fleet.of([2, 2], [10.0, 10.0], [10.0, 10.0]), FleetJobs.of([0.0], [stages]))
    ledger = Ledger([[2], [1, 1]], parts=1)
    outages = Outages(NodeTimetable.outage(1, 3.0, 20.0, cores=1, kill=True), ledger, 1)
    _, done = drive(Coupled([outages, by_order(case, ledger, (0, 1))], ledger), {})
    # 10 of its 25 bytes were sent by then; the other one reads its last 15 bytes alone, at 10 bytes/s.
    assert done.lost[:, [2, 3, 4]].tolist() == [[2.0, 1.0, 3.0]]
    first = done.begun == 1.0
    assert sorted(done.read[first].tolist()) == [4.5, 6.0, 6.0]
    assert done.carried.tolist() == [[0.0, 60.0], [50.0, 0.0]]


def test_slots_are_what_other_parts_leave_and_no_placement_is_due_without_any() -> None:
    ledger, policy = Ledger([[2]], parts=2), place_policy("in-place")
    jobs = FleetJobs.of([1.0], [[StageSpec(3.0, here=(3,))]])
    fleet = PlacedFleet(FleetCase(Fleet.of([2], [1.0], [1.0]), jobs), cores=FleetCores(ledger, (0,)))
    site = SitePart(jobs_of((0, 10, 2), (0, 5, 1)), SITE_ORDER.find("fcfs")(), ledger)
    _, done = drive(Coupled([site, fleet], ledger), {"place": policy})
    # The first job holds both cores, the second one of them from 10 to 15 s.
    assert done.begun.tolist() == [10.0, 13.0, 15.0]
    assert policy.times[0] == 10.0


def test_no_order_is_due_while_other_parts_hold_all_cores() -> None:
    ledger, policy = Ledger([[2]], parts=2), Recorded(Fcfs())
    jobs = FleetJobs.of([1.0], [[StageSpec(3.0, here=(3,))]])
    fleet = OrderedFleet(FleetCase(Fleet.of([2]), jobs), in_loop(policy), cores=FleetCores(ledger, (0,)))
    site = SitePart(jobs_of((0, 10, 2), (0, 5, 1)), SITE_ORDER.find("fcfs")(), ledger)
    _, done = drive(Coupled([site, fleet], ledger), {"order": policy})
    assert done.begun.tolist() == [10.0, 13.0, 15.0]
    # At 13 s the order holds; at 15 s the other job returns its core.
    assert policy.times == [10.0, 15.0]


def test_tasks_of_a_site_whose_cores_others_hold_read_from_it_and_run_elsewhere() -> None:
    ledger = Ledger([[2], [2]], parts=2)
    jobs = FleetJobs.of([1.0], [[StageSpec(2.0, here=(3, 0), task_bytes=10.0)]])
    fleet = by_order(FleetCase(Fleet.of([2, 2], [10.0] * 2, [10.0] * 2), jobs), ledger, (0, 1))
    site = SitePart(jobs_of((0, 4, 2)), SITE_ORDER.find("fcfs")(), ledger)
    _, done = drive(Coupled([site, fleet], ledger), {})
    # Two tasks share the link for 2 s; at 4 s, the third one has cores where its input is.
    assert (done.site.tolist(), done.source.tolist()) == ([1, 1, 0], [0, 0, 0])
    assert (done.begun.tolist(), done.read.tolist()) == ([1.0, 1.0, 4.0], [3.0, 3.0, 4.0])


def test_a_change_of_links_leaves_the_slots_to_the_ledger() -> None:
    ledger, sites = Ledger([[2], [2]], parts=2), np.array([0, 1])
    links = SiteTimetable(np.array([2.0, 2.0]), sites, np.array([2, 2]), np.full(2, 5.0), np.full(2, 5.0))
    jobs = FleetJobs.of([0.0], [[StageSpec(3.0, here=(3, 0), task_bytes=10.0)]])
    fleet = by_order(FleetCase(Fleet.of([2, 2], [10.0] * 2, [10.0] * 2), jobs, links), ledger, (0, 1))
    site = SitePart(jobs_of((0, 10, 1)), SITE_ORDER.find("fcfs")(), ledger)
    _, done = drive(Coupled([site, fleet], ledger), {})
    assert (done.begun.tolist(), done.site.tolist()) == ([0.0, 3.0, 6.0], [0, 0, 0])


class Viewing:
    """Tasks where their input is; notes waiting, started and running tasks of each view."""

    name = "viewing"

    def __init__(self) -> None:
        self.found: list[tuple[float, ...]] = []

    def decide(self, view: PlaceView) -> Placement:
        ready = view.ready
        self.found.append(
            (
                view.now,
                *(int(each.sum()) for each in (ready.waiting, ready.here, ready.started, ready.running)),
            )
        )
        return InPlace().decide(view)


def test_a_placement_sees_lost_tasks_as_waiting_and_not_as_running() -> None:
    ledger, policy = Ledger([[1, 1]], parts=1), Viewing()
    outages = Outages(NodeTimetable.outage(1, 4.0, 16.0, cores=1, kill=True), ledger)
    jobs = FleetJobs.of([0.0], [[StageSpec(10.0, here=(3,))]])
    fleet = PlacedFleet(FleetCase(Fleet.of([2], [1.0], [1.0]), jobs), cores=FleetCores(ledger, (0,)))
    drive(Coupled([outages, fleet], ledger), {"place": policy})
    assert policy.found[:3] == [(0.0, 3, 3, 0, 0), (4.0, 2, 2, 1, 1), (10.0, 2, 2, 1, 0)]


def test_cores_that_are_owed_go_as_tasks_end() -> None:
    ledger = Ledger([[2]], parts=1)
    outages = Outages(NodeTimetable.outage(0, 1.0, 100.0, cores=2, left=1), ledger)
    _, done = drive(Coupled([outages, by_order(two_tasks(3.0, 4), ledger)], ledger), {})
    assert done.computed.tolist() == [3.0, 3.0, 6.0, 9.0]


def test_a_limit_bounds_the_slots() -> None:
    ledger = Ledger([[2, 2]], parts=2)
    ledger.limit(0, 0, 1)
    part = by_order(two_tasks(5.0, 2, slots=4), ledger)
    assert drive(Coupled([part], ledger), {})[0].computed.tolist() == [5.0, 10.0]


def test_a_task_lost_under_a_limit_starts_again_on_another_row() -> None:
    # The slots do not change: the limit is one core, before and after.
    ledger = Ledger([[1, 1]], parts=1)
    ledger.limit(0, 0, 1)
    outages = Outages(NodeTimetable.outage(0, 4.0, 6.0, cores=1, kill=True), ledger)
    _, done = drive(Coupled([outages, by_order(two_tasks(10.0), ledger)], ledger), {})
    assert done.lost.tolist() == [[0.0, 0.0, 0.0, 0.0, 4.0]]
    assert (done.begun.tolist(), done.row.tolist()) == ([4.0, 14.0], [1, 0])


def test_the_horizon_is_the_next_end_of_a_task_and_not_a_poll_of_links() -> None:
    ledger = Ledger([[1], [1, 1]], parts=1)
    part = by_order(shuffling(), ledger, (0, 1), look_every=0.25)
    found = []
    while not part.ended():
        now = part.horizon()
        found.append(now)
        assert part.advance(now) == now
        assert part.decide(now) == ()
    # Input has been read at 6 s; no task could end before 7 s, as none takes less than 1 s.
    assert found == [0.0, 1.0, 7.0, 9.0]


def test_input_that_moves_makes_each_poll_an_instant() -> None:
    ledger = Ledger([[1], [1]], parts=1)
    jobs = FleetJobs.of([0.0], [[StageSpec(2.0, here=(1, 1), task_bytes=10.0)]])
    case = FleetCase(Fleet.of([1, 1], [10.0, 10.0], [10.0, 10.0]), jobs)
    part = PlacedFleet(case, cores=FleetCores(ledger, (0, 1)), look_every=0.25)
    part.advance(0.0)
    assert len(part.decide(0.0)) == 1
    moves = np.array([[0, 0, 1, 1]])
    part.act("place", Placement(np.empty((0, 4), np.int64), np.empty(0, np.int64), (), moves))
    assert part.horizon() < 2.0


def test_two_fleets_on_the_same_nodes_share_their_cores() -> None:
    case, results = drawn(5, drops=False), []
    for _ in range(2):
        ledger = Ledger([[1] * each for each in case.fleet.slots.tolist()], parts=2)
        sites = range(len(case.fleet))
        parts = [by_order(case, ledger, sites), by_order(case, ledger, sites)]
        done = drive(Coupled(parts, ledger), {})
        holds = [hold for run in done for hold in staged.holds_of_fleet(run)]
        assert staged.capacity(holds, ledger.nodes.whole.tolist(), NodeTimetable.none()) == []
        assert [staged.precedence(run) for run in done] == [[], []]
        assert ledger.nodes.held.sum() == 0
        results.append(content(done))
    assert results[0] == results[1]


def test_tasks_without_cores_for_ever_are_an_error() -> None:
    ledger = Ledger([[2]], parts=1)
    outages = Outages(NodeTimetable.outage(0, 1.0, None, cores=2), ledger)
    with pytest.raises(PolicyError, match="leaves tasks of 1 jobs waiting for ever"):
        drive(Coupled([outages, by_order(two_tasks(3.0, 4), ledger)], ledger), {})


@pytest.mark.parametrize(
    ("sites", "slots", "timetable", "problem"),
    [
        ((0,), [2, 2], None, "sites has 1 entries, expected one for each of 2 sites"),
        ((1, 1), [2, 2], None, r"sites is \(1, 1\), expected each site of the ledger at most once"),
        ((0, 3), [2, 2], None, "sites: 3, expected 0 to 2"),
        ((0, 2), [2, 2], None, "slots of site-2 is 2, expected the 3 cores of site 2 of the ledger"),
        (
            (0, 1),
            [2, 2],
            SiteTimetable(np.array([1.0]), np.array([1]), np.array([1]), np.array([1.0]), np.array([1.0])),
            "timetable: slots of site-2 becomes 1, expected 2: with a ledger, the timetable may change only links",
        ),
    ],
)
def test_cores_that_do_not_fit_the_fleet_are_rejected(
    sites: tuple[int, ...], slots: list[int], timetable: SiteTimetable | None, problem: str
) -> None:
    ledger = Ledger([[2], [1, 1], [3]], parts=1)
    jobs = FleetJobs.of([0.0], [[StageSpec(1.0, here=(1, 1))]])
    case = FleetCase(Fleet.of(slots, [1.0] * 2, [1.0] * 2), jobs, timetable or SiteTimetable.none())
    with pytest.raises(InputError, match=problem):
        PlacedFleet(case, cores=FleetCores(ledger, sites))


def test_a_site_all_of_whose_cores_others_keep_is_rejected() -> None:
    ledger = Ledger([[2, 2]], parts=2)
    workers(Tasks([0.0], [1.0], [1.0, 1.0]), ledger, keep=1.0)
    with pytest.raises(InputError, match="site-1 has tasks, but other parts may hold all of its cores"):
        by_order(two_tasks(1.0, slots=4), ledger)
