"""The verdict on results: the best at each point of a sweep, its costs, and the variants that are ruled out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from windlass.model.errors import ParameterError
from windlass.results import Results, VariantResult, better_of
from windlass.results.verdict.compare import Comparison, best_row, comparable, compare
from windlass.results.verdict.measures import NARROW, WIDE
from windlass.results.verdict.require import Requirement, metric_named


@dataclass(frozen=True, slots=True)
class Cost:
    """A metric in which another variant is better than the winner.

    Parameters
    ----------
    better
        1 if higher values are better, −1 if lower ones are.
    comparison
        Comparison of all variants in this metric; its best is not the winner.
    tested
        True if the difference is statistically significant. Only the longest wait is also listed without
        significance: one run has only one value of it.
    """

    better: int
    comparison: Comparison
    tested: bool


@dataclass(frozen=True, slots=True)
class BrokenRequirement:
    """A requirement that a variant violates: the variant's row, its value and the bound."""

    row: int
    requirement: Requirement
    metric: str
    value: float
    bound: float


@dataclass(frozen=True, slots=True)
class PointVerdict:
    """The verdict at one point of a sweep.

    Parameters
    ----------
    point
        Swept values, such as ``load=0.5``; empty if only policies are swept.
    names
        Names of the variants, without the point.
    comparison
        Comparison of the variants in the chosen metric; its best meets all requirements.
    costs
        Metrics in which another variant is better than the best.
    broken
        Violated requirements, with the variants that they rule out.
    recorded
        Rows of the recorded schedule of a log, which cannot win.
    bounds
        Rows of variants with a policy that knows more than a real one can, which cannot win.
    baseline
        Rows of ``recorded`` on the site and with the arrivals of the log, with which variants may be compared.
    """

    point: str
    names: tuple[str, ...]
    comparison: Comparison
    costs: tuple[Cost, ...] = ()
    broken: tuple[BrokenRequirement, ...] = ()
    recorded: frozenset[int] = frozenset()
    bounds: frozenset[int] = frozenset()
    baseline: frozenset[int] = frozenset()

    @property
    def unable(self) -> frozenset[int]:
        """Rows of the recorded schedule and of bounds, which cannot win."""
        return self.recorded | self.bounds

    @property
    def out(self) -> frozenset[int]:
        """Rows of the variants that violate a requirement."""
        return frozenset(each.row for each in self.broken)

    @property
    def tied(self) -> tuple[int, ...]:
        """Rows of variants that may win and are not significantly worse than the best, in the scenario's order."""
        return tuple(
            row
            for row, mean in enumerate(self.comparison.means)
            if row not in self.out
            and row != self.comparison.best
            and mean == mean  # not NaN
            and row not in self.unable
            and not self.comparison.is_worse(row)
        )

    @property
    def equal(self) -> tuple[int, ...]:
        """Rows of the variants in ``tied`` that have the same mean as the best."""
        return tuple(row for row in self.tied if self.comparison.equals_best(row))

    @property
    def leading(self) -> frozenset[str]:
        """Names of the best and of the variants that are not significantly worse; empty if there is no best."""
        best = self.comparison.best
        return frozenset() if best is None else frozenset(self.names[row] for row in (best, *self.tied))

    @property
    def winner(self) -> int | None:
        """Row of the variant that is significantly better than all others; None if there is none."""
        alone = self.comparison.best is not None and not self.tied
        return self.comparison.best if alone and self.compared > 1 else None

    @property
    def compared(self) -> int:
        """Number of variants without the recorded schedule and bounds."""
        return len(self.names) - len(self.unable)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on results.

    Parameters
    ----------
    metric, better
        The chosen metric, and whether higher (1) or lower (−1) values are better.
    points
        The verdict at each point of the sweep.
    """

    metric: str
    better: int
    points: tuple[PointVerdict, ...]

    def winners(self) -> tuple[str | None, ...]:
        """Return the name of the winner at each point; None if no variant is significantly better than all others."""
        return tuple(None if point.winner is None else point.names[point.winner] for point in self.points)


def judge(
    results: Results, by: str | None = None, requirements: Sequence[Requirement] = ()
) -> Verdict | None:
    """Return the verdict on results.

    Parameters
    ----------
    results
        Results of any world.
    by
        Metric that variants are compared in; by default, the first one with a direction that applies to a variant.
    requirements
        A variant that violates one cannot win. Requirements apply to means over the seeds.

    Returns
    -------
    Verdict or None
        None if there is no variant, or no metric with a direction.

    Raises
    ------
    InputError
        A metric is unknown or, for ``by``, has no direction; or a requirement refers to an unknown variant.
    """
    first = default_metric(results)
    if first is None:
        return None
    directions = {summary.metric: summary.better for summary in results.variants[0].summaries()}
    able = [metric for metric, better in directions.items() if better]
    metric = first if by is None else metric_named(by, able, "by")
    named = [(each, metric_named(each.metric, list(directions), "require")) for each in requirements]
    groups = [[results.variants[row] for row in rows] for rows in comparable(results)]
    for requirement, of_metric in named:
        _check_known(groups, requirement, of_metric)
    points = tuple(_point(group, metric, directions, named) for group in groups)
    return Verdict(metric, directions[metric], points)


def default_metric(results: Results) -> str | None:
    """Return the metric that is judged by default: the first one with a direction that applies to a variant.

    Parameters
    ----------
    results
        Results of any world.

    Returns
    -------
    str or None
        The first metric with a direction if none applies; None if there is no variant, or no metric with a direction.
    """
    summaries = [summary for variant in results.variants for summary in variant.summaries() if summary.better]
    known = {summary.metric for summary in summaries if not math.isnan(summary.mean)}
    # All variants have the same metrics in the same order.
    return next((each.metric for each in summaries if each.metric in known or not known), None)


def check_names(metrics: type[Any], by: str | None, requirements: Sequence[Requirement]) -> None:
    """Reject unknown names of metrics, before anything runs.

    Parameters
    ----------
    metrics
        The class of a world's metrics.
    by, requirements
        See :func:`judge`.

    Raises
    ------
    InputError
        A metric is unknown or, for ``by``, has no direction.

    Examples
    --------
    >>> from windlass.results.metrics.site import BatchMetrics
    >>> check_names(BatchMetrics, "p99_wait", ())
    """
    known = [each.name for each in fields(metrics)]
    if by is not None:
        metric_named(by, [each.name for each in fields(metrics) if better_of(each)], "by")
    for each in requirements:
        metric_named(each.metric, known, "require")


def _point(
    variants: list[VariantResult],
    metric: str,
    directions: dict[str, int],
    requirements: list[tuple[Requirement, str]],
) -> PointVerdict:
    point = variants[0].point
    names = tuple(variant.own_name for variant in variants)
    broken = tuple(
        found
        for requirement, of_metric in requirements
        for found in _broken(variants, names, requirement, of_metric)
    )
    out = {each.row for each in broken}
    recorded = frozenset(row for row, variant in enumerate(variants) if variant.recorded)
    bounds = frozenset(row for row, variant in enumerate(variants) if variant.bound)
    baseline = frozenset(row for row in recorded if variants[row].own)
    allowed = [row not in out | recorded | bounds for row in range(len(names))]
    comparison = compare(variants, metric, directions[metric], allowed)
    costs = () if comparison.best is None else _costs(variants, metric, directions, comparison.best)
    return PointVerdict(point, names, comparison, costs, broken, recorded, bounds, baseline)


def _check_known(groups: list[list[VariantResult]], requirement: Requirement, metric: str) -> None:
    """Refuse a requirement on a value, or relative to one, that no point of the results has."""
    whose = "all variants"
    for group in groups:
        own = [_mean(each, metric) for each in group if not (each.recorded or each.bound)]
        bound = [_mean(each, metric) for each in group if each.own_name == requirement.variant]
        if any(map(math.isnan, bound)):
            whose = repr(requirement.variant)
        elif not own or not all(map(math.isnan, own)):
            return
    raise ParameterError(
        "require",
        f"{requirement.text!r}: {metric} of {whose} is unknown, so the requirement cannot be checked; omit it",
    )


def _broken(
    variants: list[VariantResult], names: tuple[str, ...], requirement: Requirement, metric: str
) -> list[BrokenRequirement]:
    values = [_mean(variant, metric) for variant in variants]
    if requirement.variant is not None and requirement.variant not in names:
        raise ParameterError(
            "require",
            f"{requirement.text!r}: unknown variant {requirement.variant!r}, expected one of {', '.join(names)}",
        )
    of_variant = 1.0 if requirement.variant is None else values[names.index(requirement.variant)]
    return [
        BrokenRequirement(row, requirement, metric, value, requirement.factor * of_variant)
        for row, value in enumerate(values)
        if not requirement.holds(value, of_variant) and not (variants[row].recorded or variants[row].bound)
    ]


def _mean(variant: VariantResult, metric: str) -> float:
    values = [float(getattr(outcome.metrics, metric)) for outcome in variant.outcomes]
    return sum(values) / len(values)


def _costs(
    variants: list[VariantResult], metric: str, directions: dict[str, int], winner: int
) -> tuple[Cost, ...]:
    known = {field.name for field in fields(variants[0].outcomes[0].metrics)}
    # Waits of wide and of narrow jobs are compared if waits are measured.
    extra = {WIDE: -1, NARROW: -1} if "mean_wait_s" in known else {}
    found = []
    for other, better in {**directions, **extra}.items():
        if not better or other == metric:
            continue
        if best_row(variants, other, better) in (None, winner):
            continue
        comparison = compare(variants, other, better)
        assert comparison.best is not None
        tested = comparison.is_worse(winner)
        longer = comparison.means[comparison.best] < comparison.means[winner]
        longest = other == "max_wait_s" and longer and not comparison.equals_best(winner)
        if tested or longest:
            found.append(Cost(better, comparison, tested))
    # Users look first at the longest wait and at the waits of wide and narrow jobs.
    return tuple(sorted(found, key=lambda cost: cost.comparison.metric not in ("max_wait_s", WIDE, NARROW)))
