"""Families of planning problems: drawn by seeds, and plans compared with what is proven about them."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reproductions.quick import quick
from windlass.plan import cascade, fair, refined
from windlass.plan.proof import PlanProof, prove
from windlass_reproductions.plan_families import comparison
from windlass_reproductions.plan_families.comparison import Comparison, compare
from windlass_reproductions.plan_families.families import DESIGN, FAMILIES
from windlass_reproductions.plan_families.paper import PlanFamilies, judge, rows_of


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_refined_is_within_1_percent_in_the_mean_and_3_at_worst_and_runs_what_can_run(family):
    found = [compare(FAMILIES[family](DESIGN + at), 5.0) for at in range(4)]
    parts = [each.parts["refined"] for each in found]
    assert np.mean(parts) >= 0.99
    assert min(parts) >= 0.97
    assert max(each.fewer for each in found) <= 0


@pytest.mark.matrix
@pytest.mark.parametrize("family", FAMILIES)
def test_problems_are_drawn_by_their_seed(family):
    one, same, other = (FAMILIES[family](seed) for seed in (DESIGN, DESIGN, DESIGN + 1))
    assert all((ours == theirs).all() for ours, theirs in zip(one.demand, same.demand, strict=True))
    assert one.capacity.tolist() == same.capacity.tolist()
    assert one.accuracy[0].tolist() != other.accuracy[0].tolist()
    assert 20 <= len(one) <= 100


@pytest.mark.matrix(0)
def test_sums_are_compared_with_what_is_proven():
    problem = FAMILIES["few coarse"](DESIGN)
    given = problem.accuracy, problem.demand, problem.capacity
    found, ours = compare(problem, 2.0), refined(*given, seconds=60.0)
    proof = prove(*given, ours, 2.0, 0.99)
    sums = {"refined": ours, "cascade": cascade(*given), "fair": fair(*given)}
    count = (ours >= 0).sum()
    assert set(found.parts) == {name for name, plan in sums.items() if (plan >= 0).sum() >= count}
    for name, part in found.parts.items():
        total = sum(
            own[choice] for own, choice in zip(problem.accuracy, sums[name], strict=True) if choice >= 0
        )
        assert part == pytest.approx(total / proof.bound, rel=1e-3)
    assert (found.fewer, found.unknown) == (0, 0)
    assert found.seconds > 0.0


@pytest.mark.parametrize(("loose", "limits"), [(2.0, [1.0, 6.0]), (1.005, [1.0])])
def test_the_solver_runs_longer_only_where_its_first_bound_is_loose(monkeypatch, loose, limits):
    problem, given = FAMILIES["few coarse"](DESIGN), []

    def prover(accuracy, demand, capacity, choices, seconds, enough):
        given.append(seconds)
        count, bound = int((choices >= 0).sum()), problem.total(choices)
        return PlanProof(bound if len(given) > 1 else loose * bound, count, count)

    monkeypatch.setattr(comparison, "prove", prover)
    found = compare(problem, 1.0)
    assert given == limits
    assert found.parts["refined"] == pytest.approx(1.0 if len(limits) > 1 else 1 / loose)


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


@pytest.mark.nightly
@pytest.mark.slow
def test_a_quick_run_has_five_rows_of_each_family():
    found = quick(PlanFamilies())
    assert len(found.rows) == 5 * len(FAMILIES)
    assert {row.what.split(":")[0] for row in found.rows} == set(FAMILIES)
