"""Verdicts change with their inputs: each has inputs that confirm the claim, and inputs that refute it."""

from types import SimpleNamespace

import numpy as np
import pytest

from windlass.results import Summary
from windlass_reproductions.autoscaler import verdicts as autoscaler
from windlass_reproductions.pronto import verdicts as pronto
from windlass_reproductions.sim_vs_live import verdicts as live
from windlass_reproductions.swag import bounds
from windlass_reproductions.tetrium import rows, runs

LOW, HIGH = np.array([1.0, 1.1, 0.9, 1.0]), np.array([2.0, 2.1, 2.2, 1.9])


@pytest.mark.parametrize(("mean", "holds"), [(30.6, True), (30.4, None), (28.4, False), (-30.0, False)])
def test_a_reduction_as_large_as_published_holds(mean, holds):
    assert rows.gain_row("response", 30.0, Summary("gain", mean, 1.0)).holds is holds


def test_a_reduction_is_the_percentage_by_which_ours_is_lower():
    assert runs.reduction(60.0, 100.0) == pytest.approx(40.0)
    assert runs.reduction(100.0, 60.0) == pytest.approx(-200.0 / 3.0)


def test_room_compares_swag_with_srpt_and_the_lower_bound():
    room = bounds.Room(swag=np.array([8.0]), srpt=np.array([10.0]), least=np.array([6.0]))
    assert room.gain == pytest.approx(0.2)
    assert room.possible == pytest.approx(0.4)
    assert room.above == pytest.approx(1.0 / 3.0)


def test_gains_are_relative_to_the_better_srpt():
    found = bounds.room(1, steps=1, jobs=60, utilisation=0.7)
    work = bounds.draw_fixed(np.random.default_rng(1), jobs=60, utilisation=0.7)
    both = [bounds.mean_response(work, bounds.make(name)) for name in bounds.SRPT]
    assert both[0] != both[1]
    assert found.srpt == min(both)


def test_an_order_must_match_exactly_and_a_mean_within_its_tolerance():
    assert live.same_order([1, 2, 3], [1, 2, 3]).holds
    assert not live.same_order([1, 2, 3], [1, 3, 2]).holds
    assert [live.close(100.0, mean).holds for mean in (94.0, 96.0, 104.0, 106.0)] == [
        False,
        True,
        True,
        False,
    ]


def test_less_must_be_significant():
    pairs = ((LOW, HIGH), (HIGH, LOW), (LOW, LOW[::-1] + 0.001))
    assert [pronto.less(*pair).holds for pair in pairs] == [True, False, None]
    assert [pronto.nearer([pair]).holds for pair in pairs] == [True, False, None]


def test_policies_that_differ_live_must_have_the_same_simulated_order():
    real, same = {"a": 4.0, "b": 2.0, "c": 2.01}, 0.02
    assert live.same_ranks(real, {"a": 3.0, "b": 2.0, "c": 1.9}, same).holds is True
    assert live.same_ranks(real, {"a": 3.0, "b": 2.0, "c": 3.1}, same).holds is False
    assert live.same_ranks({"b": 2.0, "c": 2.01}, {"b": 2.0, "c": 3.1}, same).holds is None


def test_chance_must_be_beaten_by_both_measures():
    found = SimpleNamespace(onsets=100)
    for shifted, chance, beats in ((0.1, 0.1, True), (-0.1, 0.1, False), (0.1, -0.1, False)):
        sure = SimpleNamespace(over_shifted=(shifted, 1.0), over_chance=(chance, 1.0))
        assert pronto.beats_chance(found, sure) is beats


def test_forecasters_are_ranked_by_their_errors():
    errors = {"a": 1.0, "b": 2.0}
    assert [autoscaler.is_least(name, errors).holds for name in errors] == [True, False]
    assert [autoscaler.is_most(name, errors).holds for name in errors] == [False, True]
    assert [autoscaler.is_alike([(ours, 10.0)]).holds for ours in (4.0, 6.0, 19.0, 21.0)] == [
        False,
        True,
        True,
        False,
    ]
