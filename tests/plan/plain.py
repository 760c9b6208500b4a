"""Plain versions of the planners' searches: every switch is tried on recomputed sums."""

from __future__ import annotations

import itertools

import numpy as np

from windlass.plan.lib.fair import shares
from windlass.plan.lib.problem import ROOM, Problem
from windlass.plan.view import PlanView

#: A smaller gain is a rounding error.
LEAST = 1e-9


def wide(problem: Problem) -> np.ndarray:
    """(K, L) demand of each configuration for each resource."""
    found = np.zeros((len(problem.accuracy), problem.resources))
    for row, i in enumerate(problem.owners()):
        for column, requested in zip(problem.columns[i], problem.demand[row], strict=True):
            if column < problem.resources:
                found[row, column] += requested
    return found


def rows_of(problem: Problem, i: int) -> range:
    """The rows of a query's configurations."""
    return range(int(problem.start[i]), int(problem.start[i + 1]))


def left(demand: np.ndarray, chosen: list[int]) -> np.ndarray:
    """Return what the chosen rows leave of each resource; below 0 where the demand is too large."""
    return 1.0 - demand[[row for row in chosen if row >= 0]].sum(axis=0)


def fits(demand: np.ndarray, chosen: list[int]) -> bool:
    """True if the chosen rows, -1 for none, fit within the capacity together."""
    return bool((left(demand, chosen) >= 0.0).all())


def exchanged(chosen: list[int], *pairs: tuple[int, int]) -> list[int]:
    """Return the choice with other rows for some queries."""
    found = list(chosen)
    for i, row in pairs:
        found[i] = row
    return found


def improved(problem: Problem, chosen: list[int], sweeps: int) -> tuple[list[int], int]:
    """Query by query: the most accurate row that fits, then pairs of switches while one gains.

    Of pairs, the best for the query gains most; another query gives up as little as it can for that. Returns the rows
    and how many switches there were.
    """
    accuracy, demand, chosen, made = problem.accuracy, wide(problem), list(chosen), 0
    for _ in range(sweeps):
        before = made
        for i in range(len(problem)):
            while True:
                now = accuracy[chosen[i]] if chosen[i] >= 0 else -1.0
                better = [
                    row
                    for row in rows_of(problem, i)
                    if accuracy[row] > now + LEAST and fits(demand, exchanged(chosen, (i, row)))
                ]
                if better:
                    chosen[i] = max(better, key=lambda row: accuracy[row])
                    made += 1
                pair = _pair(problem, demand, chosen, i) if chosen[i] >= 0 else None
                if pair is None:
                    break
                chosen = pair
                made += 2
        if made == before:
            break
    return chosen, made


def _pair(problem: Problem, demand: np.ndarray, chosen: list[int], i: int) -> list[int] | None:
    accuracy, most, best = problem.accuracy, LEAST, None
    for row in rows_of(problem, i):
        gain, losses = accuracy[row] - accuracy[chosen[i]], []
        for k, held in enumerate(chosen):
            if k == i or held < 0:
                continue
            losses += [
                (accuracy[held] - accuracy[low], k, low)
                for low in rows_of(problem, k)
                if low != held and fits(demand, exchanged(chosen, (i, row), (k, low)))
            ]
        # Of equal losses the first one is chosen.
        loss, k, low = min(losses, key=lambda each: each[0], default=(np.inf, -1, -1))
        # In this order, as sums are rounded: pairs that gain the same have to compare as they do in the search.
        if gain > most and loss < gain - most + LEAST - LEAST:
            most, best = gain - loss, exchanged(chosen, (i, row), (k, low))
    return best


