"""Names of the variants of a cluster scenario."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from windlass.experiment.worlds.cluster.policies import left_out_label

if TYPE_CHECKING:
    from windlass.experiment.worlds.cluster.spec import ClusterSetting


def variant_names(variants: Sequence[ClusterSetting]) -> list[str]:
    """Return a name for each variant: the policies that differ, and the decisions that are left out."""
    columns = [[choice.label for choice in variant.policies.choices()] for variant in variants]
    # With and without an order of staged jobs, there are different numbers of choices.
    alike = len({len(column) for column in columns}) == 1
    differing = [
        place
        for place in range(len(columns[0]))
        if not alike or len({column[place] for column in columns}) > 1
    ]
    found = []
    for variant, column in zip(variants, columns, strict=True):
        named = [column[place] for place in differing] if alike else column
        if variant.without:
            named = [*named, left_out_label(variant.without)]
        if variant.bound_of is not None:
            named = [*named, f"bound of {variant.bound_of}"]
        found.append(", ".join(named) or "all decisions")
    return found
