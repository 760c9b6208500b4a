"""The best of variants that differ only in their policies, and the significance of its lead."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from windlass.results import Results, VariantResult
from windlass.results.verdict.evidence import PairedEvidence
from windlass.results.verdict.paired import ConfidenceInterval
from windlass.results.verdict.repeated import Repeated, means_of, repeat

#: Two means are equal if they differ by at most this, relative to the larger one or, close to 0, in absolute value.
#: Sums of the same times in another order differ by rounding.
TOLERANCE: Final = 1e-9
#: Share of the seeds or blocks from which on a variant counts as worse in most.
MOST_PAIRS: Final = 0.75


def same(first: float, second: float) -> bool:
    """Return whether two means are equal within :data:`TOLERANCE`; False if one is NaN.

    >>> same(0.1 + 0.2, 0.3), same(1.0, 1.000001), same(0.0, 1e-12)
    (True, False, True)
    """
    return math.isclose(first, second, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison of k variants in one metric.

    Parameters
    ----------
    metric
        Name of the metric.
    means
        (k) means over the seeds; NaN for a variant without a value.
    best
        Row of the best mean, the first of equal ones; None if no variant that may be best has a value, or if the metric
        has no direction.
    against
        (k) paired confidence interval of each variant's difference from the best, positive if the variant is worse.
        None for the best itself, and where significance cannot be tested.
    over
        The paired observations: ``seeds``, ``blocks``, or ``nothing`` if significance cannot be tested.
    jobs
        Number of jobs in the blocks; 0 if the observations are not blocks.
    evidence
        (k) the evidence on each of these differences, of which ``against`` has the intervals; empty for the intervals
        alone.
    """

    metric: str
    means: tuple[float, ...]
    best: int | None
    against: tuple[ConfidenceInterval | None, ...]
    over: str
    jobs: int = 0
    evidence: tuple[PairedEvidence | None, ...] = ()

    def equals_best(self, row: int) -> bool:
        """Return whether a variant is the best or has the same mean (:func:`same`)."""
        return self.best is not None and same(self.means[row], self.means[self.best])

    def is_worse(self, row: int) -> bool:
        """Return whether a variant is significantly worse than the best."""
        return self.direction(row) > 0

    def direction(self, row: int) -> int:
        """Return 1 if a variant is significantly worse than the best, −1 if it is significantly better, 0 otherwise."""
        if self.equals_best(row):
            return 0
        evidence = self.evidence_on(row)
        if evidence is not None:
            return evidence.direction
        found = self.against[row]
        return 0 if found is None else (found.low > 0) - (found.high < 0)

    def evidence_on(self, row: int) -> PairedEvidence | None:
        """Return the evidence on a variant's difference from the best; None if there is only an interval or nothing."""
        return self.evidence[row] if self.evidence else None

    def is_judged(self, row: int) -> bool:
        """Return whether there are paired observations of a variant and the best."""
        return self.against[row] is not None or self.evidence_on(row) is not None

    def worse_in_most(self, row: int) -> bool:
        """Return whether a variant is worse than the best in at least three of four seeds or blocks."""
        evidence = self.evidence_on(row)
        return evidence is not None and evidence.signs.above >= MOST_PAIRS * evidence.signs.pairs

    def supported(self) -> tuple[bool, ...]:
        """Return (k) whether each variant is the best or tied with it; all False if none is significantly worse.

        A variant that is worse in most seeds or blocks is not tied, although the difference is not significant.
        """
        if self.best is None or not any(self.is_worse(row) for row in range(len(self.means))):
            return (False,) * len(self.means)
        return tuple(
            not math.isnan(mean) and not self.is_worse(row) and not self.worse_in_most(row)
            for row, mean in enumerate(self.means)
        )


def comparable(results: Results) -> tuple[tuple[int, ...], ...]:
    """Return the groups of variants that may be compared, by row: those of one point differ only in their policies.

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


#: The observations of variants and metrics so far, while :func:`reused_observations` is active.
_REUSED: ContextVar[dict[tuple[str, ...], tuple[Sequence[VariantResult], Repeated]] | None] = ContextVar(
    "reused_observations", default=None
)


@contextmanager
def reused_observations() -> Iterator[None]:
    """Keep the observations by seed or block within this context, for variants that are compared several times.

    A verdict and a table of metrics compare the same variants, and the blocks of a long log take a while.
    """
    token = _REUSED.set({})
    try:
        yield
    finally:
        _REUSED.reset(token)


def _repeated(variants: Sequence[VariantResult], metric: str) -> Repeated:
    known = _REUSED.get()
    if known is None:
        return repeat(variants, metric)
    # The variants are kept with the observations, so that no other ones get their identity.
    key = (metric, *(str(id(variant)) for variant in variants))
    if key not in known:
        known[key] = (tuple(variants), repeat(variants, metric))
    return known[key][1]


def compare(
    variants: Sequence[VariantResult], metric: str, better: int, allowed: Sequence[bool] | None = None
) -> Comparison:
    """Find the best of some variants, and the paired difference of each other variant from it.

    Each confidence interval covers 95 % on its own, without a correction for multiple comparisons: of many equivalent
    variants, about one in twenty differs significantly from the best by chance.

    Parameters
    ----------
    variants
        Variants that differ only in their policies.
    metric
        A field of their metrics, or one of :mod:`~windlass.results.verdict.measures`.
    better
        1 if higher values are better, −1 if lower ones are, 0 if neither.
    allowed
        (k) whether each variant may be best; by default, all but the recorded schedule and bounds.
    """
    found = _repeated(variants, metric)
    means = tuple(float(mean) for mean in found.means)
    best = _best_row(variants, means, better, allowed)
    if best is None:
        return Comparison(metric, means, None, (None,) * len(means), found.over, found.jobs)
    evidence = tuple(
        None
        if row == best or math.isnan(means[row])
        else found.evidence(*((best, row) if better > 0 else (row, best)))
        for row in range(len(means))
    )
    against = tuple(None if each is None else each.interval for each in evidence)
    return Comparison(metric, means, best, against, found.over, found.jobs, evidence)


def best_row(variants: Sequence[VariantResult], metric: str, better: int) -> int | None:
    """Return the row that :func:`compare` names as the best, without the evidence on the others.

    Parameters
    ----------
    variants, metric, better
        As for :func:`compare`.
    """
    return _best_row(variants, means_of(variants, metric), better, None)


def _best_row(
    variants: Sequence[VariantResult], means: Sequence[float], better: int, allowed: Sequence[bool] | None
) -> int | None:
    able = [not (variant.recorded or variant.bound) for variant in variants] if allowed is None else allowed
    known = [row for row, mean in enumerate(means) if able[row] and not math.isnan(mean)]
    if not known or better == 0:
        return None
    most = max(better * means[row] for row in known)
    return next(row for row in known if same(better * means[row], most))
