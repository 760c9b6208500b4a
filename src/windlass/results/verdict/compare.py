"""The best of variants that differ only in their policies, and the significance of its lead."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from windlass.results import Results, VariantResult
from windlass.results.verdict.paired import ConfidenceInterval
from windlass.results.verdict.repeated import repeat


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric of k variants.

    Parameters
    ----------
    metric
        Its name.
    means
        (k) over the seeds.
    best
        Which has the best mean; None where none has a value, or the metric no direction.
    against
        (k) paired interval of each variant's difference from the best, by seed or block; above 0 if it is worse. None
        for the best itself, and where significance cannot be tested.
    over
        What was paired: ``seeds``, ``blocks`` or ``nothing``.
    """

    metric: str
    means: tuple[float, ...]
    best: int | None
    against: tuple[ConfidenceInterval | None, ...]
    over: str

    def told(self, row: int) -> bool:
        """Return whether a variant is significantly worse than the best."""
        found = self.against[row]
        return found is not None and found.low > 0

    def supported(self) -> tuple[bool, ...]:
        """Return (k) the best and its ties; none if no variant differs significantly from it."""
        if self.best is None or not any(self.told(row) for row in range(len(self.means))):
            return (False,) * len(self.means)
        return tuple(not math.isnan(mean) and not self.told(row) for row, mean in enumerate(self.means))


def comparable(results: Results) -> tuple[tuple[int, ...], ...]:
    """Variants that may be compared, by their numbers: those of one point, which differ in their policies alone.

    Examples
    --------
    >>> made = [VariantResult(f"{policy}, {load}", (), (), load) for load in ("5", "9") for policy in ("fcfs", "easy")]
    >>> comparable(Results("", "", tuple(made)))
    ((0, 1), (2, 3))
    """
    points: dict[str, tuple[int, ...]] = {}
    for number, variant in enumerate(results.variants):
        points[variant.point] = (*points.get(variant.point, ()), number)
    return tuple(points.values())


def compare(
    variants: Sequence[VariantResult], metric: str, better: int, allowed: Sequence[bool] | None = None
) -> Comparison:
    """Find the best of some variants, and how far the others are from it.

    Each interval has a coverage of 95 % on its own: of many equivalent variants, about one in twenty differs from the
    best by chance.

    Parameters
    ----------
    variants
        That differ in their policies alone.
    metric
        A field of their metrics, or one of :mod:`~windlass.results.verdict.measures`.
    better
        1 where higher is better, −1 where lower is, 0 where neither is.
    (k) variants that may be best; by default, all but the recorded schedule.
        (k) who may be best; by default, all but the log as it was.

    Returns
    -------
    Comparison
    """
    found = repeat(variants, metric)
    means = tuple(float(mean) for mean in found.means)
    able = [not variant.recorded for variant in variants] if allowed is None else allowed
    known = [row for row, mean in enumerate(means) if able[row] and not math.isnan(mean)]
    if not known or better == 0:
        return Comparison(metric, means, None, (None,) * len(means), found.over)
    best = max(known, key=lambda row: better * means[row])
    against = tuple(
        None
        if row == best or math.isnan(means[row])
        else found.difference(*((best, row) if better > 0 else (row, best)))
        for row in range(len(means))
    )
    return Comparison(metric, means, best, against, found.over)
