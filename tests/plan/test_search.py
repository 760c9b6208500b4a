"""Switches, pairs of them, and repairs: those of a plain version, in cases with ties and exact fits."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.plan import plain
from tests.plan.cases import crowded_case, tied_case
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.keep import with_few_changes
from windlass.plan.lib.search import IMPROVE, REPAIR

#: The number behind the room in memory.
BEYOND = -1e9


@pytest.fixture(autouse=True)
def _exact_capacities(monkeypatch):
    """Remove the tolerance for rounding errors, so that exact fits count; sums in these cases are exact."""
    for name in ("greedy", "keep", "problem"):
        monkeypatch.setattr(f"windlass.plan.lib.{name}.ROOM", 1.0)


def some_that_fit(problem, rng):
    """Choices drawn one by one, -1 for some queries; all fit together."""
    demand, chosen = plain.wide(problem), [-1] * len(problem)
    for i in rng.permutation(len(problem)).tolist():
        for row in rng.permutation(plain.rows_of(problem, i)).tolist()[:2]:
            if plain.fits(demand, plain.exchanged(chosen, (i, row))):
                chosen[i] = row
                break
    return chosen


def room_of(problem, chosen):
    """Return the free capacity in the kernels' format: the last, dummy resource is unlimited.

    Behind it in memory is a number that spoils the answer of a kernel which reads beyond the end.
    """
    return np.append(plain.left(plain.wide(problem), chosen), [np.inf, BEYOND])[:-1]


def arrays(problem):
    return problem.start, problem.accuracy, np.ascontiguousarray(problem.columns), problem.demand


@pytest.mark.matrix
@pytest.mark.parametrize("sweeps", [0, 1, 2, 20])
def test_improving_equals_the_plain_version(sweeps):
    for seed in range(110 if sweeps == 20 else 25):
        problem = (crowded_case if seed % 3 else tied_case)(seed).problem
        begin = some_that_fit(problem, np.random.default_rng(seed))
        room, chosen = room_of(problem, begin), np.array(begin)
        made = IMPROVE.ready()(*arrays(problem), room, chosen, sweeps)
        assert (chosen.tolist(), made) == plain.improved(problem, begin, sweeps), seed
        assert room.tolist() == room_of(problem, chosen.tolist()).tolist()
        assert room.base[-1] == BEYOND


def test_improved_plans_have_no_better_neighbour():
    """No query has a more accurate configuration that fits, and no two together gain by switching both."""
    for seed in range(100, 115):
        problem = crowded_case(seed).problem
        demand, begin = plain.wide(problem), some_that_fit(problem, np.random.default_rng(seed))
        chosen = np.array(begin)
        IMPROVE.ready()(*arrays(problem), room_of(problem, begin), chosen, 1000)
        found = chosen.tolist()
        assert plain.fits(demand, found)
        accuracy = np.append(problem.accuracy, -1.0)
        for i, held in enumerate(found):
            for row in plain.rows_of(problem, i):
                if accuracy[row] > accuracy[held]:
                    assert not plain.fits(demand, plain.exchanged(found, (i, row)))
                for k in range(len(found)) if held >= 0 else ():
                    for low in plain.rows_of(problem, k) if k != i and found[k] >= 0 else ():
                        if accuracy[row] + accuracy[low] > accuracy[held] + accuracy[found[k]]:
                            assert not plain.fits(demand, plain.exchanged(found, (i, row), (k, low)))


def test_repairs_equal_those_of_the_plain_version():
    outcomes = []
    for seed in range(150):
        problem = tied_case(seed).problem
        small = problem.only(np.isfinite(problem.cost))
        if not np.diff(small.start).all():
            continue
        rng = np.random.default_rng(seed)
        begin = [int(rng.choice(plain.rows_of(small, i))) for i in range(len(small))]
        room, chosen = room_of(small, begin), np.array(begin)
        went, expected = bool(REPAIR.ready()(*arrays(small), room, chosen)), plain.repaired(small, begin)
        assert room.base[-1] == BEYOND
        assert went == (expected is not None), seed
        if went:
            assert chosen.tolist() == expected, seed
        outcomes.append(went and expected != begin)
    assert 20 < sum(outcomes) < len(outcomes) - 20


@pytest.mark.matrix
@pytest.mark.parametrize("worth", [0.0, 0.125, 0.25, 0.5, 1.0, np.inf])
def test_changes_of_the_running_plan_equal_the_plain_version(worth):
    for seed in range(90):
        problem = tied_case(seed).problem
        if seed % 3 == 0:
            # Losses around 0.01, the smallest loss that is distinguished.
            problem = dataclasses.replace(problem, accuracy=problem.accuracy / 16)
        rng = np.random.default_rng(seed)
        sizes = np.diff(problem.start)
        current = np.array([int(rng.integers(-1, size)) for size in sizes], dtype=np.int64)
        wanted = greedy(problem, np.inf, release=bool(seed % 2))
        found = with_few_changes(
            problem, current, wanted, worth, lambda choices, problem=problem: problem.used(choices)[:-1]
        )
        assert problem.fits(found)
        assert found.tolist() == plain.with_few_changes(problem, current, wanted, worth), seed
