"""Answers on few policies, bounds alone, shares, unknown values and seeds that change only one policy."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.report.made import outcome, results
from tests.report.test_sentence import at, verdict_sentences
from tests.verdict.test_judge import LOG, longer
from windlass.model import InputError
from windlass.report.cut_work import input_sentence
from windlass.report.phrases import interval
from windlass.report.sentence import _rounded, sentences
from windlass.report.units import PERCENT
from windlass.results import At, Results, VariantResult
from windlass.results.sweep_change import sweep_changes
from windlass.results.verdict import Comparison, ConfidenceInterval, PointVerdict, Verdict, judge
from windlass.results.verdict.repeated import repeat
from windlass.results.verdict.sign_flip import sign_flip

FEW = [0.0, 1.0, 2.0]


def runs(*waits):
    """An outcome for each seed, of the same three jobs."""
    return [outcome(FEW, [wait] * 3, [9.0] * 3, seed=seed) for seed, wait in enumerate(waits)]


def test_seeds_that_change_one_policy_of_a_log_are_no_evidence_on_two_others():
    """Each of the two ran once, so five equal differences are one observation."""
    made = results(
        ("easy", runs(*[50.0] * 5)), ("sjf", runs(*[40.0] * 5)), ("random", runs(60, 61, 65, 70, 62))
    )
    found = repeat(made.variants, "makespan_s")
    assert (found.over, found.same_workload) == ("seeds", True)
    assert found.evidence(0, 1) is None
    assert found.evidence(0, 2) is not None
    line = verdict_sentences(made)[0]
    assert line.startswith(
        "sjf has the lowest mean wait: 40 s, 10 s (20 %) less than easy; one run cannot show"
    )


def test_equal_differences_of_drawn_workloads_are_evidence():
    """Other jobs for each seed, so that five equal differences are five observations."""

    def drawn(wait):
        return [outcome([0.0, 1.0 + seed], [wait] * 2, [9.0] * 2, seed=seed) for seed in range(5)]

    made = results(("a", drawn(50.0)), ("b", drawn(40.0)), ("c", runs(60, 61, 65, 70, 62)))
    found = repeat(made.variants, "mean_wait_s")
    assert (found.over, found.same_workload) == ("seeds", False)
    assert found.evidence(0, 1) is not None


def test_differences_of_shares_are_percentage_points_in_all_places():
    means = (0.5, 0.25, 0.75, 0.125)
    seen = ConfidenceInterval(-0.25, -0.3, -0.2, 5)
    comparison = Comparison("utilisation", means, 0, (None, seen, None, None), "seeds")
    names = ("a", "b", "future", "recorded")
    point = PointVerdict(
        "", names, comparison, recorded=frozenset({3}), bounds=frozenset({2}), baseline=frozenset({3})
    )
    line = sentences(Verdict("utilisation", 1, (point,)))[0]
    assert (
        "future, which knows more than a real policy can and cannot win, has 25 percentage points more."
        in line
    )
    assert "Compared with the recorded schedule, a is better by 37.50 percentage points" in line
    assert interval(seen, PERCENT) == "95 % confidence interval −30 to −20 percentage points"


def test_only_bounds_have_their_values():
    bound = VariantResult("future", (), (LOG,), bound=True)
    line = verdict_sentences(Results("", "", (bound,)))[0]
    assert line == (
        "No policy is compared: mean wait 11.32 min under future, which knows more than a real policy can."
    )


def test_a_sweep_of_one_policy_is_no_contest():
    """Only its distance to a bound is stated at each point; its change over the sweep is a sentence of its own."""
    made = []
    for load, wait in ((1, 10.0), (2, 20.0)):
        made += [at("easy", "load", load, wait), replace(at("future", "load", load, 5.0), bound=True)]
    assert verdict_sentences(Results("", "", tuple(made))) == (
        "load=1: future, which knows more than a real policy can and cannot win, has 5.000 s (50 %) less.",
        "load=2: future, which knows more than a real policy can and cannot win, has 15 s (75 %) less.",
    )


def test_the_answer_without_cutting_is_not_that_of_the_first_point():
    slow = longer(LOG, 200.0)

    def swept(first, second):
        made = [
            VariantResult(f"{name}, load={load}", (), (run,), f"load={load}")
            for load in (1, 2)
            for name, run in (("a", first), ("b", second))
        ]
        return judge(Results("", "", tuple(made)))

    line = input_sentence(0.3, swept(LOG, slow), swept(slow, LOG))
    assert line.endswith("WITHOUT CUTTING, THE ANSWER CHANGES: b / b, not a / a.")


@pytest.mark.parametrize(
    ("requirement", "whose"),
    [("users.jain>=0.9", "all variants"), ("mean_wait<=2*easy", "'easy'")],
)
def test_a_requirement_on_an_unknown_value_is_an_error(requirement, whose):
    unknown = replace(LOG, metrics=replace(LOG.metrics, mean_wait_s=math.nan))
    made = results(("easy", [unknown]), ("fcfs", [longer(LOG, 200.0)]))
    with pytest.raises(InputError, match=f"of {whose} is unknown, so the requirement cannot be checked"):
        verdict_sentences(made, by="utilisation", require=requirement)


def test_a_requirement_that_one_point_cannot_check_is_stated_there():
    unknown = replace(LOG, metrics=replace(LOG.metrics, mean_wait_s=math.nan))
    made = tuple(
        VariantResult(f"{name}, load={load}", (), (run,), f"load={load}")
        for load, run in ((1, LOG), (2, unknown))
        for name in ("a", "b")
    )
    lines = verdict_sentences(Results("", "", made), by="utilisation", require="mean_wait<=3h")
    assert any(line.startswith("load=1: a and b have the same utilisation") for line in lines), lines
    expected = "load=2: No variant meets all requirements, because their mean wait, or its bound, is unknown."
    assert expected in lines


def test_a_variant_without_a_value_is_not_the_closest_to_a_bound():
    unknown = replace(LOG, metrics=replace(LOG.metrics, mean_wait_s=math.nan))
    made = results(("easy", [unknown]), ("fcfs", [LOG]), ("sjf", [longer(LOG, 200.0)]))
    line = verdict_sentences(made, by="utilisation", require="mean_wait<=1s")[0]
    assert line.startswith(
        "No variant meets all requirements; fcfs is the closest, with a mean wait of 679.3 s"
    )


def test_the_best_of_both_ends_is_among_the_changes_of_a_sweep():
    """Six policies, of which none is significantly better: four are named."""
    made = [
        VariantResult(f"{name}, load={load}", (), tuple(runs(wait)), f"load={load}", at=at_load(load))
        for load in (1, 2)
        for name, wait in zip("abcdef", (14.0, 13.0, 12.0, 11.0, 10.0 * load, 24.0 - 7.0 * load), strict=True)
    ]
    all_made = Results("", "", tuple(made))
    found = sweep_changes(all_made, judge(all_made))
    assert {"e", "f"} <= {each.name for each in found.changes}


def at_load(load):
    return (At("load", load),)


def test_required_numbers_of_jobs_are_rounded_up():
    assert [_rounded(count) for count in (7, 99, 100, 533, 5_481, 99_001)] == [
        7,
        99,
        100,
        540,
        5_500,
        100_000,
    ]


def test_a_sum_against_the_majority_of_signs_decides_nothing():
    differences = np.full(10, 1.0)
    finer = np.where(np.arange(20) % 2 == 0, 3.0, -1.0)
    finer[1] = 3.0
    finer[[2, 4]] = -1.0
    found = sign_flip(differences, finer)
    assert (found.p_value <= 0.01, found.toward, found.above < found.below) == (True, 1, True)
    assert found.direction == found.reversed().direction == 0
