"""Plans near the optimum: prices compared with the whole linear program, the steps of refining, and brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from tests.plan import plain
from tests.plan.cases import loose_case, plain_greedy, tied_case
from windlass.plan.lib.prices import relax
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.program import solve
from windlass.plan.lib.refine import RefineLimits, few_of, refine

#: The value of a query for each part of it that does not run.
ABSENT = -4.0


@pytest.fixture
def _exact_capacities(monkeypatch):
    for name in ("greedy", "fair", "prices", "problem", "refine", "program", "restricted"):
        monkeypatch.setattr(f"windlass.plan.lib.{name}.ROOM", 1.0)


def whole_program(problem: Problem) -> float:
    """The value of the relaxation with all configurations at once; queries may be absent in part."""
    demand, own = plain.wide(problem), problem.owners()
    rows = np.flatnonzero((demand <= 1.0).all(axis=1))
    has = np.array([i in own[rows] for i in range(len(problem))], dtype=float)
    n = len(problem)
    whose = (own[rows][None, :] == np.arange(n)[:, None]).astype(float)
    found = linprog(
        np.concatenate([-problem.accuracy[rows], np.full(n, -ABSENT)]),
        A_ub=np.hstack([demand[rows].T, np.zeros((problem.resources, n))]),
        b_ub=np.ones(problem.resources),
        A_eq=np.hstack([whose, np.eye(n)]),
        b_eq=has,
    )
    return -float(found.fun)


def problems():
    """Tied and loose cases of at least one configuration."""
    found = [tied_case(seed).problem for seed in range(20)]
    found += [loose_case(seed, n=1 + seed % 7, most=9, resources=1 + seed % 4).problem for seed in range(12)]
    return [problem for problem in found if len(problem.accuracy)]


def test_prices_equal_those_of_the_whole_program():
    for problem in problems():
        n, start, demand = len(problem), problem.start, plain.wide(problem)
        nothing = np.full(n, -1)
        found, value = relax(problem, [nothing]), whole_program(problem)
        assert value - 1e-6 <= found.bound <= value + 1e-4 * n + 1e-6
        can = (demand <= 1.0 + 1e-9).all(axis=1)
        with np.errstate(invalid="ignore"):
            worth = problem.accuracy - np.where(can[:, None], demand, 0.0) @ found.price[:-1]
        assert found.price[-1] == 0.0
        assert (found.price >= 0.0).all()
        assert found.worth[can] == pytest.approx(worth[can], abs=1e-12)
        assert (found.worth[~can] == -np.inf).all()
        # Prices bound every plan: the best value of each query at them, plus the value of all capacity.
        own = [found.worth[start[i] : start[i + 1]] for i in range(n)]
        best = [max(ABSENT, each.max()) for each in own if len(each) and each.max() > -np.inf]
        assert found.bound == pytest.approx(sum(best) + found.price.sum(), abs=1e-9)
        # The fractions are feasible, and reach that value.
        assert (found.share >= -1e-9).all()
        assert (found.share[~can] == 0.0).all()
        assert (found.share @ np.where(can[:, None], demand, 0.0) <= 1.0 + 1e-7).all()
        runs = np.array([found.share[start[i] : start[i + 1]].sum() for i in range(n)])
        has = np.array([bool(can[start[i] : start[i + 1]].any()) for i in range(n)])
        assert (runs <= has + 1e-7).all()
        reached = found.share @ problem.accuracy + ABSENT * (has - runs).sum()
        assert value - 1e-4 * n - 1e-6 <= reached <= value + 1e-6


def plain_few(problem: Problem, prices, plans, keep: int) -> np.ndarray:
    """Configurations to switch among: run in part, of a plan, among those worth most, or the query's cheapest."""
    few, start = np.zeros(len(problem.accuracy), dtype=bool), problem.start.tolist()
    for i in range(len(problem)):
        rows = plain.rows_of(problem, i)
        few[[row for row in rows if prices.share[row] > 1e-9]] = True
        few[[start[i] + int(plan[i]) for plan in plans if plan[i] >= 0]] = True
        able = [row for row in rows if np.isfinite(prices.worth[row])]
        few[sorted(able, key=lambda row: -prices.worth[row])[:keep]] = True
        cheapest = min(rows, key=lambda row: problem.cost[row], default=None)
        if cheapest is not None and problem.cost[cheapest] < np.inf:
            few[cheapest] = True
    return few


@pytest.mark.matrix(0.01)
@pytest.mark.parametrize("keep", [0, 1, 3])
def test_switches_are_to_the_best_the_cheapest_and_those_of_a_plan(keep):
    for problem in problems():
        plans = [np.where(np.diff(problem.start) > at, at, -1) for at in (0, 2)]
        prices = relax(problem, [np.full(len(problem), -1)])
        for some in (plans, []):
            assert (
                few_of(problem, prices.worth, prices.share, some, keep).tolist()
                == plain_few(problem, prices, some, keep).tolist()
            )


def plain_refine(problem: Problem, keep: int, sweeps: int) -> np.ndarray:
    """Return the best of the greedy plans, the fair plan, and their rounded and improved versions."""
    plans = [plain_greedy(problem, 2.0, release, each=1.0) for release in (True, False)]
    plans.append(np.array(plain.fair_parts(problem)))
    prices, start = relax(problem, plans), problem.start.tolist()
    few = plain_few(problem, prices, plans, keep)
    small, rows = problem.only(few), np.flatnonzero(few).tolist()
    begins = [[rows.index(start[i] + j) if j >= 0 else -1 for i, j in enumerate(plan)] for plan in plans[:2]]
    share = prices.share[few]
    if np.diff(small.start).all():
        most = [max(plain.rows_of(small, i), key=lambda row: share[row]) for i in range(len(small))]
        made_to_fit = plain.repaired(small, most)
        begins = [*([] if made_to_fit is None else [made_to_fit]), *begins]
    for begin in begins:
        found, _ = plain.improved(small, begin, sweeps)
        plans.append(np.array([rows[row] - start[i] if row >= 0 else -1 for i, row in enumerate(found)]))
    return max(plans, key=problem.score)


@pytest.mark.matrix
@pytest.mark.usefixtures("_exact_capacities")
@pytest.mark.parametrize(("keep", "sweeps"), [(1, 20), (2, 1), (24, 0), (24, 20)])
def test_refining_returns_the_best_plan_of_its_steps(keep, sweeps):
    for seed in range(200, 220):
        problem = tied_case(seed).problem
        if not len(problem.accuracy):
            continue
        choices, bound = refine(problem, RefineLimits(keep, sweeps, 0.0))
        assert choices.tolist() == plain_refine(problem, keep, sweeps).tolist(), seed
        assert problem.score(choices)[1] <= bound + 1e-6 or (choices < 0).any()


@pytest.mark.matrix(0)
@pytest.mark.usefixtures("_exact_capacities")
def test_the_program_s_optimum_equals_an_exhaustive_search():
    near = []
    for seed in range(30):
        problem = tied_case(seed, most=3).problem
        best = plain.best_of_all(problem)
        found = solve(problem, 60.0, 0.0)
        assert found.proven
        assert problem.fits(found.choices)
        assert problem.score(found.choices) == best, seed
        assert found.bound == pytest.approx(best[1], abs=1e-6)
        refined = problem.score(refine(problem)[0])
        assert refined <= best
        near.append(refined == best)
    assert np.mean(near) > 0.95
