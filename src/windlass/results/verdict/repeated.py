"""Repeated observations of a metric under equal conditions for all variants: by seed, or by block of the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from windlass.results import VariantResult
from windlass.results.verdict.blocks import LEAST_JOBS, BlockedLog
from windlass.results.verdict.evidence import PairedEvidence
from windlass.results.verdict.measures import Jobs, Measure, jobs_of, measure_of, statistic
from windlass.results.verdict.paired import ConfidenceInterval, paired_interval
from windlass.results.verdict.sign_flip import sign_flip


@dataclass(frozen=True, slots=True)
class Repeated:
    """A metric of k variants with n observations each, made under equal conditions for all variants.

    Parameters
    ----------
    means
        (k,) means over the seeds; NaN for a variant without a value.
    over
        The observations: ``seeds``, ``blocks``, or ``nothing`` if significance cannot be tested.
    by_seed
        (k, n) the observations by seed; None for others.
    log
        The log in blocks; None if the observations are not blocks.
    same_workload
        Whether all seeds ran the same jobs, so that a seed changes only what policies or instances draw.
    """

    means: NDArray[np.float64]
    over: Literal["seeds", "blocks", "nothing"]
    by_seed: NDArray[np.float64] | None = None
    log: BlockedLog | None = None
    same_workload: bool = False
    _known: dict[tuple[int, int], PairedEvidence | None] = field(default_factory=dict, init=False, repr=False)

    @property
    def values(self) -> NDArray[np.float64] | None:
        """(k, n) the observations by seed or block; None if there are none."""
        if self.log is None:
            return self.by_seed
        return np.array([self.log.pseudo_values(row) for row in range(len(self.means))])

    @property
    def jobs(self) -> int:
        """Number of jobs in the blocks; 0 if the observations are not blocks."""
        return 0 if self.log is None else self.log.jobs

    def evidence(self, row: int, other: int) -> PairedEvidence | None:
        """Return the evidence on one variant minus another; None if significance cannot be tested."""
        if (row, other) not in self._known:
            self._known[row, other] = self._evidence(row, other)
        return self._known[row, other]

    def _evidence(self, row: int, other: int) -> PairedEvidence | None:
        if self.log is not None:
            return self.log.evidence(row, other, float(self.means[row] - self.means[other]))
        if self.by_seed is None:
            return None
        if self.same_workload and not np.ptp(self.by_seed[[row, other]], axis=1).any():
            # Seeds change neither of the two, so they ran once each.
            return None
        differences = self.by_seed[row] - self.by_seed[other]
        if not np.isfinite(differences).all():
            return None
        return PairedEvidence(paired_interval(differences), sign_flip(differences))

    def difference(self, row: int, other: int) -> ConfidenceInterval | None:
        """Return the paired interval of one variant minus another; None if there is none."""
        found = self.evidence(row, other)
        return None if found is None else found.interval


def repeat(variants: Sequence[VariantResult], metric: str) -> Repeated:
    """Return the repeated observations of a metric, for variants that differ only in their policies.

    Seeds are the observations if the workload depends on them. A log does not: it is the same for every seed. It is
    cut into blocks of equal numbers of jobs, in order of submission, with the same jobs for all variants. If the metric
    cannot be computed by block, seeds count if they change the metric at all, for example because instances fail at
    random.

    Parameters
    ----------
    variants
        Variants of one point of a sweep, with the same seeds.
    metric
        A field of their metrics, or one of :mod:`~windlass.results.verdict.measures`.

    Examples
    --------
    >>> import polars as pl
    >>> from windlass.results.metrics.site import BatchMetrics
    >>> from windlass.results import Outcome
    >>> def variant(name, *waits):
    ...     made = [BatchMetrics(1, wait, wait, wait, wait, 1.0, 0.5, 9.0) for wait in waits]
    ...     return VariantResult(name, (), tuple(Outcome(at, one, pl.DataFrame(), 8) for at, one in enumerate(made)))
    >>> found = repeat([variant("a", 1.0, 2.0, 4.0), variant("b", 2.0, 3.1, 4.9)], "mean_wait_s")
    >>> found.over, found.difference(1, 0).excludes_zero
    ('seeds', True)
    """
    measure = measure_of(metric)
    by_seed = _by_seed(variants, metric, measure)
    means = by_seed.mean(axis=1)
    cut, same = None, _same_workload(variants)
    if by_seed.shape[1] == 1 or same:
        cut = None if measure is None else _by_block(variants, measure, by_seed)
    if cut is not None:
        return Repeated(means, "blocks", log=cut)
    if by_seed.shape[1] > 1 and (np.ptp(by_seed, axis=1) > 0).any():
        return Repeated(means, "seeds", by_seed, same_workload=same)
    return Repeated(means, "nothing")


def means_of(variants: Sequence[VariantResult], metric: str) -> tuple[float, ...]:
    """Return (k) the means of a metric over the seeds, as in :class:`Repeated`.

    Parameters
    ----------
    variants, metric
        As for :func:`repeat`.
    """
    return tuple(float(mean) for mean in _by_seed(variants, metric, measure_of(metric)).mean(axis=1))


def _by_seed(variants: Sequence[VariantResult], metric: str, measure: Measure | None) -> NDArray[np.float64]:
    return np.array([_per_seed(variant, metric, measure) for variant in variants])


def _per_seed(variant: VariantResult, metric: str, measure: Measure | None) -> list[float]:
    known = {field.name for outcome in variant.outcomes[:1] for field in fields(outcome.metrics)}
    if metric in known or measure is None:
        return [float(getattr(outcome.metrics, metric)) for outcome in variant.outcomes]
    jobs = [jobs_of(outcome.jobs, measure, outcome.processors) for outcome in variant.outcomes]
    return [np.nan if each is None else statistic(measure, each.value) for each in jobs]


def _same_workload(variants: Sequence[VariantResult]) -> bool:
    """Return whether there are several seeds and all of them ran the same jobs."""
    arrivals = measure_of("mean_wait_s")
    assert arrivals is not None  # a mean of waits can be recomputed from jobs
    found = [
        jobs_of(outcome.jobs, arrivals, outcome.processors)
        for variant in variants[:1]
        for outcome in variant.outcomes
    ]
    return len(found) > 1 and _same_jobs(found)


def _same_jobs(found: Sequence[Jobs | None]) -> bool:
    first = found[0]
    return first is not None and all(
        each is not None and np.array_equal(each.submit, first.submit) for each in found
    )


def _by_block(
    variants: Sequence[VariantResult], measure: Measure, by_seed: NDArray[np.float64]
) -> BlockedLog | None:
    """Return the jobs' values in order of submission; None if the metric cannot be computed by block."""
    jobs = [
        [jobs_of(outcome.jobs, measure, outcome.processors) for outcome in variant.outcomes]
        for variant in variants
    ]
    found = [[each for each in row if each is not None] for row in jobs]
    if not _same_jobs([each for row in jobs for each in row]):
        return None
    again = np.array([[statistic(measure, each.value) for each in row] for row in found])
    if not np.allclose(again, by_seed, rtol=1e-6, atol=1e-9, equal_nan=True):
        # The metric's value does not follow from these jobs, for example because it excludes some of them.
        return None
    values = [np.array([each.value for each in row]) for row in found]
    missing = np.zeros(values[0].shape[1], np.bool_)
    for each in values:
        missing |= np.isnan(each).any(axis=0)
    if len(missing) - int(missing.sum()) < LEAST_JOBS:
        return None
    return BlockedLog(
        measure, tuple(each[:, ~missing] for each in values) if missing.any() else tuple(values)
    )
