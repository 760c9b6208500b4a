"""The compiled steps of sharing: equal to those in Python to the bit, and enough while nothing happens to a pair."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.coupled.clusters import Shape
from tests.coupled.clusters import run as run_cluster
from tests.coupled.drawn_clusters import shapes
from tests.coupled.python_steps import bits, steps_in_python
from tests.coupled.test_chopping import Chop
from tests.oracles.workloads import CHECK
from tests.sim.sharing import ORDER_NAMES, SHARERS, Case, RandomSharer, busy, cases, run
from tests.sim.test_shares_instants import FixedQuotas, case_of
from windlass.model.timetable import NodeTimetable
from windlass.sim.ledger import Ledger
from windlass.sim.part import Part
from windlass.sim.shares.part import SharesPart


def _outcome(*given: Any, **options: Any) -> Any:
    """Run a case, and return its results."""
    done = run(*given, **options)
    return bits((done.replay, done.shared))


@pytest.mark.matrix(0)
@settings(CHECK, max_examples=80)
@given(shape=shapes().filter(lambda shape: shape.sharing is not None))
def test_a_cluster_is_the_same_with_the_steps_of_sharing_in_python(shape: Shape) -> None:
    compiled = bits(run_cluster(shape))
    with steps_in_python(SharesPart):
        assert bits(run_cluster(shape)) == compiled


@settings(CHECK, max_examples=150)
@given(
    case=cases(outages=True),
    order=st.sampled_from(ORDER_NAMES),
    kill=st.booleans(),
    vacate=st.booleans(),
    seed=st.integers(0, 9),
    stops=st.lists(st.integers(0, 80), max_size=20),
)
def test_random_answers_are_the_same_with_steps_in_python(
    case: Case, order: str, kill: bool, vacate: bool, seed: int, stops: list[int]
) -> None:
    def outcome() -> Any:
        def also(ledger: Ledger) -> list[Part]:
            return [Chop([float(case.jobs.submit[0]) + stop / 2 for stop in sorted(stops)])]

        sharer = RandomSharer(np.random.default_rng(seed))
        return _outcome(case, sharer, order, kill=kill, vacate=vacate, seed=seed, also=also)

    compiled = outcome()
    with steps_in_python(SharesPart):
        assert outcome() == compiled


@pytest.mark.slow
@pytest.mark.parametrize("sharer", SHARERS)
def test_longer_runs_are_the_same_with_steps_in_python(sharer: str) -> None:
    compiled = _outcome(busy(3), SHARERS[sharer](3), seed=3)
    with steps_in_python(SharesPart):
        assert _outcome(busy(3), SHARERS[sharer](3), seed=3) == compiled


def test_late_guests_make_way_as_soon_as_this_helps_the_head() -> None:
    # The promise of 3 is over at 43.2 s, but with its 4 processors the head, 4, would still lack 4 until 44 s. No job
    # starts or ends at that instant, and no checkpoint is due.
    rows = [(0.0, 900.0, 4, 1000.0), (0.0, 20.0, 4, 20.0), (0.0, 30.0, 4, 30.7), (1.0, 5.0, 8, 5.0)]
    gone = NodeTimetable.outage(0, 0.0, 44.0, cores=12, left=8)
    done = run(case_of(12, rows, 2.5, gone), FixedQuotas((5.0, 2, 3, 50), (10.0, 2, 3, 0)), noise=0.0)
    assert (done.replay.lost.tolist(), done.replay.lost_end.tolist()) == ([2], [44.0])
    assert done.replay.start[3] == 44.0


def test_a_job_that_restarts_as_it_is_lost_is_measured_from_its_restart() -> None:
    # One job runs before and after 10 s, when the first node fails. A checkpoint is at 13 s.
    gone = NodeTimetable.outage(0, 10.0, 30.0, cores=4, kill=True)
    case = case_of(8, [(0.0, 50.0, 4, 60.0), (1.0, 5.0, 8, 9.0)], 12.0, gone)
    sharer = FixedQuotas()
    done = run(case, sharer, noise=0.0, cores=4)
    assert done.replay.lost.tolist() == [0]
    view = next(view for view in sharer.views if view.now > 10.0)
    assert [(view.now, host.elapsed) for host in view.running] == [(13.0, 3.0)]


def _calls_in_python(stops: int) -> int:
    """Return how often the part decides in Python while jobs run and one waits, with additional stops."""
    with mock.patch.object(SharesPart, "decide", autospec=True, side_effect=SharesPart.decide) as decide:
        rows = [(0.0, 50.0, 4, 50.0), (0.0, 60.0, 4, 60.0), (1.0, 5.0, 8, 5.0)]
        stop = Chop(np.linspace(1.3, 59.7, stops).tolist())
        run(case_of(8, rows, every=20.0), FixedQuotas((20.0, 1, 3, 0)), noise=0.0, also=lambda _: [stop])
    return int(decide.call_count)


def test_instants_at_which_nothing_happens_need_no_python() -> None:
    few, many = _calls_in_python(1), _calls_in_python(500)
    assert few == many < 20
    with steps_in_python(SharesPart):
        assert _calls_in_python(500) > 500
