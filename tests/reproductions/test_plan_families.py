"""Families of planning problems: drawn by seeds, and plans compared with what is proven about them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.plan import plain
from tests.plan.cases import tied_case
from tests.reproductions.quick import quick
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.refine import refine
from windlass_reproductions.plan_families import proof
from windlass_reproductions.plan_families.families import DESIGN, FAMILIES
from windlass_reproductions.plan_families.paper import PlanFamilies, judge, rows_of
from windlass_reproductions.plan_families.proof import Comparison, compare, prove


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_refined_is_within_1_percent_in_the_mean_and_3_at_worst_and_runs_what_can_run(family):
    found = [compare(FAMILIES[family](DESIGN + at), 5.0) for at in range(4)]
    parts = [each.parts["refined"] for each in found]
    assert np.mean(parts) >= 0.99
    assert min(parts) >= 0.97
    assert max(each.fewer for each in found) <= 0


@pytest.mark.parametrize("family", FAMILIES)
def test_problems_are_drawn_by_their_seed(family):
    one, same, other = (FAMILIES[family](seed) for seed in (DESIGN, DESIGN, DESIGN + 1))
    assert one.demand.tolist() == same.demand.tolist()
    assert one.accuracy.tolist() != other.accuracy.tolist()
    assert 20 <= len(one) <= 100


def test_nothing_is_proven_that_an_exhaustive_search_contradicts():
    fewer = 0
    for seed in range(60):
        problem = tied_case(seed, most=3).problem
        if not len(problem.accuracy):
            continue
        most, best = plain.best_of_all(problem)
        none = np.full(len(problem), -1)
        for choices in (refine(problem)[0], greedy(problem, 2.0), none):
            count, total = problem.score(choices)
            found = prove(problem, choices, refine(problem)[1], 10.0)
            assert count <= found.found <= most <= found.most
            assert (found.most, found.found) == (most, most)
            # The bound is for plans with as many queries as are found to run.
            assert found.bound >= best - 1e-6
            if count == most:
                assert total <= found.bound + 1e-6
            fewer += found.found > count
    assert fewer


def test_the_solver_is_called_only_where_the_relaxation_does_not_suffice(monkeypatch):
    calls = []

    def none_in_time(problem, seconds, gap):
        calls.append((seconds, gap))

    monkeypatch.setattr(proof, "solve", none_in_time)
    problem = Problem.of([[0.25, 0.75], [0.5]], [[[1.0], [4.0]], [[2.0]]], [5.0])
    full = prove(problem, np.array([0, 0]), 0.75, 7.0)
    assert (full.bound, full.most, full.found, calls) == (0.75, 2, 2, [])
    far = prove(problem, np.array([0, 0]), 0.9, 7.0)
    assert (far.bound, far.most, far.found, calls) == (0.9, 2, 2, [(7.0, 1e-4)])
    # One query runs. In the relaxation the second one takes 2, and the first one 3: a third of it at 1, the rest at 4.
    short = prove(problem, np.array([1, -1]), 9.0, 7.0)
    assert (short.most, short.found, len(calls)) == (2, 1, 2)
    assert short.bound == pytest.approx(0.5 + 0.25 / 3 + 0.75 * 2 / 3)


def case(part, fewer=0, unknown=0, seconds=0.25, **others) -> Comparison:
    return Comparison({"refined": part, **others}, fewer, unknown, seconds)


def test_rows_report_the_mean_the_worst_case_and_the_queries():
    found = [case(1.0, cascade=0.9), case(0.98, 1, 2, 0.75, cascade=0.8, fair=0.5)]
    mean, worst, count, seconds, others = rows_of("tiers", found)
    assert (mean.what, mean.ours) == ("tiers: refined over the bound, mean of 2 cases", "0.9900")
    assert (worst.ours, worst.holds) == ("0.9800", True)
    assert (count.ours, count.holds) == ("1", False)
    assert count.note.startswith("in 1 cases it is not proven that no more can run")
    assert seconds.ours == "0.50, at most 0.75"
    assert others.ours == "cascade 0.8500 in 2; fair 0.5000 in 1"
    assert rows_of("tiers", [case(1.0)] * 2)[4].ours == "cascade in none; fair in none"


@pytest.mark.parametrize(
    ("parts", "fewer", "verdicts"),
    [
        ([0.999, 0.998, 0.997], [0, 0, -1], [True, True, True]),
        ([0.985, 0.986, 0.984], [0, 0, 0], [False, True, True]),
        ([0.999, 0.969, 0.999], [0, 1, 0], [None, False, False]),
    ],
)
def test_each_verdict_turns(parts, fewer, verdicts):
    assert [each.holds for each in judge(np.array(parts), fewer)] == verdicts


@pytest.mark.slow
def test_a_quick_run_has_five_rows_of_each_family():
    found = quick(PlanFamilies())
    assert len(found.rows) == 5 * len(FAMILIES)
    assert {row.what.split(":")[0] for row in found.rows} == set(FAMILIES)
