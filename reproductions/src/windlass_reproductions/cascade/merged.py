"""Planners that count equal work once, compared with a bound that counts it once, too.

``python -m windlass_reproductions.cascade.merged`` prints two settings: 16 queries at four cameras, where HiGHS finds
the optimum, and 100 queries of all kinds at twenty cameras, where it has 20 s.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from windlass.plan.bound import merged_mean_bound
from windlass_reproductions.cascade.drawn import CLASSIFIER, COUNTER, KINDS, MBIT, READER
from windlass_reproductions.cascade.runs import run
from windlass_reproductions.cascade.setting import Case, Deployment, drawn_case

#: A fifth of the thesis' private cluster, link and cloud.
FIFTH = Deployment(cameras=4, private_cores=1.6, cloud_cores=9.6, uplink=MBIT)
#: Planners by the name that is printed.
PLANNERS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "cascade": ("cascade", {}),
    "merge-everything": ("merge-everything", {}),
    "merged": ("merged", {}),
    "refined": ("refined", {}),
    "refined, merge": ("refined", {"merge": True}),
    "optimal": ("optimal", {"seconds": 20.0}),
    "optimal, merge": ("optimal", {"seconds": 20.0, "merge": True}),
}
#: Time limit of the bound, s.
_PATIENCE_S = 120.0


@dataclass(frozen=True, slots=True)
class MergedMeans:
    """A planner on several draws.

    Parameters
    ----------
    mean, least
        Mean accuracy over all draws, and the smallest of a draw.
    part, part_least
        The same, as parts of the bound: the linear relaxation in which equal work counts once.
    seconds
        Mean processor time of a plan, s.
    """

    mean: float
    least: float
    part: float
    part_least: float
    seconds: float


def compare_merged(cases: Sequence[Case]) -> dict[str, MergedMeans]:
    """Run all planners on the same cases.

    Parameters
    ----------
    cases
        The cases, one of each draw.

    Examples
    --------
    >>> case = drawn_case(1, np.random.default_rng(1), (COUNTER,), FIFTH)
    >>> compare_merged([case])["merged"].part <= 1.0
    True
    """
    means: dict[str, list[float]] = {name: [] for name in PLANNERS}
    spent: dict[str, list[float]] = {name: [] for name in PLANNERS}
    bounds = [merged_bound(case) for case in cases]
    for case in cases:
        for name, (policy, parameters) in PLANNERS.items():
            began = time.process_time()
            means[name].append(run(case, policy, 1, **parameters).mean)
            spent[name].append(time.process_time() - began)
    found = {}
    for name, own in means.items():
        parts = [mean / best for mean, best in zip(own, bounds, strict=True)]
        found[name] = MergedMeans(
            statistics.fmean(own),
            min(own),
            statistics.fmean(parts),
            min(parts),
            statistics.fmean(spent[name]),
        )
    return found


def merged_bound(case: Case) -> float:
    """Return a mean accuracy that no plan which runs all queries exceeds, even if equal work counts once.

    Parameters
    ----------
    case
        The case.

    Raises
    ------
    RuntimeError
        The relaxation was not solved in time.
    """
    found = merged_mean_bound(run(case, "cascade").view, _PATIENCE_S)
    if found is None:
        raise RuntimeError(f"no bound within {_PATIENCE_S:g} s")
    return found


def print_table(title: str, found: Mapping[str, MergedMeans]) -> None:
    """Print the planners, one line each."""
    print(f"\n{title}\n{'planner':18} mean   least  of the bound  least  CPU s")
    for name, own in found.items():
        print(
            f"{name:18} {own.mean:.3f}  {own.least:.3f}  {own.part:.3f}         {own.part_least:.3f}  {own.seconds:.2f}"
        )


def main() -> None:
    """Print both settings."""
    small = [
        drawn_case(4, np.random.default_rng([seed, 5]), (CLASSIFIER, COUNTER, READER), FIFTH)
        for seed in range(5)
    ]
    print_table("16 queries, 5 draws", compare_merged(small))
    large = [drawn_case(5, np.random.default_rng([seed, 5]), KINDS) for seed in range(3)]
    print_table("100 queries, 3 draws", compare_merged(large))


if __name__ == "__main__":
    main()
