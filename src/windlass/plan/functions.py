"""Planning on arrays, for users of the library.

All take the same: ``accuracy``, for each of n queries a (k,) array of what its configurations are worth, from 0 to 1;
``demand``, for each a (k, L) array of what they ask for of L resources; and ``capacity`` (L,), how much there is of
each, infinity where it does not run short. k may differ from query to query. They return choices, (n,) int64: which
configuration each query runs, −1 where it cannot. Whatever is negative, not a number, or of another shape is an
:class:`~windlass.model.InputError` that names the query and the value.
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
from windlass.plan.lib.refine import refine
from windlass.plan.lib.storm import storm_choices

_Ints = NDArray[np.int64]


def cascade(
    accuracy: Sequence[object], demand: Sequence[object], capacity: object, band: float = 2.0
) -> _Ints:
    """The greedy of the thesis on Cascade: the switch with the largest gain for its cost, until nothing fits or gains.

    The cost of a configuration is the largest part that it takes of any resource. Everybody begins with the cheapest.
    Who does not run goes before who does, and what costs nothing before what costs. A switch has to fit beside all that
    runs, the query's own present configuration included, as printed.

    Parameters
    ----------
    accuracy, demand, capacity
        As above.
    band
        Configurations that cost more than so many times the least cost of their accuracy are not looked at; infinity
        for all.

    Source: thesis, sections 5.5.3 to 5.5.5, Figure 5.13.

    Examples
    --------
    >>> cascade([[0.2, 0.6, 0.9]] * 2, [[[1.0], [4.0], [6.0]]] * 2, [11.0]).tolist()
    [2, 1]
    """
    return greedy(
        Problem.of(accuracy, demand, capacity), band if band == np.inf else number("band", band, 1.0)
    )


def fair(accuracy: Sequence[object], demand: Sequence[object], capacity: object) -> _Ints:
    """1/n of every resource for each query, and the most accurate configuration that fits there.

    Source: thesis, section 5.7.1, Fair Allocation.

    Examples
    --------
    >>> fair([[0.2, 0.9]] * 3, [[[1.0], [4.0]]] * 3, [11.0]).tolist()
    [0, 0, 0]
    """
    return fair_choices(Problem.of(accuracy, demand, capacity))


def optimal(
    accuracy: Sequence[object],
    demand: Sequence[object],
    capacity: object,
    seconds: float = 60.0,
    gap: float = 1e-4,
) -> _Ints:
    """The best there is, by HiGHS: as many queries as can run, then the greatest sum of accuracies.

    Parameters
    ----------
    accuracy, demand, capacity
        As above.
    seconds
        After so long the solver answers with the best it has found; it solves three programs at most, or twice as
        many where an answer exceeds what there is by a rounding.
    gap
        By what part of the sum the answer may be below what is proven to be a bound.

    Raises
    ------
    InputError
        It found nothing in its time.

    Source: thesis, section 5.5.1, equations 5.1 to 5.4.

    Examples
    --------
    >>> optimal([[0.2, 0.6, 0.9]] * 2, [[[1.0], [4.0], [6.0]]] * 2, [7.5]).tolist() in ([2, 0], [0, 2])
    True
    """
    problem = Problem.of(accuracy, demand, capacity)
    found = solve(problem, number("seconds", seconds, 0.0, open_below=True), number("gap", gap, 0.0))
    if found is None:
        raise InputError(f"no plan was found in {seconds:g} s, expected more seconds")
    return found.choices


def refined(accuracy: Sequence[object], demand: Sequence[object], capacity: object) -> _Ints:
    """Near the optimum: the linear relaxation, rounded, made to fit, and improved by switches and pairs of them.

    Never fewer queries run than under :func:`cascade` or :func:`fair`, and where as many do, the sum of accuracies is
    never less.

    Source: ours; the relaxation by column generation (Dantzig and Wolfe 1960).

    Examples
    --------
    >>> sorted(refined([[0.2, 0.6, 0.9]] * 2, [[[1.0], [4.0], [6.0]]] * 2, [10.0]).tolist())
    [1, 2]
    """
    return refine(Problem.of(accuracy, demand, capacity))[0]


def videostorm(
    accuracy: Sequence[object],
    demand: Sequence[object],
    capacity: object,
    rng: np.random.Generator,
    cores: Sequence[int] | None = None,
) -> _Ints:
    """Plans by what they gain for their cores, as if all cores were one pool, each placed at random where it fits.

    Parameters
    ----------
    accuracy, demand, capacity
        As above.
    rng
        Which of the placements that fit.
    cores
        Which resources are cores, by number; all where that is None.

    Source: VideoStorm (Zhang et al., NSDI 2017), as the thesis, section 5.7.1, has it.

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
    return storm_choices(problem, work, rng)
