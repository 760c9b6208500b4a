"""The change of a metric from the first to the last point of a sweep."""

from dataclasses import replace

import numpy as np
import pytest

from tests.report.made import outcome
from windlass.report.sweep_sentence import change_over_sweep
from windlass.results import RECORDED, At, Results, VariantResult
from windlass.results.sweep_change import sweep_changes
from windlass.results.verdict import judge


def at(name: str, load: float, *runs, **marks) -> VariantResult:
    return VariantResult(f"{name}, load={load}", (), runs, f"load={load}", (At("load", load),), **marks)


def seeded(*waits: float, apart: float = 1.0):
    """An outcome for each seed, with jobs that all wait the same time."""
    return [outcome([0.0, apart], [wait] * 2, [9.0 + seed] * 2, seed=seed) for seed, wait in enumerate(waits)]


def sentence(*variants: VariantResult) -> str:
    made = Results("", "", variants)
    return change_over_sweep(sweep_changes(made, judge(made)))


def test_one_variant_changes_from_the_first_to_the_last_point():
    line = sentence(
        at("easy", 0.5, *seeded(60.0)), at("easy", 0.7, *seeded(80.0)), at("easy", 0.9, *seeded(90.0))
    )
    assert (
        line == "From load=0.5 to load=0.9, the mean wait changes from 1.000 to 1.500 min under easy (+50 %)."
    )


def test_bounds_and_the_recorded_schedule_are_left_out():
    variants = [at(name, load, *seeded(60.0)) for load in (1, 2) for name in ("a", "b", RECORDED)]
    marked = [
        replace(each, bound=each.own_name == "b", recorded=each.own_name == RECORDED) for each in variants
    ]
    assert (
        sentence(*marked) == "From load=1 to load=2, the mean wait changes from 1.000 to 1.000 min under a."
    )


@pytest.mark.parametrize(
    ("later", "expected"),
    [((11.0, 21.0, 31.0, 41.1), "significant"), ((4.0, 45.0, 20.0, 39.0), "not significant")],
)
def test_seeds_are_paired_between_the_points(later, expected):
    first, last = at("a", 1, *seeded(10.0, 20.0, 30.0, 40.0)), at("a", 2, *seeded(*later, apart=0.5))
    assert sentence(first, last).endswith(f", {expected}).")


def test_jobs_of_a_log_are_paired_between_the_points():
    rng = np.random.default_rng(1)
    waits = rng.exponential(100.0, 4000)
    first = at("a", 1, outcome(np.arange(4000.0), waits, np.ones(4000)))
    last = at("a", 2, outcome(np.arange(4000.0) / 2, waits + 1.0, np.ones(4000)))
    assert sentence(first, last).endswith(" %, significant).")
    shorter = at("a", 2, outcome(np.arange(3000.0), waits[:3000], np.ones(3000)))
    assert "significant" not in sentence(first, shorter)


def test_several_fields_and_single_points_have_no_change():
    two = [
        replace(each, at=(*each.at, At("size", 3)))
        for each in (at("a", 1, *seeded(60.0)), at("a", 2, *seeded(60.0)))
    ]
    assert sentence(*two) == ""
    assert sentence(at("a", 1, *seeded(60.0))) == ""
    assert sweep_changes(Results("", "", ()), None) is None
