"""The plans of planners on a case."""

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
#: Windlass' planner that comes closest to the optimum, which is at least as good.
NEAREST = "refined"


@dataclass(frozen=True, eq=False)
class Outcome:
    """A case, and a planner's plan for it."""

    case: Case
    view: PlanView
    plan: Plan

    @cached_property
    def each(self) -> _Floats:
        """(n,) accuracy of every query; 0 if it does not run."""
        chosen = zip(self.case.options, self.plan.choices, strict=True)
        return np.array([of.accuracy[choice] if choice >= 0 else 0.0 for of, choice in chosen])

    @property
    def mean(self) -> float:
        """Mean accuracy over all queries, the thesis' measure."""
        return float(self.each.mean())

    def of_kind(self, kind: str) -> float:
        """Return the mean accuracy over the queries of a kind."""
        return float(self.each[[of.kind == kind for of in self.case.options]].mean())

    @cached_property
    def costs(self) -> _Floats:
        """(m,) for each running query, the largest share of any capacity that it uses."""
        chosen = zip(self.case.options, self.plan.choices, strict=True)
        rows = np.array([of.demand[choice] for of, choice in chosen if choice >= 0])
        return np.asarray(_share(rows, self.case.capacity).max(axis=1, initial=0.0))

    @property
    def together(self) -> float:
        """Share of the running queries that have both components at one place."""
        found = [of.together[choice] for of, choice in self._running()]
        return float(np.mean(found)) if found else 0.0

    def busy(self, kind: str) -> float:
        """Return the utilisation of all ``cores``, or of all uplinks (``up``)."""
        # This sums over clusters: a resource may be short in one and idle in another.
        column = np.arange(len(self.case.capacity)) % len(KINDS) == KINDS.index(kind)
        column &= np.isfinite(self.case.capacity)
        return float(self.plan.demand(self.view)[column].sum() / self.case.capacity[column].sum())

    def _running(self) -> list[tuple[Options, int]]:
        chosen = zip(self.case.options, self.plan.choices, strict=True)
        return [(of, choice) for of, choice in chosen if choice >= 0]


def run(case: Case, policy: str, seed: int = 0, **parameters: Any) -> Outcome:
    """Run a planner on a case, and check its plan as an engine does."""
    queries = tuple(
        QueryOptions(
            place,
            f"{of.kind} {place}",
            of.accuracy,
            of.demand,
            piece=of.piece,
            piece_demand=of.piece_demand,
            place=of.level,
        )
        for place, of in enumerate(case.options)
    )
    resources = tuple(f"{place // 3}.{KINDS[place % 3]}" for place in range(len(case.capacity)))
    view = PlanView(0.0, resources, case.capacity, queries)
    plan = POLICIES.make(policy, np.random.default_rng(seed), **parameters).decide(view)
    plan.check(view)
    return Outcome(case, view, plan)


def bound(case: Case) -> float:
    """Return an upper bound on the mean accuracy of any plan without merging."""
    return mean_bound(case.accuracy, case.demand, case.capacity)


def on_level(case: Case, level: int) -> Case:
    """Return the case with both components of each query at the cameras, in the private cluster or in the cloud."""
    return case.where(lambda of: of.together & (of.level[:, -1] == level))


def cheapest(case: Case) -> float:
    """Return the cores of a query's cheapest plan at any place, as a mean over queries."""
    return float(
        np.mean([of.piece_demand[:, :, :: len(KINDS)].sum(axis=(1, 2)).min() for of in case.options])
    )


def _share(rows: _Floats, capacity: _Floats) -> _Floats:
    rows = rows.reshape(-1, len(capacity))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(rows > 0, rows / capacity, 0.0)