def repaired(problem: Problem, chosen: list[int]) -> list[int] | None:
    """Switches that relieve what is short, each time at the least loss for the relief; None where none relieves."""
    accuracy, demand, chosen = problem.accuracy, wide(problem), list(chosen)

    def excess(rows: list[int]) -> float:
        return float(np.maximum(0.0, -left(demand, rows)).sum())

    while not fits(demand, chosen):
        best, least = None, np.inf
        short = left(demand, chosen) < 0.0
        for i, held in enumerate(chosen):
            if not (demand[held][short] > 0.0).any():
                continue
            for row in rows_of(problem, i):
                relief = excess(chosen) - excess(exchanged(chosen, (i, row)))
                if relief > LEAST:
                    merit = max(0.0, accuracy[held] - accuracy[row]) / relief
                    if merit < least:
                        best, least = (i, row), merit
        if best is None:
            return None
        chosen = exchanged(chosen, best)
    return chosen


def with_few_changes(problem: Problem, current: np.ndarray, wanted: np.ndarray, worth: float) -> list[int]:
    """Change the running plan into one that fits, with needed or worthwhile changes, one after the other."""
    demand, start = wide(problem), problem.start.tolist()

    def excess(choices: list[int]) -> float:
        rows = [start[i] + j if j >= 0 else -1 for i, j in enumerate(choices)]
        over = np.maximum(0.0, -left(demand, rows))
        return float(np.where(np.isfinite(over), over, 1e6).sum())

    def value(i: int, j: int) -> float:
        return float(problem.accuracy[start[i] + j]) if j >= 0 else -1.0

    choices = [int(now if now >= 0 else then) for now, then in zip(current, wanted, strict=True)]
    gains = [value(i, int(j)) - value(i, choices[i]) for i, j in enumerate(wanted)]
    other = [i for i, j in enumerate(wanted) if choices[i] != j]
    while excess(choices) > 0.0:
        merits = []
        for i in other:
            relief = excess(choices) - excess(exchanged(choices, (i, int(wanted[i]))))
            merits.append(relief / max(-gains[i], 0.01) if relief > 0 else relief - 1e6)
        at = other.pop(merits.index(max(merits)))
        choices[at] = int(wanted[at])
    if other and sum(gains[i] for i in other) >= worth * len(other):
        return [int(j) for j in wanted]
    for i in sorted(other, key=lambda i: -gains[i]):
        single = exchanged(choices, (i, int(wanted[i])))
        if gains[i] > 0.0 and gains[i] >= worth and excess(single) <= 0.0:
            choices = single
    return choices


def best_of_all(problem: Problem) -> tuple[int, float]:
    """Return the largest number of queries that can run, and their largest sum of accuracies, over all plans."""
    demand, best = wide(problem), (0, 0.0)
    for choice in itertools.product(*([-1, *rows_of(problem, i)] for i in range(len(problem)))):
        runs = [row for row in choice if row >= 0]
        score = len(runs), float(sum(problem.accuracy[row] for row in runs))
        if score > best and fits(demand, list(choice)):
            best = score
    return best


def stormed(
    problem: Problem, work: np.ndarray, pool: float, rng: np.random.Generator, cheaper: bool = False
) -> list[int]:
    """VideoStorm: at each step the plan that comes first among all that are left; then one placement each."""
    demand, start = wide(problem), problem.start.tolist()
    able = [[row for row in rows_of(problem, i) if (demand[row] <= 1.0).all()] for i in range(len(problem))]
    kinds = [sorted({(problem.accuracy[row], work[row]) for row in own}) for own in able]
    now: list = [None] * len(problem)

    def merit(i: int, accuracy: float, cores: float) -> tuple[float, float] | None:
        if now[i] is None:
            return -np.inf, cores
        gain, paid = accuracy - now[i][0], cores - now[i][1]
        return (-(gain / paid if paid > 0 else np.inf), -accuracy) if gain > 0 else None

    while True:
        keys = [(*key, i, *kind) for i, own in enumerate(kinds) for kind in own if (key := merit(i, *kind))]
        if not keys:
            break
        *_, i, accuracy, cores = min(keys)
        if sum(each[1] for k, each in enumerate(now) if each and k != i) + cores <= pool:
            now[i] = accuracy, cores
        else:
            kinds[i].remove((accuracy, cores))
    chosen = [-1] * len(problem)
    for i, kind in enumerate(now):
        fitting = [row for row in able[i] if kind and fits(demand, exchanged(chosen, (i, row)))]
        placed = [row for row in fitting if (problem.accuracy[row], work[row]) == kind]
        if cheaper and not placed:
            less = [row for row in fitting if problem.accuracy[row] < kind[0] and work[row] < kind[1]]
            best = min(((-problem.accuracy[row], work[row]) for row in less), default=None)
            placed = [row for row in less if (-problem.accuracy[row], work[row]) == best]
        if placed:
            chosen[i] = placed[rng.integers(len(placed))]
    return [row - start[i] if row >= 0 else -1 for i, row in enumerate(chosen)]


