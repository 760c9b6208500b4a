"""Hazard: spare instances by the probability of arrivals."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scale.site import PERIOD, SMALL, ints
from windlass.model import InputError
from windlass.model.instances import InstanceType
from windlass.scale.lib.arrivals import LEVELS
from windlass.scale.lib.odds import Odds
from windlass.scale.policies.hazard import Hazard
from windlass.scale.view import Demands, ScaleView

DAY = 86_400.0


def shown(row: int, sizes: list[int], kind=SMALL, ready: int = 0) -> ScaleView:
    """Jobs of these whole-instance sizes arrived since the last row and all run; earlier jobs have ended."""
    used = sum(sizes)
    resources = np.array([[0.0, 4.0 * size, 1e9] for size in sizes]).reshape(-1, 3)
    began = np.full(len(sizes), row * PERIOD - 1.0)
    running = Demands(resources, began, np.full(len(sizes), np.inf))
    counts = ints(max(ready, used)), ints(0), ints(used)
    return ScaleView(
        row * PERIOD, PERIOD, (kind,), *counts, running, Demands.none(), np.array([[float(used)]])
    )


def spare_after(policy: Hazard, of, rows: int = 600):
    """Return the spare instances in the last answer after `rows` rows."""
    for row in range(rows):
        answer = policy.decide(shown(row, of(row)))
    return answer.counts[0] - sum(of(rows - 1))


def test_without_arrivals_there_is_no_spare_instance():
    assert spare_after(Hazard(worth=100.0), lambda row: []) == 0


def test_with_a_worth_of_zero_there_is_no_spare_instance():
    assert spare_after(Hazard(worth=0.0), lambda row: [1]) == 0


def test_a_job_in_every_row_gets_a_spare_instance():
    assert spare_after(Hazard(worth=10.0), lambda row: [1]) == 1


@pytest.mark.matrix(0)
def test_a_job_of_three_instances_gets_three_spare_ones():
    assert spare_after(Hazard(worth=10.0), lambda row: [3]) == 3


def test_rare_large_jobs_get_no_spare_instances():
    """One of one in every row, and one of sixteen every fifty rows."""
    assert spare_after(Hazard(worth=3.0), lambda row: [1, 16] if row % 50 == 49 else [1]) == 1


@pytest.mark.matrix(0)
def test_spare_instances_increase_with_the_worth_of_a_wait():
    draw = np.random.default_rng(1)
    sizes = [draw.choice([1, 2, 4], draw.poisson(0.4)).tolist() for _ in range(1000)]
    spare = [
        spare_after(Hazard(worth=worth), lambda row: sizes[row], 1000) for worth in (0.3, 3.0, 30.0, 300.0)
    ]
    assert spare == sorted(spare)
    assert spare[0] == 0
    assert spare[-1] >= 4


@pytest.mark.slow
def test_hours_without_arrivals_have_no_spare_instance():
    policy, a_day = Hazard(worth=10.0), round(DAY / PERIOD)
    spare = np.zeros(a_day)
    for row in range(20 * a_day):
        by_day = row % a_day < a_day // 2
        answer = policy.decide(shown(row, [1] if by_day else []))
        if row >= 19 * a_day:
            spare[row % a_day] = answer.counts[0] - by_day
    assert spare[: a_day // 2 - 15].min() >= 1
    assert spare[a_day // 2 + 15 : -1].max() == 0


@pytest.mark.matrix(0)
def test_jobs_that_share_instances_count_only_if_they_need_a_new_one():
    """Four jobs of a quarter fill the one that is there; a fifth needs another."""

    def row_of(row, used, jobs):
        running = Demands(
            np.tile([0.0, 1.0, 1e9], (jobs, 1)), np.full(jobs, row * PERIOD - 1.0), np.full(jobs, np.inf)
        )
        return ScaleView(
            row * PERIOD,
            PERIOD,
            (SMALL,),
            ints(used),
            ints(0),
            ints(used),
            running,
            Demands.none(),
            np.zeros((1, 1)),
        )

    for used, expected in ((lambda row: 1, 0), (lambda row: 1 + row % 2, 1)):
        policy = Hazard(worth=10.0)
        answers = [policy.decide(row_of(row, used(row), 4)).counts[0] - used(row) for row in range(600)]
        assert max(answers[-2:]) == expected


def test_a_job_that_waits_and_then_starts_counts_as_one_arrival(monkeypatch):
    """A job waits in one row and starts in the next: one arrival, not two."""
    policy, counted = Hazard(), []
    monkeypatch.setattr(Odds, "observe", lambda self, now, jobs, came: counted.append(jobs.tolist()))
    one = Demands(np.array([[0.0, 4.0, 1e9]]), np.array([10.0]), np.array([np.inf]))
    first_answer = Demands(one.resources, np.array([PERIOD + 200.0]), one.walltime)
    rows = ((Demands.none(), Demands.none()), (Demands.none(), one), (first_answer, Demands.none()))
    for row, (running, waiting) in enumerate(rows):
        view = ScaleView(
            row * PERIOD,
            PERIOD,
            (SMALL,),
            ints(1),
            ints(0),
            ints(len(running)),
            running,
            waiting,
            np.zeros((1, 1)),
        )
        policy.decide(view)
    assert counted == [[0.0], [1.0], [0.0]]


def test_totals_are_between_the_need_and_the_maximum():
    few = InstanceType("few", cores=4.0, memory=16e9, launch=300.0, most=5)
    policy = Hazard(worth=1e6)
    for row in range(300):
        jobs = [1] * (row % 5)
        answer = policy.decide(shown(row, jobs, kind=few))
        assert sum(jobs) <= answer.counts[0] <= 5
    assert answer.counts[0] == 5


def test_a_clock_that_goes_back_restarts_learning():
    policy = Hazard(worth=10.0)
    assert spare_after(policy, lambda row: [1]) == 1
    assert policy.decide(shown(3, [1])).why == ("too little data so far",)


def test_an_invalid_worth_is_rejected():
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="worth"):
            Hazard(worth=bad)


@pytest.mark.matrix(0)
def test_chances_approach_observed_frequencies():
    draw = np.random.default_rng(2)
    odds = Odds(1, 3, PERIOD)
    often = np.array([0.5, 0.1, 0.01])
    for row in range(6000):
        odds.observe(row * PERIOD, np.ones(1), draw.random((1, 3)) < often)
    assert odds.chances()[0] == pytest.approx(often, rel=0.6)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 7)), min_size=1, max_size=60),
    st.floats(60.0, 7200.0),
)
def test_chances_stay_between_0_and_1(rows, period):
    odds = Odds(2, 3, period)
    for row, (jobs, bits) in enumerate(rows):
        came = np.array([[bool(bits >> level & 1) for level in range(3)]] * 2)
        odds.observe(row * period, np.full(2, float(jobs)), came)
        assert ((odds.chances() > 0) & (odds.chances() < 1)).all()


def test_levels_start_at_one_and_rise():
    assert LEVELS[0] == 1
    assert (np.diff(LEVELS) > 0).all()


def first_answer(history: list[float], worth: float = 50.0):
    """Return the first answer after a given history, with no jobs."""
    row = len(history) - 1
    view = replace(shown(row, []), history=np.array(history)[:, None])
    return Hazard(worth).decide(view)


def test_after_a_restart_it_learns_from_the_history():
    # A job arrives in every other row: of one instance, then of three.
    assert first_answer([0.0, 1.0] * 300 + [0.0]).counts == (1,)
    assert first_answer([0.0, 2.5] * 300 + [0.0]).counts == (3,)


def test_a_history_without_arrivals_needs_no_instances():
    answer = first_answer([0.0] * 600)
    assert answer.counts == (0,)
    assert "probability" in answer.why[0]


def test_a_short_history_is_too_little_data():
    assert first_answer([0.0, 1.0] * 20).why == ("too little data so far",)
