"""Planning on arrays, for users of the library.

All functions take the same arguments. ``accuracy`` has a (k,) array for each of n queries: the accuracy of
its configurations, 0 to 1. ``demand`` has a (k, L) array for each: their demand for L resources. ``capacity``
(L,) is the capacity of each resource, infinity if unlimited. k may differ between queries. The functions
return choices, (n,) int64: the configuration of each query, −1 if it cannot run. A negative value, NaN or a
wrong shape raises an :class:`~windlass.model.InputError` that names the query and the value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.model import InputError
from windlass.model.values import number
from windlass.plan.lib.fair import fair_choices
from windlass.plan.lib.greedy import greedy
from windlass.plan.lib.problem import Problem
from windlass.plan.lib.program import solve
from windlass.plan.lib.refine import DEFAULT, RefineLimits, refine
from windlass.plan.lib.storm import storm_choices

_Ints = NDArray[np.int64]


def cascade(
    accuracy: Sequence[object], demand: Sequence[object], capacity: object, band: float = 2.0
) -> _Ints:
    """Choose configurations with the thesis's greedy algorithm: repeatedly the switch with the largest gain per cost.

    The cost of a configuration is its largest share of any resource. All queries start with their cheapest.
    Queries that do not run yet come first, then switches without cost. As printed, a switch has to fit in
    addition to all that runs, including the query's own current configuration.

    Parameters
    ----------
    accuracy, demand, capacity
        See the module.
    band
        Configurations that cost more than ``band`` times the least cost at their accuracy are ignored;
        infinity for no limit.

    Source: thesis, sections 5.5.3 to 5.5.5, Figure 5.13.

    Examples
    --------
    >>> cascade([[0.2, 0.6, 0.9]] * 2, [[[1.0], [4.0], [6.0]]] * 2, [11.0]).tolist()
    [2, 1]
    """
    return greedy(
        Problem.of(accuracy, demand, capacity), band if band == np.inf else number("band", band, 1.0)
    )


def fair(
    accuracy: Sequence[object], demand: Sequence[object], capacity: object, among: str = "users"
) -> _Ints:
    """Divide each resource equally, and choose each query's most accurate configuration within its shares.

    Parameters
    ----------
    accuracy, demand, capacity
        See the module.
    among
        ``users``, the queries with a configuration that uses the resource, or ``queries``, all of them.

    Raises
    ------
    InputError
        ``among`` is neither.

    Source: thesis, section 5.7.1, Fair Allocation, which divides among all queries; division among users is
    Windlass's.

    Examples
    --------
    >>> fair([[0.2, 0.9]] * 3, [[[1.0], [4.0]]] * 3, [11.0]).tolist()
    [0, 0, 0]
    """
    if among not in ("users", "queries"):
        raise InputError(f"among is {among!r}, expected one of users, queries")
    return fair_choices(Problem.of(accuracy, demand, capacity), among)


def optimal(
    accuracy: Sequence[object],
    demand: Sequence[object],
    capacity: object,
    seconds: float = 60.0,
    gap: float = 1e-4,
) -> _Ints:
    """Choose the optimum with HiGHS: first the most running queries, then the largest sum of accuracies.

    Parameters
    ----------
    accuracy, demand, capacity
        See the module.
    seconds
        Time limit of each call of the solver, after which it returns its best plan. There are at most three
        calls, or six if a result exceeds a capacity by a rounding error.
    gap
        Allowed relative difference between the sum of accuracies and its proven bound.

    Raises
    ------
    InputError
        The solver found no plan in its time.

    Source: thesis, section 5.5.1, equations 5.1 to 5.4.

    Examples
    --------
    >>> optimal([[0.2, 0.6, 0.9]] * 2, [[[1.0], [4.0], [6.0]]] * 2, [7.5]).tolist() in ([2, 0], [0, 2])
    True
    """
    problem = Problem.of(accuracy, demand, capacity)
    found = solve(problem, number("seconds", seconds, 0.0, open_below=True), number("gap", gap, 0.0))
    if found is None:
        raise InputError(f"no plan found in {seconds:g} s; allow more seconds")
    return found.choices


def refined(
    accuracy: Sequence[object], demand: Sequence[object], capacity: object, seconds: float = DEFAULT.seconds
) -> _Ints:
    """Choose near the optimum: round the linear relaxation, make it fit, and improve it by switches and small programs.

    It never runs fewer queries than :func:`cascade` or :func:`fair`, and with the same number of queries its
    sum of accuracies is never lower.

    Parameters
    ----------
    accuracy, demand, capacity
        See the module.
    seconds
        Time limit of each of at most two integer programs, s; 0 for none. They also have a limit of nodes.

    Source: Windlass; the relaxation by column generation (Dantzig and Wolfe 1960).

    Examples
    --------
    >>> sorted(refined([[0.2, 0.6, 0.9]] * 2, [[[1.0], [4.0], [6.0]]] * 2, [10.0]).tolist())
    [1, 2]
    """
    limits = RefineLimits(seconds=number("seconds", seconds, 0.0))
    return refine(Problem.of(accuracy, demand, capacity), limits)[0]


def videostorm(
    accuracy: Sequence[object],
    demand: Sequence[object],
    capacity: object,
    rng: np.random.Generator,
    cores: Sequence[int] | None = None,
) -> _Ints:
    """Choose plans by gain for cores, as if all cores were one pool, then place each once, at random where it fits.

    A query whose plan fits nowhere does not run.

    Parameters
    ----------
    accuracy, demand, capacity
        See the module.
    rng
        Draws placements.
    cores
        Indices of the resources that are cores; None for all.

    Source: VideoStorm (Zhang et al., NSDI 2017), as described in the thesis, section 5.7.1.

    Examples
    --------
    >>> two_places = [[4.0, 0.0], [0.0, 4.0]]
    >>> videostorm([[0.9, 0.9]] * 2, [two_places] * 2, [4.0, 4.0], np.random.default_rng(1)).tolist()
    [0, 1]
    """
    problem = Problem.of(accuracy, demand, capacity)
    pool = slice(None) if cores is None else list(cores)
    rows = [np.asarray(own, dtype=np.float64).reshape(-1, problem.resources) for own in demand]
    work = np.concatenate([*(own[:, pool].sum(axis=1) for own in rows), np.empty(0)])
    return storm_choices(problem, work, float(np.asarray(capacity, dtype=np.float64)[pool].sum()), rng)
