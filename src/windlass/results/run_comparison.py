"""The comparison of two runs: the same metrics of the same jobs, and the fields in which the scenarios differ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from windlass.results.matching import match_outcomes
from windlass.results.outcome import Outcome, VariantResult
from windlass.results.verdict.compare import Comparison, compare, same

#: Names of the two runs in sentences and tables.
NAMES: Final = ("A", "B")


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field in which two scenarios differ: its dotted name, and both values; None if a scenario lacks it."""

    field: str
    first: Any
    second: Any


@dataclass(frozen=True, slots=True)
class PairedVariants:
    """A variant of each of two runs, in all metrics.

    Parameters
    ----------
    first, second
        Names of the variants.
    comparisons
        A comparison for each metric that applies; row 0 is the first run, row 1 the second.
    directions
        For each metric, 1 if higher values are better, −1 if lower ones are, 0 if neither.
    common, only_first, only_second
        Number of jobs in both runs, and in one run only, over all seeds.
    same_submission
        Whether the common jobs were submitted at the same times.
    """

    first: str
    second: str
    comparisons: tuple[Comparison, ...]
    directions: tuple[int, ...]
    common: int
    only_first: int
    only_second: int
    same_submission: bool

    @property
    def equal(self) -> bool:
        """Whether all metrics have the same value in both runs."""
        return all(same(*each.means) for each in self.comparisons)

    def of(self, metric: str) -> Comparison | None:
        """Return the comparison in a metric; None if it does not apply."""
        return next((each for each in self.comparisons if each.metric == metric), None)


@dataclass(frozen=True, slots=True)
class RunComparison:
    """The comparison of run B with run A.

    Parameters
    ----------
    metric, better
        The metric of the answer, and whether higher (1) or lower (−1) values are better.
    pairs
        The compared variants.
    fields
        The fields in which the scenarios of the compared variants differ.
    """

    metric: str
    better: int
    pairs: tuple[PairedVariants, ...]
    fields: tuple[FieldDifference, ...]


def pair_variants(first: VariantResult, second: VariantResult) -> PairedVariants | None:
    """Compare a variant of each of two runs in all metrics, over their common seeds and jobs.

    Parameters
    ----------
    first, second
        Variants of the same world, with at least one common seed.

    Returns
    -------
    PairedVariants or None
        None if they have no common jobs (:func:`~windlass.results.matching.match_outcomes`).
    """
    others = {outcome.seed: outcome for outcome in second.outcomes}
    matched = [
        match_outcomes(outcome, others[outcome.seed]) for outcome in first.outcomes if outcome.seed in others
    ]
    found = [each for each in matched if each is not None]
    if not found or len(found) < len(matched):
        return None
    rows = (
        _row(NAMES[0], [each.first for each in found]),
        _row(NAMES[1], [each.second for each in found]),
    )
    summaries = [
        one
        for one, other in zip(rows[0].summaries(), rows[1].summaries(), strict=True)
        if not (math.isnan(one.mean) and math.isnan(other.mean))
    ]
    return PairedVariants(
        first.name,
        second.name,
        tuple(compare(rows, each.metric, each.better) for each in summaries),
        tuple(each.better for each in summaries),
        sum(each.common for each in found),
        sum(each.only_first for each in found),
        sum(each.only_second for each in found),
        all(each.same_submission for each in found),
    )


def _row(name: str, outcomes: Sequence[Outcome]) -> VariantResult:
    return VariantResult(name, (), tuple(outcomes))


def field_differences(first: Any, second: Any, name: str = "") -> tuple[FieldDifference, ...]:
    """Return the fields in which two trees of plain values differ, in the order of the first tree.

    Parameters
    ----------
    first, second
        Mappings of plain values; values that are not mappings are compared whole.
    name
        Dotted name of the trees within larger ones.

    Examples
    --------
    >>> field_differences({"a": {"b": 1, "c": 2}}, {"a": {"b": 3, "c": 2}, "d": 4})
    (FieldDifference(field='a.b', first=1, second=3), FieldDifference(field='d', first=None, second=4))
    """
    if not (isinstance(first, Mapping) and isinstance(second, Mapping)):
        return () if first == second else (FieldDifference(name, first, second),)
    return tuple(
        each
        for key in dict.fromkeys((*first, *second))
        for each in field_differences(first.get(key), second.get(key), f"{name}.{key}" if name else str(key))
    )
