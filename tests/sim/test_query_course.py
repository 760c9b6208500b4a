"""Time series of queries and views of planners, worked out from the answers alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import example, given, settings

from tests.oracles.queries import Followed, follow, pieces_of
from tests.oracles.shared import shared
from tests.sim.queries import KINDS, TIERS, UNITS, Case, RandomPlanner, cases, ledger_of, one, timetable_of
from windlass.drive import drive
from windlass.model import InputError
from windlass.model.queries import Cluster, Hierarchy
from windlass.model.timetable import SiteTimetable
from windlass.plan import Plan, QueryOptions
from windlass.sim.coupled import SinglePart
from windlass.sim.ledger import Ledger
from windlass.sim.queries.log import StreamLog
from windlass.sim.queries.part import QueriesPart
from windlass.sim.queries.setup import Stays, Terms


class Watched(RandomPlanner):
    """Records each view, and the cores that the ledger holds at that time."""

    def __init__(self, rng, ledger) -> None:
        super().__init__(rng)
        self._ledger, self.seen = ledger, []

    def decide(self, view) -> Plan:
        plan = super().decide(view)
        self.seen.append((view, plan, self._ledger.nodes.held[:, 0].tolist()))
        return plan


def capacity_at(case: Case, time: float) -> list[float]:
    """Return the capacity after all changes up to a time."""
    found, table = TIERS.capacity(), case.timetable
    for row in np.flatnonzero(table.time <= time):
        found[3 * table.site[row] : 3 * table.site[row] + 3] = (
            table.slots[row] / UNITS,
            table.up[row],
            table.down[row],
        )
    return found.tolist()


def choices_at(case: Case, answers, time: float) -> tuple[list[int], bool]:
    """Return the running choices after all answers and departures up to a time, and whether work is merged."""
    choices, merged = [-1] * len(case.stays), False
    for answer in answers:
        if answer.time <= time:
            merged = answer.merged
            for row, choice in zip(answer.query.tolist(), answer.choice.tolist(), strict=True):
                choices[row] = choice
    gone = case.stays.leave <= time
    return [-1 if gone[row] else choice for row, choice in enumerate(choices)], merged


#: A query behind a short uplink claims cores of the clusters above, next to one that catches up there.
_HELD_BACK = Case(
    (0,) * 6,
    Stays(np.array([3.0, 16.5, 0.0, 0.0, 19.5, 0.0]), np.array([6.0, 26.0, 0.0, 9.0, 26.0, 0.0])),
    Terms(restart=0.0, notice=2.5, buffer=0.8, deadline=0.0),
    timetable_of((22.5, "east", 0, 0, 1), (24.0, "east", 0, 0.3, 1)),
    seed=0,
)


@settings(max_examples=25, deadline=None)
@example(case=_HELD_BACK)
@given(case=cases())
def test_the_time_series_matches_the_running_queries(case: Case):
    done = case.run(RandomPlanner(np.random.default_rng(case.seed)))
    lives = follow(TIERS, case.options(), case.stays, case.terms, case.timetable, done.answers, UNITS)
    course = done.course
    assert (course.seconds > 0.0).all()
    for at, (begin, end) in enumerate(zip(course.time[:-1].tolist(), course.time[1:].tolist(), strict=True)):
        choices, merged = choices_at(case, done.answers, begin)
        pieces = pieces_of([Followed(choice=choice) for choice in choices], case.options(), merged)
        middle, rates, behind = (begin + end) / 2, [0.0] * len(choices), set()
        for row, life in enumerate(lives):
            for each in life.stretches:
                if each.begin <= middle < each.end and each.rate is not None:
                    rates[row] = each.rate
                    # A query that a short link holds back claims cores to catch up, though it is not faster for it.
                    behind |= {row} if each.behind else set()
        there = (case.stays.arrive <= middle) & (case.stays.leave > middle)
        assert course.there[at] == there.sum()
        capacity = capacity_at(case, begin)
        expected = shared(pieces, len(choices), capacity, behind, case.terms.catch_up)
        assert course.held[at].tolist() == pytest.approx(expected.held[::3], abs=1e-6)
        sent = np.zeros(len(capacity))
        for demand, users in pieces.values():
            sent += max(rates[row] for row in users) * np.array(demand)
        assert course.sent[at].tolist() == pytest.approx(sent[1::3].tolist(), abs=1e-3)
        accuracy = [case.options()[row].accuracy[j] if j >= 0 else 0.0 for row, j in enumerate(choices)]
        assert course.results[at] == pytest.approx(np.dot(accuracy, rates), abs=1e-6)


@settings(max_examples=25, deadline=None)
@given(case=cases())
def test_a_planner_sees_present_queries_running_choices_and_capacity(case: Case):
    ledger = ledger_of()
    planner = Watched(np.random.default_rng(case.seed), ledger)
    done = drive(SinglePart(case.part(ledger), ledger), {"plan": planner})
    assert len(planner.seen) == len(done.answers)
    for (view, plan, held), answer in zip(planner.seen, done.answers, strict=True):
        before = [each for each in done.answers if each.time < view.now]
        running, merged = choices_at(case, before, view.now)
        there = np.flatnonzero((case.stays.arrive <= view.now) & (case.stays.leave > view.now)).tolist()
        there.sort(key=lambda row: (case.stays.arrive[row], row))
        assert [each.query for each in view.queries] == there == answer.query.tolist()
        assert [each.current for each in view.queries] == [running[row] for row in there]
        assert [each.current for each in view.queries] == answer.before.tolist()
        assert (plan.choices, plan.why, plan.merged) == (tuple(answer.choice), answer.why, answer.merged)
        capacity = capacity_at(case, view.now)
        assert view.capacity.tolist() == pytest.approx(capacity)
        assert view.resources == TIERS.resources
        # Held is at least what runs asks for and there is, in whole units of the ledger.
        pieces = pieces_of([Followed(choice=choice) for choice in running], case.options(), merged)
        least = shared(pieces, len(running), capacity, (), 0.0).held[::3]
        for cores, units, of in zip(least, held, capacity[::3], strict=True):
            assert cores * UNITS - 1e-3 <= units <= of * UNITS + 1e-3
        if case.terms.catch_up == 0.0:
            assert held == [int(np.ceil(cores * UNITS - 1e-6)) for cores in least]


def test_a_core_has_1000_units_and_demands_round_up():
    tiers = Hierarchy((Cluster("cloud", 2.0),))
    options = [QueryOptions(0, "cars", np.array([0.5]), np.array([[0.0101, 0.0, 0.0]]))]
    held = []

    class First:
        name = "first"

        def decide(self, view):
            held.append((view.capacity[0], ledger.nodes.held[0].tolist()))
            return Plan((0,) * len(view.queries), ("first",) * len(view.queries))

    ledger = Ledger([[2000]], parts=1)
    stays = Stays(np.zeros(1), np.full(1, 9.0))
    changes = SiteTimetable(np.array([4.0]), np.zeros(1, int), np.array([1000]), np.ones(1), np.ones(1))
    part = QueriesPart(tiers, options, stays, ledger, terms=Terms(notice=0.0), timetable=changes)
    drive(SinglePart(part, ledger), {"plan": First()})
    assert held == [(2.0, [0]), (1.0, [11])]


def test_terms_have_the_documented_defaults():
    terms = Terms()
    assert (terms.restart, terms.notice, terms.buffer) == (1.0, 1.0, 2.0)
    assert (terms.deadline, terms.catch_up) == (0.5, 0.25)
    zero = Terms(0.0, 0.0, 0.0, 0.0, 0.0)
    assert zero.buffer == 0.0


@pytest.mark.parametrize(
    ("arrive", "leave", "row"),
    [
        ([0.0, -1.0], [1.0, 1.0], 1),
        ([0.0, 2.0], [0.0, 1.0], 1),
        ([3.0, 0.0], [2.0, np.inf], 0),
        ([0.0, 1.0], [1.0, np.inf], 1),
        ([0.0, np.nan], [1.0, 1.0], 1),
    ],
)
def test_invalid_stays_are_named(arrive, leave, row):
    with pytest.raises(InputError, match=f"query {row} arrives at"):
        Stays(np.array(arrive), np.array(leave))
    assert len(Stays(np.array([0.0, 2.0]), np.array([0.0, 2.0]))) == 2
    with pytest.raises(InputError, match="stays: leave has shape"):
        Stays(np.zeros((1, 1)), np.zeros((1, 1)))


def test_progress_is_the_share_of_time_until_the_last_departure():
    case, reports = one(leave=40.0, notice=10.0, restart=0.0), []
    ledger = ledger_of()
    part = case.part(ledger, progress=reports.append)
    drive(SinglePart(part, ledger), {"plan": RandomPlanner(np.random.default_rng(1))})
    assert reports[0] == 0.0
    assert 0.25 in reports
    assert reports[-1] == 1.0
    assert reports == sorted(reports)


def test_a_run_of_no_duration_ends_at_once():
    case, reports = one(arrive=0.0, leave=0.0), []
    ledger = ledger_of()
    done = drive(
        SinglePart(case.part(ledger, progress=reports.append), ledger),
        {"plan": RandomPlanner(np.random.default_rng(1))},
    )
    assert done.answers == ()
    assert set(reports) <= {1.0}
    assert done.served.tolist() == [0.0]


def test_a_reduced_downlink_slows_incoming_streams():
    """Of 600 kB/s into the private cluster a quarter is left, 150 of the 250 kB/s of the stream."""
    at = KINDS[0].labels[:].index("detect middle, tell middle@private")
    case = replace(
        one(leave=30.0, notice=0.0, restart=0.0, buffer=0.0),
        timetable=timetable_of((10, "private", 1, 1, 0.25)),
    )

    class Always:
        name = "always"

        def decide(self, view):
            choice = at if view.now < 10 or not view.queries else -1
            return Plan((choice,) * len(view.queries), ("always",) * len(view.queries))

    noticed = replace(case, terms=replace(case.terms, notice=4.0))
    done = noticed.run(Always())
    # All of it from 4 s to 10 s, and three fifths until the planner answers at 14 s.
    assert done.served.tolist() == pytest.approx([6.0 + 4.0 * 0.6])


def test_a_log_drops_stretches_without_duration():
    log = StreamLog(3)
    course = log.course()
    assert (course.time.tolist(), course.held.shape, course.sent.shape) == ([0.0], (0, 3), (0, 3))
    log.went(1.0, 2.0)
    log.now(2, 0.5, np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]))
    log.went(2.0, 3.0)
    log.went(3.0, 5.0)
    course = log.course()
    assert course.time.tolist() == [1.0, 2.0, 5.0]
    assert course.there.tolist() == [0, 2]
    assert course.results.tolist() == [0.0, 0.5]
    assert course.held.tolist() == [[0.0] * 3, [1.0, 2.0, 3.0]]
    assert course.sent.tolist() == [[0.0] * 3, [4.0, 5.0, 6.0]]
    assert course.seconds.tolist() == [1.0, 3.0]
