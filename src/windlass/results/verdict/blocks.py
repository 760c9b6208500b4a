"""A log cut into blocks of consecutive jobs: intervals and sign-flip tests of the difference of two variants."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from windlass.results.verdict.effective_size import LEAST_FOR_SIGNS, effective_jobs, required_jobs, skewness
from windlass.results.verdict.evidence import NoInterval, PairedEvidence
from windlass.results.verdict.measures import Measure, pseudo_values
from windlass.results.verdict.paired import neighbours_correlated, paired_interval
from windlass.results.verdict.sign_flip import SignFlip, sign_flip

#: Number of blocks of an interval and of the sign-flip test.
BLOCKS: Final = 10
#: Number of blocks whose signs are counted.
FINER: Final = 20
#: Minimum number of the finer blocks in which the values of a job differ. If variants differ in a few short periods of
#: congestion only, a longer log has longer ones too, and the spread between the blocks of this log shows none of them.
LEAST_DIFFERENT: Final = 16
#: Minimum number of jobs of a log whose unanimous blocks decide, although they are correlated.
LEAST_FOR_UNANIMITY: Final = 1000
#: Minimum number of jobs of a log that is cut into blocks.
LEAST_JOBS: Final = 100


@dataclass(frozen=True, slots=True, eq=False)
class BlockedLog:
    """The values of the same n jobs under k variants, in order of submission, with one or several seeds.

    Parameters
    ----------
    measure
        The metric of these values.
    values
        For each variant, an array (seeds, n) without NaN.
    """

    measure: Measure
    values: tuple[NDArray[np.float64], ...]
    #: Pseudo-values of a variant, and the number of independent jobs that the ones beyond its percentile are worth.
    _pseudo: dict[int, NDArray[np.float64]] = field(default_factory=dict, init=False, repr=False)
    _beyond: dict[int, float] = field(default_factory=dict, init=False, repr=False)

    @property
    def jobs(self) -> int:
        """Number of jobs."""
        return int(self.values[0].shape[1])

    def pseudo_values(self, row: int) -> NDArray[np.float64]:
        """Return (blocks,) the jackknife's pseudo-values of a variant, averaged over its seeds."""
        if row not in self._pseudo:
            self._pseudo[row] = np.mean(
                [pseudo_values(self.measure, each, BLOCKS) for each in self.values[row]], axis=0
            )
        return self._pseudo[row]

    def evidence(self, row: int, other: int, difference: float) -> PairedEvidence:
        """Return the evidence on one variant minus another.

        Parameters
        ----------
        row, other
            The two variants.
        difference
            Their difference in the metric of all jobs, the centre of the interval.
        """
        series = self._differences(row, other)
        coarse, fine = (
            np.array([each.mean() for each in np.array_split(series, count)]) for count in (BLOCKS, FINER)
        )
        worth = effective_jobs(series)
        independent = worth >= LEAST_FOR_SIGNS and not neighbours_correlated(coarse)
        signs = sign_flip(coarse, fine, independent)
        signs = replace(signs, unanimous=self.jobs >= LEAST_FOR_UNANIMITY and _unanimous(signs))
        effective, required = self._sizes(row, other, series, worth)
        if effective < required:
            return PairedEvidence(None, signs, NoInterval("few", effective, required))
        different = self._different_blocks(row, other)
        if 0 < different < LEAST_DIFFERENT:
            return PairedEvidence(None, signs, NoInterval("rare", different, LEAST_DIFFERENT))
        pairs = self.pseudo_values(row) - self.pseudo_values(other)
        if neighbours_correlated(pairs):
            return PairedEvidence(None, signs, NoInterval("correlated", effective, required))
        return PairedEvidence(paired_interval(pairs, centre=difference), signs)

    def _differences(self, row: int, other: int) -> NDArray[np.float64]:
        """Return (n,) the differences of the jobs.

        For a percentile, a job counts 1 if it is above the percentile of both variants together, otherwise 0. If the
        variants are interchangeable, both signs of each difference are then equally likely.
        """
        first, second = self.values[row], self.values[other]
        share = self.measure.share
        if share is not None:
            limit = np.quantile(np.concatenate((first, second), axis=1), share, axis=1)[:, None]
            first, second = (first > limit).astype(np.float64), (second > limit).astype(np.float64)
        found: NDArray[np.float64] = (first - second).mean(axis=0)
        return found

    def _different_blocks(self, row: int, other: int) -> int:
        """Return the number of finer blocks in which a job's values differ."""
        differs = (self.values[row] != self.values[other]).any(axis=0)
        return sum(bool(each.any()) for each in np.array_split(differs, FINER))

    def _sizes(self, row: int, other: int, series: NDArray[np.float64], worth: float) -> tuple[float, float]:
        """Return the number of independent jobs that the jobs are worth, and the number that an interval requires."""
        share = self.measure.share
        if np.array_equal(self.values[row], self.values[other]):
            return float(self.jobs), 0.0
        if share is None:
            return worth, required_jobs(skewness(series))
        return min(self._worth_beyond(row, share), self._worth_beyond(other, share)), required_jobs(
            0.0, share
        )

    def _worth_beyond(self, row: int, share: float) -> float:
        """Return the number of independent jobs that the ones beyond a variant's percentile are worth."""
        if row not in self._beyond:
            values = self.values[row]
            self._beyond[row] = effective_jobs(
                (values > np.quantile(values, share, axis=1)[:, None]).mean(axis=0)
            )
        return self._beyond[row]


def _unanimous(signs: SignFlip) -> bool:
    """Return whether one variant is worse in all blocks but at most one, in which both are equal."""
    return min(signs.above, signs.below) == 0 and max(signs.above, signs.below) >= signs.pairs - 1
