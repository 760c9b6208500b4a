"""A placement's own check, compared with the compiled check of the simulator."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from windlass.model import PolicyError
from windlass.model.fleet import Fleet, FleetCase, FleetJobs, StageSpec
from windlass.place.view import Placement, PlaceView
from windlass.sim.coupled import SinglePart
from windlass.sim.fleet.part import PlacedFleet

#: From the last site nothing can be carried, nothing to the first.
LINKS = [None, ([9.0, 9.0, 0.0], [0.0, 9.0, 9.0])]


def waiting_engine(linked: bool) -> tuple[SinglePart, PlaceView]:
    """A simulator that wants a placement of a stage that has begun, a fresh one, one of no bytes, and a shuffle."""
    jobs = FleetJobs.of(
        [0.0] * 4,
        [
            [StageSpec(50.0, here=(2, 1, 1), task_bytes=1.0)],
            [StageSpec(50.0, here=(1, 2, 2), task_bytes=1.0)],
            [StageSpec(50.0, here=(1, 1, 1), task_bytes=0.0)],
            [StageSpec(1.0, here=(1, 1, 0), task_bytes=4.0), StageSpec(1.0, tasks=3, parents=(0,))],
        ],
    )
    engine = SinglePart(PlacedFleet(FleetCase(Fleet.of([3, 3, 2], *(LINKS[linked] or ())), jobs)))
    assert engine.wait() == "place"
    starts = np.array([(0, 0, 0, 1), (3, 0, 0, 1), (3, 1, 1, 1)])
    engine.act("place", Placement(starts, np.zeros(3, np.int64), ("one",)))
    assert engine.wait() == "place"
    view = engine.view("place")
    assert view.ready.shuffles.tolist() == [0, 0, 0, 1]
    return engine, view


def placement(starts: list[tuple[int, ...]], moves: list[tuple[int, ...]]) -> Placement:
    rows = (np.array(lines, np.int64).reshape(-1, 4) for lines in (starts, moves))
    return Placement(next(rows), np.zeros(len(starts), np.int64), ("one",), moves=next(rows))


def refusal(check, *given) -> str:
    try:
        check(*given)
    except PolicyError as error:
        return str(error)
    return ""


#: Mostly within bounds, so that several rows together go wrong too.
ROWS = st.lists(
    st.tuples(st.integers(-1, 4), st.integers(-1, 3), st.integers(-1, 3), st.integers(0, 3))
    | st.tuples(st.integers(0, 2), st.integers(0, 2), st.integers(0, 2), st.just(1))
    | st.tuples(st.just(3), st.just(-1), st.integers(0, 2), st.integers(1, 2)),
    max_size=5,
)


@given(linked=st.booleans(), starts=ROWS, moves=ROWS)
@settings(max_examples=300, deadline=None)
def test_the_check_and_the_simulator_reject_the_same_placements(linked, starts, moves):
    engine, view = waiting_engine(linked)
    answer = placement(starts, moves)
    assert refusal(answer.check, view) == refusal(engine.act, "place", answer)


@pytest.mark.parametrize(
    ("further", "problem"),
    [
        ({"wake": 1.0}, r"wake is 1\.0 s, expected a time after now, 1\.0 s"),
        ({"wake": np.nan}, "wake is nan s"),
        ({"starts": np.zeros((1, 3), np.int64)}, r"shapes \(1, 3\) and \(0, 4\), expected \(k, 4\) whole"),
        ({"starts": np.zeros((1, 4))}, r"expected \(k, 4\) whole numbers each"),
        ({"moves": np.zeros(4, np.int64)}, r"shapes \(1, 4\) and \(4,\)"),
        ({"why": np.zeros(2, np.int64)}, "gave 2 reasons for 1 starts"),
        ({"why": np.ones(1, np.int64)}, "why is 1 to 1, expected 0 to 0"),
        ({"why": np.full(1, -1)}, "why is -1 to -1, expected 0 to 0"),
        ({"plan": np.zeros((4, 2), np.int64)}, r"plan has shape \(4, 2\), expected \(4, 3\)"),
    ],
)
def test_malformed_placements_are_rejected_by_both(further, problem):
    engine, view = waiting_engine(True)
    answer = dataclasses.replace(placement([(1, 0, 0, 1)], []), **further)
    for check, *given_ in ((answer.check, view), (engine.act, "place", answer)):
        with pytest.raises(PolicyError, match=problem):
            check(*given_)
    dataclasses.replace(placement([(1, 0, 0, 1)], []), plan=np.zeros((4, 3), np.int64)).check(view)
