"""The best of variants that differ in their policies alone, and who can be told from it."""

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
        (k) how much worse each is than the best: an interval of differences above 0 where it is worse, paired by
        seed or block. None for the best itself, and where nothing tells chance from more.
    over
        What was paired: ``seeds``, ``blocks`` or ``nothing``.
    """

    metric: str
    means: tuple[float, ...]
    best: int | None
    against: tuple[ConfidenceInterval | None, ...]
    over: str

    def told(self, row: int) -> bool:
        """Whether a variant is worse than the best, beyond chance."""
        found = self.against[row]
        return found is not None and found.low > 0

    def supported(self) -> tuple[bool, ...]:
        """(k) the best and those that cannot be told from it; none where no variant can be told from it."""
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

    Each interval holds with a probability of 95 % by itself, so that among many variants that are all alike, one in
    twenty is told from the best by chance.

    Parameters
    ----------
    variants
        That differ in their policies alone.
    metric
        A field of their metrics, or one of :mod:`~windlass.results.verdict.measures`.
    better
        1 where higher is better, −1 where lower is, 0 where neither is.
    allowed
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
