"""The evidence on a paired difference: a confidence interval, or why there is none, and a sign-flip test."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from windlass.results.verdict.paired import ConfidenceInterval
from windlass.results.verdict.sign_flip import SignFlip


@dataclass(frozen=True, slots=True)
class NoInterval:
    """The reason why a difference has no confidence interval.

    Parameters
    ----------
    reason
        ``few`` if the jobs are worth fewer independent ones than required; ``rare`` if the values of jobs differ in
        fewer blocks than required; ``correlated`` if neighbouring blocks are correlated.
    effective, required
        Number of independent jobs that the jobs are worth, and the number that an interval requires; if the reason is
        ``rare``, numbers of blocks in which the values of a job differ.
    """

    reason: Literal["few", "rare", "correlated"]
    effective: float
    required: float


@dataclass(frozen=True, slots=True)
class PairedEvidence:
    """The evidence on the difference of two variants.

    Parameters
    ----------
    interval
        Student's confidence interval; None if it would not cover the difference as often as it claims.
    signs
        The sign-flip test.
    refusal
        Why there is no interval; None if there is one.
    """

    interval: ConfidenceInterval | None
    signs: SignFlip
    refusal: NoInterval | None = None

    @property
    def direction(self) -> int:
        """1 if the difference is significantly above 0, −1 if it is significantly below, 0 otherwise.

        It is significant if the interval excludes 0, or if the sign-flip test says so.

        >>> wide = ConfidenceInterval(2.0, -1.0, 5.0, 20)
        >>> clear, unclear = SignFlip(20, 0, 20, 2e-6, toward=1), SignFlip(12, 8, 20, 0.4)
        >>> [PairedEvidence(wide, each).direction for each in (clear, unclear)]
        [1, 0]
        """
        found = self.interval
        by_interval = 0 if found is None else (found.low > 0) - (found.high < 0)
        return by_interval or self.signs.direction
