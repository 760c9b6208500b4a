"""Streaming queries on changing clusters, compared with a plain replay of the answers and with single frames."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from tests.oracles.queries import check, follow, frames
from tests.sim.queries import KINDS, TIERS, UNITS, Case, RandomPlanner, cases, ledger_of, one, timetable_of
from windlass.drive import drive
from windlass.model import InputError, PolicyError
from windlass.model.timetable import SiteTimetable
from windlass.plan import POLICIES, Plan
from windlass.sim.coupled import SinglePart
from windlass.sim.ledger import Ledger
from windlass.sim.queries.setup import Stays, Terms

FPS = 400


def planners(case: Case):
    return RandomPlanner(np.random.default_rng(case.seed)), POLICIES.make(
        "fair", np.random.default_rng(case.seed)
    )


def followed(case: Case, done):
    return follow(TIERS, case.options(), case.stays, case.terms, case.timetable, done.answers, UNITS)


@settings(max_examples=150, deadline=None)
@given(case=cases())
def test_results_equal_a_plain_replay_of_the_answers(case: Case):
    for planner in planners(case):
        done = case.run(planner)
        check(done, followed(case, done))


@settings(max_examples=60, deadline=None)
@given(case=cases())
def test_single_frames_match_the_fluid_model(case: Case):
    # A restart loses the frames that wait. A list of stretches shows a restart only if it takes time.
    case = replace(case, terms=replace(case.terms, restart=max(case.terms.restart, 1 / FPS)))
    done = case.run(RandomPlanner(np.random.default_rng(case.seed)))
    # With room for one frame only, a server idles from each frame to the next.
    counted = replace(case.terms, buffer=max(case.terms.buffer, 2 / FPS))
    for row, query in enumerate(followed(case, done)):
        # A fluid has no frames: each stretch may round by some, and a frame may be late by its own length.
        off = 3 * len(query.stretches) + 3
        margin = 4 / FPS
        served, late, lost = frames(query.stretches, counted, FPS, case.terms.deadline + margin)
        assert abs(served - done.served[row] * FPS) <= off
        assert abs(lost - done.lost[row] * FPS) <= off
        assert late <= done.late[row] * FPS + off
        if abs(case.terms.buffer - case.terms.deadline) > 0.1:
            _, at_most, _ = frames(query.stretches, counted, FPS, case.terms.deadline - margin)
            assert done.late[row] * FPS <= at_most + off


def best_at(label: str) -> int:
    return KINDS[0].labels[:].index(label)


class Fixed:
    """Always the same configuration."""

    name = "fixed"

    def __init__(self, *choice: int) -> None:
        self._choices = choice

    def decide(self, view) -> Plan:
        return Plan(self._choices[: len(view.queries)], ("fixed",) * len(view.queries))


ALL_PRIVATE = "detect middle, tell middle@private"


def test_a_query_has_no_results_during_notice_and_restart():
    done = one(notice=2.0, restart=3.0).run(Fixed(best_at(ALL_PRIVATE)))
    assert done.silent.tolist() == [5.0]
    assert done.accurate.tolist() == pytest.approx([0.6 * 55.0])
    assert done.lost.tolist() == [5.0]
    assert done.switches.tolist() == [0]
    (answer,) = done.answers
    assert (answer.time, answer.why) == (2.0, ("fixed",))
    held = done.course.held[:, 2]
    assert held.tolist() == [0.0, 2.25, 2.25]
    assert done.course.sent[-1].tolist() == [2.5e5, 0.0, 0.0, 0.0]


def test_a_congested_link_delays_then_drops_frames_and_then_catches_up():
    # Of 250 kB/s the link carries 200 from 20 s to 30 s: a fifth of the stream waits, 2 s of it after 10 s.
    case = replace(
        one(notice=15.0, restart=0.0, buffer=1.0, deadline=0.5, catch_up=0.25),
        timetable=timetable_of((20, "east", 1, 0.5, 1), (30, "east", 1, 1, 1)),
    )
    done = case.run(Fixed(best_at(ALL_PRIVATE)))
    # Waits for 15 s of notice; then of the stream 1 s waits after 5 s, and as much is lost in the 5 s after that.
    assert done.lost[0] == pytest.approx(15.0 + 1.0)
    # Late from 22.5 s on; 1 s is caught up at a quarter a second, of which half is late.
    assert done.late[0] == pytest.approx(0.8 * 7.5 + 1.25 * 2.0)
    assert done.accurate[0] == pytest.approx(0.6 * (60.0 - 16.0))
    check(done, followed(case, done))


def test_queries_on_a_scarce_resource_slow_down_in_proportion():
    kinds = (0, 2, 0)
    stays = Stays(np.zeros(3), np.full(3, 100.0))
    at = [
        KINDS[0].labels[:].index(ALL_PRIVATE),
        KINDS[2].labels[:].index("detect low, tell low@private"),
        KINDS[0].labels[:].index("detect low, tell low@east"),
    ]
    case = Case(kinds, stays, Terms(0.0, 10.0, 0.0, 0.0, 0.0), timetable_of((50, "private", 0.25, 1, 1)), 1)

    class UntilThen(Fixed):
        def decide(self, view):
            return super().decide(view) if view.now < 50 else Plan((-1,) * 3, ("enough",) * 3)

    done = case.run(UntilThen(*at))
    # 2.25 and 0.375 cores of the private cluster are requested, and 1 is available.
    share = 1.0 / 2.625
    assert done.served.tolist() == pytest.approx([40 + 10 * share, 40 + 10 * share, 50.0])
    assert [answer.time for answer in done.answers] == [10.0, 60.0]


def test_a_plan_over_capacity_is_rejected_entirely():
    case = one(notice=0.0)
    ledger = ledger_of()
    engine = SinglePart(case.part(ledger), ledger)
    dear = best_at("detect high, tell high@private")
    with pytest.raises(PolicyError, match=r"'fixed' private.cores: total demand is 4.5, capacity is 4"):
        drive(engine, {"plan": Fixed(dear)})
    assert not ledger.nodes.held.any()
    assert engine.result().answers == ()


def test_merged_queries_share_equal_work():
    case = Case((0, 0), Stays(np.zeros(2), np.full(2, 50.0)), Terms(0.0, 0.0), SiteTimetable.none(), 1)
    held = []
    for merged in (False, True):

        class Both(Fixed):
            def decide(self, view, merged=merged):
                return replace(super().decide(view), merged=merged)

        done = case.run(Both(*[best_at("detect low, tell low@east")] * 2))
        held.append(done.course.held[0, 0])
        assert done.accurate.tolist() == pytest.approx([10.0, 10.0])
        check(done, followed(case, done))
    assert held == [0.75, 0.375]


def test_absent_queries_are_not_planned():
    case = Case(
        (0, 0),
        Stays(np.array([0.0, 30.0]), np.array([10.0, 30.0])),
        Terms(notice=1.0),
        SiteTimetable.none(),
        1,
    )
    done = case.run(POLICIES.make("fair", np.random.default_rng(1)))
    assert [answer.query.tolist() for answer in done.answers] == [[0]]
    assert done.served[1] == done.lost[1] == 0.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Terms(buffer=-1.0), "buffer is -1"),
        (lambda: Stays(np.zeros(2), np.zeros(1)), r"leave has shape \(1,\)"),
        (lambda: Stays(np.array([5.0]), np.array([4.0])), "query 0 arrives at 5.0 s and leaves at 4.0"),
        (lambda: one().part(Ledger([[1000]], 1)), "has 1 rows, expected 4"),
        (lambda: replace(one(), kinds=(0, 1)).part(ledger_of()), "2 entries, expected one for each of 1"),
        (
            lambda: replace(
                one(),
                timetable=SiteTimetable(np.ones(1), np.array([9]), np.ones(1, int), np.ones(1), np.ones(1)),
            ).part(ledger_of()),
            "site is 9, expected 0 to 3",
        ),
    ],
)
def test_invalid_terms_and_stays_are_named(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_the_random_planner_runs_switches_and_stops_queries():
    """Comparisons are only meaningful if queries run and switch."""
    kinds = (0, 1, 2, 3, 0, 2)
    changes = timetable_of((20, "private", 0.5, 1, 1), (30, "private", 1, 1, 1), (40, "east", 0.3, 0.7, 1))
    stays = Stays(np.zeros(6), np.array([15.0, 60.0, 60.0, 60.0, 25.0, 60.0]))
    case = Case(kinds, stays, Terms(restart=0.5), changes, 1)
    done = [case.run(RandomPlanner(np.random.default_rng(seed))) for seed in range(10)]
    answers = [answer for each in done for answer in each.answers]
    chosen = np.concatenate([answer.choice for answer in answers])
    assert 0.3 < (chosen >= 0).mean() < 0.95
    assert 0.2 < np.mean([answer.merged for answer in answers]) < 0.8
    assert sum(int(each.switches.sum()) for each in done) > 50
    assert all(each.served.sum() > 60.0 for each in done)