def fair_parts(problem: Problem, among: str = "users") -> list[int]:
    """Return each query's most accurate configuration within its part of every capacity; the cheapest of equals.

    A resource has as many parts as there are queries that use it in any configuration, or as there are queries.
    """
    demand, found = wide(problem), []
    users = [
        sum(any(demand[row, at] > 0.0 for row in rows_of(problem, i)) for i in range(len(problem)))
        for at in range(problem.resources)
    ]
    parts = np.array(users if among == "users" else [len(problem)] * problem.resources)
    for i in range(len(problem)):
        rows = [row for row in rows_of(problem, i) if (demand[row] <= 1.0 / np.maximum(1, parts)).all()]
        best = min(rows, key=lambda row: (-problem.accuracy[row], demand[row].max()), default=None)
        found.append(-1 if best is None else best - int(problem.start[i]))
    return found


def problem_of(view: PlanView) -> Problem:
    """Return a view's problem with all configurations, query by query."""
    width = max((int(each.demand.any(axis=0).sum()) for each in view.queries), default=0)
    start, columns, accuracy, demand, order = [0], [], [], [], []
    for each in view.queries:
        uses = np.flatnonzero(each.demand.any(axis=0)).tolist()
        columns.append(uses + [len(view.capacity)] * (width - len(uses)))
        order += sorted(
            range(start[-1], start[-1] + len(each)),
            key=lambda row, a=start[-1], of=each: -of.accuracy[row - a],
        )
        start.append(start[-1] + len(each))
        accuracy += each.accuracy.tolist()
        for needs in each.demand[:, uses]:
            shares = [
                0.0 if need == 0 else float(need) / there if there > 0 else np.inf
                for need, there in zip(needs.tolist(), view.capacity[uses].tolist(), strict=True)
            ]
            demand.append(shares + [0.0] * (width - len(uses)))
    return Problem(
        np.array(start),
        np.array(accuracy, np.float64),
        np.array(columns, np.int64).reshape(len(view.queries), width),
        np.array(demand).reshape(start[-1], width),
        np.array([max(row, default=0.0) for row in demand]),
        np.array(order, np.int64),
        len(view.capacity),
    )


def undominated(accuracy: np.ndarray, demand: np.ndarray) -> list[int]:
    """Return the configurations without another one that needs no more and is more accurate, or equal and earlier."""

    def dominates(a: int, b: int) -> bool:
        better = accuracy[a] > accuracy[b] or (accuracy[a] == accuracy[b] and a < b)
        return better and bool((demand[a] <= demand[b]).all())

    k = len(accuracy)
    return [b for b in range(k) if not any(dominates(a, b) for a in range(k))]


def fair_choices(problem: Problem, among: str = "users") -> np.ndarray:
    """Return the most accurate configuration within a query's shares, query by query; ties by cost."""
    choices, part = np.full(len(problem), -1), shares(problem, among)
    for i in range(len(problem)):
        own = slice(int(problem.start[i]), int(problem.start[i + 1]))
        fits = np.flatnonzero((problem.demand[own] <= ROOM * part[problem.columns[i]]).all(axis=1))
        if len(fits):
            order = np.lexsort((problem.cost[own][fits], -problem.accuracy[own][fits]))
            choices[i] = fits[order[0]]
    return choices
