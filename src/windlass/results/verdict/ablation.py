"""What each decision is worth: the change of each metric where a variant leaves decisions out.

A variant leaves decisions out if policies stand in for them (:attr:`windlass.results.Choice.stands_in`). It is compared
with the variant of the same point that makes all decisions with the same policies. If variants leave out one decision,
another one, and both, the *interaction* of the two is the change without both, less the changes without either: 0 if
the two are independent of each other.

If a variant makes no decision, variants that make a single one show what it is worth *alone*. The interaction of a
decision with all others is the change where it is left out of all, less the change where it is left out alone.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from windlass.results import Results, VariantResult
from windlass.results.verdict.compare import comparable
from windlass.results.verdict.paired import ConfidenceInterval, paired_interval
from windlass.results.verdict.repeated import repeat

#: All decisions but one, as the other side of an interaction.
OTHERS: Final = "all others"


@dataclass(frozen=True, slots=True)
class Effect:
    """The change of one metric where decisions are left out.

    Parameters
    ----------
    metric, better
        The metric, and whether higher (1) or lower (−1) values are better.
    whole, without
        Its mean with all decisions, and without some.
    difference
        Paired confidence interval of ``without`` minus ``whole``; None if it cannot be computed.
    """

    metric: str
    better: int
    whole: float
    without: float
    difference: ConfidenceInterval | None

    @property
    def change(self) -> float:
        """The change relative to ``whole``, such as 0.25; infinite if ``whole`` is 0 and ``without`` is not.

        >>> Effect("mean_wait_s", -1, 4.0, 5.0, None).change
        0.25
        """
        if self.without == self.whole:
            return 0.0
        if self.whole == 0.0 and not math.isnan(self.without):
            return math.copysign(math.inf, self.without)
        return (self.without - self.whole) / abs(self.whole) if self.whole else math.nan

    @property
    def significant(self) -> bool:
        """Whether the paired 95 % confidence interval of the difference excludes 0."""
        return self.difference is not None and self.difference.excludes_zero


@dataclass(frozen=True, slots=True)
class Interaction:
    """The joint effect of two decisions on a metric, beyond the sum of their own effects.

    Parameters
    ----------
    decisions
        The two decisions; the second is :data:`OTHERS` for all others.
    metric, whole
        The metric, and its mean with all decisions.
    beyond
        Paired confidence interval of f(without both) − f(without one) − f(without the other) + f(with both).
    """

    decisions: tuple[str, str]
    metric: str
    whole: float
    beyond: ConfidenceInterval


@dataclass(frozen=True, slots=True)
class Ablation:
    """Variants that leave decisions out, next to the one that makes all.

    Parameters
    ----------
    point
        Swept values, such as ``load=0.5``; empty if none are swept.
    base
        Name of the variant that makes all decisions.
    left_out
        For each of the other variants, the decisions that it leaves out.
    effects
        For each of these, its effect on each metric that has a direction and applies.
    interactions
        Interactions of decisions that variants leave out alone and together.
    alone, alone_effects
        The decisions that a variant makes alone, and the effects of leaving out that last decision.
    """

    point: str
    base: str
    left_out: tuple[tuple[str, ...], ...]
    effects: tuple[tuple[Effect, ...], ...]
    interactions: tuple[Interaction, ...] = ()
    alone: tuple[str, ...] = ()
    alone_effects: tuple[tuple[Effect, ...], ...] = ()


def ablation(results: Results) -> tuple[Ablation, ...]:
    """Return what each decision is worth, once for each variant that makes all decisions and some of which leave out.

    Parameters
    ----------
    results
        Results of any world; empty if no variant leaves a decision out.

    Examples
    --------
    >>> import polars as pl
    >>> from windlass.results.outcome import Choice, Outcome
    >>> from windlass.results.metrics.site import BatchMetrics
    >>> def variant(name, choice, *waits):
    ...     made = [BatchMetrics(1, wait, wait, wait, wait, 1.0, 0.5, 9.0) for wait in waits]
    ...     outcomes = tuple(Outcome(at, one, pl.DataFrame(), 8) for at, one in enumerate(made))
    ...     return VariantResult(name, (choice,), outcomes)
    >>> whole = variant("all", Choice("order", "easy"), 1.0, 2.0)
    >>> found = ablation(Results("", "", (whole, variant("without", Choice("order", "fcfs", "", True), 3.0, 4.2))))
    >>> found[0].left_out, found[0].effects[0][0].metric, round(found[0].effects[0][0].change, 6)
    ((('order',),), 'mean_wait_s', 1.4)
    """
    found = []
    for rows in comparable(results):
        variants = [results.variants[row] for row in rows]
        for base in variants:
            # A bound cannot be chosen, so that what a decision is worth to it says nothing.
            if not (base.bound or _left_out(base)):
                others = [each for each in variants if _left_out(each) and _same_otherwise(base, each)]
                found += [_ablated(base, others)] if _ablates(base, others) else []
    return tuple(found)


def _ablates(base: VariantResult, others: Sequence[VariantResult]) -> bool:
    """Return whether some variant leaves out at most half of the decisions, or the only one.

    A variant that leaves out nearly all has the same policies as any other one without these decisions.
    """
    most = max(1, len(base.choices) // 2)
    return any(len(_left_out(each)) <= most for each in others)


def _left_out(variant: VariantResult) -> tuple[str, ...]:
    return tuple(choice.decision for choice in variant.choices if choice.stands_in)


def _same_otherwise(base: VariantResult, other: VariantResult) -> bool:
    """Return whether a variant differs from another one only in what stands in for decisions.

    A decision that one of them does not have depends on one that is left out.
    """
    own, others = ({choice.decision: choice for choice in each.choices} for each in (base, other))
    return all(own[each] == others[each] for each in own.keys() & others.keys() - set(_left_out(other)))


def _ablated(base: VariantResult, others: Sequence[VariantResult]) -> Ablation:
    better = {
        each.metric: each.better for each in base.summaries() if each.better and not math.isnan(each.mean)
    }
    repeated = {metric: repeat([base, *others], metric) for metric in better}
    left_out = tuple(map(_left_out, others))
    every = {choice.decision for choice in base.choices}
    none = next((row for row, names in enumerate(left_out, start=1) if every == set(names)), None)
    alone = {} if none is None else _alone(every, left_out)
    rows = [row for row in range(1, len(others) + 1) if row not in alone.values()]

    def effects(whole: int, without: int) -> tuple[Effect, ...]:
        return tuple(
            Effect(
                metric,
                better[metric],
                float(found.means[whole]),
                float(found.means[without]),
                found.difference(without, whole),
            )
            for metric, found in repeated.items()
        )

    interactions = tuple(
        each
        for metric, found in repeated.items()
        if found.values is not None
        for each in _interactions(metric, found.values, float(found.means[0]), left_out, alone, none)
    )
    return Ablation(
        base.point,
        base.own_name,
        tuple(left_out[row - 1] for row in rows),
        tuple(effects(0, row) for row in rows),
        interactions,
        tuple(alone),
        tuple(effects(row, none) for row in alone.values() if none is not None),
    )


def _alone(every: set[str], left_out: Sequence[tuple[str, ...]]) -> dict[str, int]:
    """Return the row of the variant that makes a single decision, by decision.

    Of two decisions, to make one alone is to leave the other one out.
    """
    if len(every) <= 2:
        return {}
    kept = [sorted(every - set(names)) for names in left_out]
    return {names[0]: row for row, names in enumerate(kept, start=1) if len(names) == 1}


def _interactions(
    metric: str,
    values: NDArray[np.float64],
    whole: float,
    left_out: tuple[tuple[str, ...], ...],
    alone: Mapping[str, int],
    none: int | None,
) -> Iterator[Interaction]:
    rows = {frozenset(each): row for row, each in enumerate(left_out, start=1)}
    single = sorted({each[0] for each in left_out if len(each) == 1})
    pairs = [
        ((first, second), rows[frozenset((first,))], rows[frozenset((second,))], both)
        for first, second in itertools.combinations(single, 2)
        if (both := rows.get(frozenset((first, second)))) is not None
    ]
    if none is not None:
        pairs += [
            ((name, OTHERS), rows[frozenset((name,))], alone[name], none) for name in single if name in alone
        ]
    for names, one, other, both in pairs:
        # In this order, a decision that changes nothing gives exactly 0.
        differences = (values[both] - values[other]) - (values[one] - values[0])
        beyond = paired_interval(differences)
        if beyond is None and len(differences) > 1 and not differences.any():
            beyond = ConfidenceInterval(0.0, 0.0, 0.0, len(differences))
        if beyond is not None:
            yield Interaction(names, metric, whole, beyond)
