"""Validation of placement answers, defaults of a run, and progress reports."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.fleet.test_plain_fleet import Roulette, answer, drawn
from windlass.drive import drive
from windlass.model import InputError, PolicyError
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec, fixed_table
from windlass.model.timetable import SiteTimetable
from windlass.order.fleet import JobOrder
from windlass.order.fleet.policies.fcfs import Fcfs
from windlass.sim.coupled import SinglePart
from windlass.sim.fleet import run_ordered, run_placed, shared
from windlass.sim.fleet.part import PlacedFleet

#: Three sites: the last has no uplink, the first no downlink, and the second has no link to the last.
UP, DOWN = [9.0, 9.0, 0.0], [0.0, 9.0, 9.0]
PAIR = [[9.0, 9.0, 9.0], [9.0, 9.0, 0.0], [9.0, 9.0, 9.0]]


def started_case():
    """Return a started case: a map stage with a running task, a fresh one, and a shuffle with data at two sites."""
    jobs = FleetJobs.of(
        [0.0, 0.0, 0.0],
        [
            [StageSpec(50.0, here=(2, 1, 1), task_bytes=1.0)],
            [StageSpec(50.0, here=(1, 2, 2), task_bytes=1.0)],
            [StageSpec(1.0, here=(1, 1, 0), task_bytes=4.0), StageSpec(1.0, tasks=3, parents=(0,))],
        ],
    )
    part = PlacedFleet(FleetCase(Fleet.of([3, 3, 2], UP, DOWN, pair=PAIR), jobs))
    engine = SinglePart(part)
    assert engine.wait() == "place"
    engine.act(
        "place", answer(part.view("place"), [(0, 0, 0, 1), (2, 0, 0, 1), (2, 1, 1, 1)], [], why=[0] * 3)
    )
    assert engine.wait() == "place"
    view = part.view("place")
    assert (view.now, view.ready.shuffles.tolist(), view.fresh.tolist()) == (1.0, [0, 0, 1], [0, 1, 0])
    return part, engine, view


def problem(view, line, is_move):
    """Return the reason why a line is invalid, or None."""
    (row, source, site, tasks), sites = line, range(3)
    if not 0 <= row < 3:
        return "no such stage row, or the number of tasks is not from 1 to the number that wait there"
    shuffles = row == 2
    if site not in sites or (source in sites) == shuffles or source > 2:
        return "no such site, or a source that does not fit the stage (-1 only if it reads from all sites)"
    here = view.ready.waiting[row] if shuffles else view.ready.here[row, source]
    if not 1 <= tasks <= here:
        return "no such stage row, or the number of tasks is not from 1 to the number that wait there"
    if is_move and row != 1:
        return "a move of a stage that has begun or reads from all sites"
    if not is_move and tasks > view.sites.free[site]:
        return "not enough free slots at the site"
    for x in (x for x in ((0, 1) if shuffles else (source,)) if x != site):
        if not (UP[x] and DOWN[site] and PAIR[x][site]):
            return "no link for what is read"
    return None


def test_every_invalid_line_is_rejected_with_its_reason():
    part, engine, view = started_case()
    state = [column.tobytes() for column in part._state if isinstance(column, np.ndarray)]
    never = (9, 0, 0, 1)
    found = set()
    for line in itertools.product(range(-1, 4), range(-2, 4), range(-1, 4), range(-1, 5)):
        for is_move in (False, True):
            wrong = problem(view, line, is_move)
            found.add((wrong, is_move))
            # A valid line is followed by an invalid one, so that no answer is ever executed.
            starts = [never] if is_move else [line, never]
            given = answer(view, starts, [line] if is_move else [], why=[0] * len(starts))
            named = never if wrong is None else line
            with pytest.raises(PolicyError) as error:
                engine.act("place", given)
            reason = (
                wrong
                or "no such stage row, or the number of tasks is not from 1 to the number that wait there"
            )
            assert str(error.value).endswith(
                f"returned (stage row, source, site, tasks) {list(named)}: {reason}"
            )
    assert len(found) == 10
    assert [column.tobytes() for column in part._state if isinstance(column, np.ndarray)] == state


def test_defaults_are_as_documented():
    case = drawn(1003, linked=True)
    bare, full = (
        run_placed(case, Roulette(3, True), **setting)
        for setting in ({}, {"look_every": 0.0, "decide_every": 0.0, "estimates": "true", "log": False})
    )
    assert bare.end.tolist() == full.end.tolist()
    assert (len(bare.flows), len(bare.rates)) == (0, 0)
    fixed = FleetCase(
        Fleet.of([1, 2]), fixed_table([0, 0, 1], [[2, 1], [1, 3], [1, 1]], np.arange(1.0, 10.0))
    )
    one, other = (
        run_ordered(fixed, Fcfs(), **setting) for setting in ({}, {"by_seconds": False, "look_every": 0.0})
    )
    assert one.end.tolist() == other.end.tolist()
    # The longest of a sub-job first; at the second site 3 and 7 s, then 6, 5 and 9 s.
    assert one.end.tolist() == [3.0, 12.0, 18.0]


@pytest.mark.parametrize("events", [1, 7])
def test_stopping_for_reports_changes_nothing(events, monkeypatch):
    case, reports = drawn(1005, linked=True), []
    whole = run_placed(case, Roulette(5, True))
    monkeypatch.setattr(shared, "_EVENTS_BETWEEN_REPORTS", events)
    chopped = run_placed(case, Roulette(5, True), progress=reports.append)
    assert chopped.end.tolist() == whole.end.tolist()
    assert reports == sorted(reports)
    assert (reports[-1], reports[0] >= 0.0) == (1.0, True)
    assert len(reports) > len(case.jobs) // events


@pytest.mark.parametrize("events", [1, 3])
def test_ordered_runs_report_at_the_event_rate(events, monkeypatch):
    monkeypatch.setattr(shared, "_EVENTS_BETWEEN_REPORTS", events)
    reports, count = [], 40
    case = FleetCase(
        Fleet.of([1]), fixed_table(np.arange(count), np.ones((count, 1), int), np.full(count, 0.5))
    )
    run_ordered(case, Fcfs(), progress=reports.append)
    assert reports == sorted(reports)
    assert reports[-1] == 1.0
    # Arrivals and departures are separate events.
    assert 2 * count / events / 2 <= len(reports) <= 2 * count / events * 2 + 2


def test_placed_runs_report_several_times():
    reports, count = [], 200
    jobs = FleetJobs.of(np.arange(float(count)), [[StageSpec(0.5, here=(1,))]] * count)

    class First:
        name = "first"

        def decide(self, view):
            return answer(view, [(0, 0, 0, 1)], [], why=[0])

    run_placed(FleetCase(Fleet.of([1]), jobs), First(), progress=reports.append)
    assert len(reports) >= 3
    assert reports == sorted(reports)
    assert 0.1 < reports[0] < 0.5


def test_a_part_ends_with_its_last_job():
    jobs = FleetJobs.of([0.0], [[StageSpec(1.0, here=(1,))]])
    later = SiteTimetable(np.array([99.0]), np.array([0]), np.array([1]), np.ones(1), np.ones(1))
    part = PlacedFleet(FleetCase(Fleet.of([1]), jobs, later))

    class First:
        name = "first"

        def decide(self, view):
            return answer(view, [(0, 0, 0, 1)], [], why=[0])

    assert drive(SinglePart(part), {"place": First()}).end.tolist() == [1.0]
    assert (part.ended(), part.waits(), part.horizon()) == (True, False, np.inf)


@pytest.mark.parametrize("order", [[[0, 1], [1, 0], [0, 1]], [[0, 1], [1, 1]], [1, 2], [[0], [1]]])
def test_an_order_of_the_wrong_shape_is_rejected(order):
    class Wrong:
        name = "wrong"

        def decide(self, view):
            return JobOrder(np.array(order))

    case = FleetCase(Fleet.of([1, 1]), fixed_table([0, 0], [[1, 1], [1, 1]], np.ones(4)))
    with pytest.raises(PolicyError, match="'wrong' returned an invalid order"):
        run_ordered(case, Wrong())


def test_jobs_at_closed_sites_are_rejected():
    jobs = FleetJobs.of([0.0], [[StageSpec(1.0, here=(0, 1))]])
    with pytest.raises(InputError, match=r"slots\[1\] is 0"):
        FleetCase(Fleet.of([1, 0]), jobs)
    with pytest.raises(PolicyError, match="leaves tasks of 1 jobs waiting for ever"):
        run_ordered(
            FleetCase(
                Fleet.of([1, 0], [1, 0], [1, 1]),
                FleetJobs.of([0.0], [[StageSpec(1.0, here=(0, 1), task_bytes=1.0)]]),
            ),
            Fcfs(),
        )
