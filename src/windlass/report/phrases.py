"""Phrases of the verdict's sentences: names of metrics and variants, values with units, intervals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from windlass.report.units import PERCENT, Unit, counted, number, percentage, sentence_unit, without_unit
from windlass.results.verdict.blocks import FINER
from windlass.results.verdict.compare import Comparison
from windlass.results.verdict.evidence import NoInterval
from windlass.results.verdict.judge import PointVerdict
from windlass.results.verdict.measures import NARROW, WIDE
from windlass.results.verdict.paired import ConfidenceInterval
from windlass.results.verdict.sign_flip import SignFlip


def label(metric: str) -> str:
    """Return the name of a metric in words.

    >>> label("mean_bounded_slowdown"), label("max_wait_s"), label("users_jain")
    ('mean bounded slowdown', 'longest wait', "Jain's index over users")
    """
    if metric in (NARROW, WIDE):
        return f"mean wait of {'wide' if metric == WIDE else 'narrow'} jobs"
    if metric == "max_wait_s":
        return "longest wait"
    if metric.endswith("_jain"):
        return f"Jain's index over {metric.removesuffix('_jain')}"
    if metric == "starved":
        return "number of starved jobs"
    return without_unit(metric)


def most(better: int) -> str:
    """Return ``highest`` if higher values are better, otherwise ``lowest``."""
    return "highest" if better > 0 else "lowest"


def quoted(name: str) -> str:
    """Put a name that contains a comma in quotes, so that lists of names are unambiguous."""
    return f"'{name}'" if "," in name else name


def with_quoted_names(point: PointVerdict) -> PointVerdict:
    """Return a point's verdict with the names as :func:`quoted`."""
    return replace(point, names=tuple(map(quoted, point.names)))


def listed(names: Sequence[str]) -> str:
    """Return names joined by commas and ``and``.

    >>> listed(["fcfs", "sjf", "easy"])
    'fcfs, sjf and easy'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def measured(value: float, unit: Unit) -> str:
    """Return a value in a unit, with the symbol of the unit.

    >>> measured(90.0, Unit("min", 1 / 60))
    '1.500 min'
    """
    shown = value * unit.factor
    whole = unit.whole and shown == round(shown) if math.isfinite(shown) else False
    return f"{number(shown, 0 if whole else None)} {unit.symbol}".strip()


def in_words(metric: str, *values: float) -> tuple[str, ...]:
    """Return values of one metric, all in the same unit.

    >>> in_words("mean_wait_s", 90.0, 3600.0)
    ('1.500 min', '60 min')
    """
    unit = sentence_unit(metric, values)
    return tuple(measured(value, unit) for value in values)


def interval(found: ConfidenceInterval, unit: Unit) -> str:
    """Return an interval in a unit, such as ``95 % confidence interval 1.000 to 2.000 h``."""
    low, high = (number(bound * unit.factor) for bound in (found.low, found.high))
    symbol = "percentage points" if unit is PERCENT else unit.symbol
    return f"95 % confidence interval {low} to {high} {symbol}".strip()


def difference(amount: float, reference: float, unit: Unit) -> str:
    """Return a difference in a unit, and its part of a reference value unless that is 0, or a tenth of it or less.

    >>> difference(90.0, 360.0, Unit("min", 1 / 60)), difference(0.02, 0.5, PERCENT)
    ('1.500 min (25 %)', '2.000 percentage points')
    """
    if unit is PERCENT:
        return points(amount)
    part = f" ({percentage(amount / abs(reference))})" if reference and amount < 10 * abs(reference) else ""
    return f"{measured(amount, unit)}{part}"


def points(amount: float) -> str:
    """Return a difference of two shares, such as ``2.000 percentage points``."""
    return f"{number(amount * PERCENT.factor)} percentage points"


def pairs(found: ConfidenceInterval, comparison: Comparison) -> str:
    """Return the number of pairs of an interval, such as ``n = 20 blocks``."""
    return (
        f"n = {counted(found.count, 'seed')}" if comparison.over == "seeds" else f"n = {found.count} blocks"
    )


def signs(found: SignFlip, comparison: Comparison, name: str) -> str:
    """Return in how many seeds or blocks a variant is worse, such as ``fcfs is worse in 20 of 20 blocks``."""
    equal = found.pairs - found.above - found.below
    better = f" and better in {found.below}" if equal else ""
    return f"{name} is worse in {found.above}{better} of {found.pairs} {comparison.over}"


def no_interval(found: NoInterval, count: int, noun: str = "job") -> str:
    """Return why there is no confidence interval.

    >>> no_interval(NoInterval("few", 36.2, 400.0), 300)
    'no confidence interval, as the 300 jobs are worth about 36 independent ones, and 400 are required'
    >>> no_interval(NoInterval("rare", 3, 16), 300)
    'no confidence interval, as jobs differ in only 3 of 20 blocks, and 16 are required'
    """
    if found.reason == "correlated":
        return "no confidence interval, as neighbouring blocks are correlated"
    if found.reason == "rare":
        differ = f"{noun}s differ in only {found.effective:.0f} of {FINER} blocks"
        return f"no confidence interval, as {differ}, and {found.required:.0f} are required"
    worth = f"the {counted(count, noun)} are worth about {found.effective:,.0f} independent ones"
    return f"no confidence interval, as {worth}, and {math.ceil(found.required):,} are required"
