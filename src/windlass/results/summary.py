"""The direction in which a metric is better, and its mean over seeds with a confidence interval."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from windlass.model.statistics import student_half_width

_BETTER = "better"
#: Metadata of a metric's field, as in ``mean_wait_s: float = field(metadata=LOWER)``: lower or higher is better.
#: Tables print the best value in bold. A metric without this metadata has no best value.
LOWER: Final[Mapping[str, int]] = MappingProxyType({_BETTER: -1})
HIGHER: Final[Mapping[str, int]] = MappingProxyType({_BETTER: 1})
_SOMETIMES = "sometimes"
#: Metadata of a metric that is NaN for runs to which it does not apply. Tables omit it if it applies to no run.
SOMETIMES: Final[Mapping[str, int]] = MappingProxyType({_SOMETIMES: 1})
_HEADLINE = "headline"
#: Metadata of a metric by which a load is judged; a world with several loads has several of them, and no single winner.
HEADLINE: Final[Mapping[str, int]] = MappingProxyType({_HEADLINE: 1})
_TRADE = "trade"
#: Metadata of a metric of cost, and of metrics for which it pays: the report plots each of these against the cost.
COST: Final[Mapping[str, str]] = MappingProxyType({_TRADE: "cost"})
TRADED: Final[Mapping[str, str]] = MappingProxyType({_TRADE: "wait"})
#: Metadata of the metrics of a world with jobs and tasks that the verdict reports together.
OF_JOBS: Final[Mapping[str, str]] = MappingProxyType({_TRADE: "jobs"})
OF_TASKS: Final[Mapping[str, str]] = MappingProxyType({_TRADE: "tasks"})


def better_of(metric: Field[Any]) -> int:
    """Return the direction of a metric: 1 if higher values are better, −1 if lower ones are, 0 if neither."""
    return int(metric.metadata.get(_BETTER, 0))


def is_sometimes(metric: Field[Any]) -> bool:
    """Return whether a metric can be inapplicable, that is NaN, for some runs."""
    return bool(metric.metadata.get(_SOMETIMES, 0))


def is_headline(metric: Field[Any]) -> bool:
    """Return whether a load is judged by a metric."""
    return bool(metric.metadata.get(_HEADLINE, 0))


def trade_of(metric: Field[Any]) -> str:
    """Return the role of a metric in a trade of cost against wait, or of jobs against tasks; empty for none."""
    return str(metric.metadata.get(_TRADE, ""))


@dataclass(frozen=True, slots=True)
class Summary:
    """A metric over seeds: its mean and the half width of the 95 % confidence interval (NaN for one seed).

    ``better`` is 1 if a higher mean is better, −1 if a lower one is, and 0 if neither is. ``sometimes`` is True if
    the metric does not apply to every run. ``trade`` is its role in the trade of cost against wait (:func:`trade_of`).
    """

    metric: str
    mean: float
    half_width: float
    better: int = 0
    sometimes: bool = False
    trade: str = ""


def summarise(
    metric: str, values: Sequence[float], better: int = 0, sometimes: bool = False, trade: str = ""
) -> Summary:
    """Return the mean of a metric over seeds, with the half width of Student's 95 % confidence interval.

    >>> summary = summarise("wait", [1.0, 2.0, 3.0])
    >>> summary.mean, round(summary.half_width, 6)
    (2.0, 2.484138)
    """
    of_seeds = np.asarray(values, np.float64)
    half = student_half_width(of_seeds) if len(of_seeds) > 1 else math.nan
    return Summary(metric, float(of_seeds.mean()), half, better, sometimes, trade)
