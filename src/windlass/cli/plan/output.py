"""Plans as tables for the terminal and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.table import Table

from windlass.plan import QueryOptions
from windlass.plan.solve import PlannerResult


def tables_of(found: Sequence[PlannerResult]) -> list[Table]:
    """Return a table of configurations and one of resources; several planners are columns of both."""
    return [_alone(found[0]), _used(found[0])] if len(found) == 1 else [_accuracies(found), _shares(found)]


def reasons(of: PlannerResult) -> list[str]:
    """Return the reason of each query's configuration, one line each."""
    pairs = zip(of.view.queries, of.plan.why, strict=True)
    return [f"  {of.policy}: {options.name}: {why}" for options, why in pairs]


def _alone(of: PlannerResult) -> Table:
    table = Table("query", "configuration", "accuracy", title=of.policy, title_justify="left")
    for options, choice in zip(of.view.queries, of.plan.choices, strict=True):
        table.add_row(options.name, options.label(choice) if choice >= 0 else "–", _accuracy(options, choice))
    return table


def _used(of: PlannerResult) -> Table:
    table = Table("resource", "used", "of", "share")
    for name, amount, capacity in _resources(of):
        table.add_row(name, _amount(name, amount), _amount(name, capacity), _share(amount, capacity))
    return table


def _accuracies(found: Sequence[PlannerResult]) -> Table:
    table = Table("query", *(each.policy for each in found), title="Accuracy", title_justify="left")
    for place, options in enumerate(found[0].view.queries):
        table.add_row(options.name, *(_accuracy(options, each.plan.choices[place]) for each in found))
    table.add_section()
    table.add_row("mean", *(f"{each.mean:.4g}" for each in found))
    table.add_row("LP bound", *(f"{each.bound:.4g}" for each in found))
    return table


def _shares(found: Sequence[PlannerResult]) -> Table:
    table = Table("resource", *(each.policy for each in found), title="Used", title_justify="left")
    for place, (name, capacity) in enumerate(
        zip(found[0].view.resources, found[0].view.capacity.tolist(), strict=True)
    ):
        amounts = [float(each.used[place]) for each in found]
        if any(amounts):
            shown = [f"{_amount(name, amount)}, {_share(amount, capacity)}" for amount in amounts]
            table.add_row(name, *(each.removesuffix(", –") for each in shown))
    return table


def _accuracy(options: QueryOptions, choice: int) -> str:
    return f"{options.accuracy[choice]:.3g}" if choice >= 0 else "–"


def _share(amount: float, capacity: float) -> str:
    return f"{amount / capacity:.0%}" if 0 < capacity < np.inf else "–"


def tree_of(of: PlannerResult) -> dict[str, Any]:
    """Return one plan as plain values for JSON; a capacity without a limit is null."""
    return {
        "policy": of.policy,
        "mean_accuracy": of.mean,
        "lp_bound": of.bound,
        "merged": of.plan.merged,
        "queries": [
            {
                "query": options.name,
                "configuration": options.label(choice) if choice >= 0 else None,
                "accuracy": float(options.accuracy[choice]) if choice >= 0 else None,
                "why": why,
            }
            for options, choice, why in zip(of.view.queries, of.plan.choices, of.plan.why, strict=True)
        ],
        "resources": [
            {"resource": name, "used": amount, "capacity": capacity if np.isfinite(capacity) else None}
            for name, amount, capacity in _resources(of)
        ],
    }


def _resources(of: PlannerResult) -> list[tuple[str, float, float]]:
    """Return name, amount and capacity of each resource that is used or limited."""
    listed = zip(of.view.resources, of.used.tolist(), of.view.capacity.tolist(), strict=True)
    return [(name, amount, capacity) for name, amount, capacity in listed if amount > 0 or capacity < np.inf]


def _amount(name: str, amount: float) -> str:
    if not np.isfinite(amount):
        return "no limit"
    # Rates of links are in bits, as usual for networks.
    return f"{amount:.3g} cores" if name.endswith(".cores") else f"{amount * 8 / 1e6:.3g} Mb/s"
