"""What planners come to on a case."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.model.queries import KINDS
from windlass.plan import POLICIES, Plan, PlanView, QueryOptions
from windlass.plan.bound import mean_bound
from windlass_reproductions.cascade.setting import Case, Options

_Floats = NDArray[np.float64]
#: The planner of ours that comes nearest to the optimum: no optimum is below it.
NEAREST = "refined"


@dataclass(frozen=True, eq=False)
class Outcome:
    """A case, and what a planner chose."""

    case: Case
    view: PlanView
    plan: Plan

    @cached_property
    def each(self) -> _Floats:
        """(n,) the accuracy of every query; 0 where it cannot run."""
        chosen = zip(self.case.options, self.plan.choices, strict=True)
        return np.array([of.accuracy[choice] if choice >= 0 else 0.0 for of, choice in chosen])

    @property
    def mean(self) -> float:
        """The thesis' measure."""
        return float(self.each.mean())

    def of_kind(self, kind: str) -> float:
        """The mean over the queries of a kind."""
        return float(self.each[[of.kind == kind for of in self.case.options]].mean())

    @cached_property
    def costs(self) -> _Floats:
        """(m,) of those that run, the largest part of any capacity."""
        chosen = zip(self.case.options, self.plan.choices, strict=True)
        rows = np.array([of.demand[choice] for of, choice in chosen if choice >= 0])
        return np.asarray(_share(rows, self.case.capacity).max(axis=1, initial=0.0))

    @property
    def together(self) -> float:
        """Of those that run, the part with both components at one place."""
        found = [of.together[choice] for of, choice in self._running()]
        return float(np.mean(found)) if found else 0.0

    def busy(self, kind: str) -> float:
        """The part of all ``cores``, or of all that links can carry (``up``), that is used."""
        # Sums over clusters: what is short at one place may be left at another.
        column = np.arange(len(self.case.capacity)) % len(KINDS) == KINDS.index(kind)
        column &= np.isfinite(self.case.capacity)
        return float(self.plan.demand(self.view)[column].sum() / self.case.capacity[column].sum())

    def _running(self) -> list[tuple[Options, int]]:
        chosen = zip(self.case.options, self.plan.choices, strict=True)
        return [(of, choice) for of, choice in chosen if choice >= 0]


def run(case: Case, policy: str, seed: int = 0, **parameters: Any) -> Outcome:
    """Ask a planner, and check its answer as an engine does."""
    queries = tuple(
        QueryOptions(
            place,
            f"{of.kind} {place}",
            of.accuracy,
            of.demand,
            piece=of.piece,
            piece_demand=of.piece_demand,
        )
        for place, of in enumerate(case.options)
    )
    resources = tuple(f"{place // 3}.{KINDS[place % 3]}" for place in range(len(case.capacity)))
    view = PlanView(0.0, resources, case.capacity, queries)
    plan = POLICIES.make(policy, np.random.default_rng(seed), **parameters).decide(view)
    plan.check(view)
    return Outcome(case, view, plan)


def bound(case: Case) -> float:
    """No plan without merging has a higher mean."""
    return mean_bound(case.accuracy, case.demand, case.capacity)


def on_level(case: Case, level: int) -> Case:
    """The same queries with both components at the cameras, in the private cluster or in the cloud."""
    return case.where(lambda of: of.together & (of.level[:, -1] == level))


def cheapest(case: Case) -> float:
    """The cores of a query's cheapest plan, wherever it runs; a mean over queries."""
    return float(
        np.mean([of.piece_demand[:, :, :: len(KINDS)].sum(axis=(1, 2)).min() for of in case.options])
    )


def _share(rows: _Floats, capacity: _Floats) -> _Floats:
    rows = rows.reshape(-1, len(capacity))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rows > 0, rows / capacity, 0.0)
