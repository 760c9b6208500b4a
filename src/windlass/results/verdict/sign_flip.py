"""A sign-flip test of paired differences, which does not depend on their distribution having light tails."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

#: A difference is significant up to this probability.
LEVEL: Final = 0.01
#: With more pairs, sums of neighbours are flipped.
_MOST = 20


@dataclass(frozen=True, slots=True)
class SignFlip:
    """The signs of paired differences, and the test that flips them.

    Parameters
    ----------
    above, below, pairs
        Number of pairs with a difference above 0, below 0, and in total.
    p_value
        Probability of a sum at least as far from 0 if each difference had the opposite sign with probability ½; NaN if
        the pairs are not independent.
    unanimous
        Whether the signs of correlated pairs agree so well that they decide nevertheless.
    toward
        Sign of the sum that was tested, 1 or −1; 0 for a sum of 0.
    """

    above: int
    below: int
    pairs: int
    p_value: float
    unanimous: bool = False
    toward: int = 0

    @property
    def direction(self) -> int:
        """1 if the difference is significantly above 0, −1 if it is significantly below, 0 otherwise.

        A few large differences can decide the sum against the majority of the signs. That is no clear answer, so the
        difference is then not significant.

        >>> found = (20, 0, 20, math.nan, True), (20, 0, 20, math.nan), (2, 18, 20, 0.001, False, -1)
        >>> [SignFlip(*each).direction for each in found]
        [1, 0, -1]
        >>> SignFlip(11, 9, 20, 0.001, toward=-1).direction
        0
        """
        majority = (self.above > self.below) - (self.above < self.below)
        # NaN compares as False.
        clear = self.unanimous or (self.p_value <= LEVEL and self.toward == majority)
        return majority if clear else 0

    def reversed(self) -> SignFlip:
        """Return the same for differences of the opposite sign."""
        return replace(self, above=self.below, below=self.above, toward=-self.toward)


def sign_flip_p(differences: NDArray[np.float64]) -> float:
    """Return the two-sided p-value of the sign-flip test: the share of all choices of signs with as large a sum.

    Under the null hypothesis that the two variants are interchangeable, each difference is as likely as its opposite.
    With n pairs of one sign the p-value is 2/2ⁿ, whatever their sizes.

    Parameters
    ----------
    differences
        (n,) independent paired differences; if n is above 20, sums of neighbours are used.

    Examples
    --------
    >>> sign_flip_p(np.array([1.0, 1.0, 5.0])), sign_flip_p(np.array([1.0, -1.0]))
    (0.25, 1.0)

    Source: Fisher, The Design of Experiments (1935), section 21.
    """
    if len(differences) > _MOST:
        differences = np.array([each.sum() for each in np.array_split(differences, _MOST)])
    sums = np.zeros(1)
    for each in differences:
        sums = np.concatenate((sums + each, sums - each))
    # Sums of the same terms in another order differ by rounding.
    least = abs(float(differences.sum())) - 1e-9 * float(np.abs(differences).sum())
    return float((np.abs(sums) >= least).mean())


def sign_flip(
    differences: NDArray[np.float64], finer: NDArray[np.float64] | None = None, independent: bool = True
) -> SignFlip:
    """Return the signs of differences and the test.

    Parameters
    ----------
    differences
        (n,) differences that are flipped.
    finer
        (m,) differences whose signs are counted, such as those of shorter blocks; by default, ``differences``.
    independent
        Whether the differences may be treated as independent.

    Examples
    --------
    >>> sign_flip(np.array([1.0, 2.0, -0.5]))
    SignFlip(above=2, below=1, pairs=3, p_value=0.5, unanimous=False, toward=1)
    """
    counted = differences if finer is None else finer
    p_value = sign_flip_p(differences) if independent else math.nan
    above, below = int((counted > 0).sum()), int((counted < 0).sum())
    return SignFlip(above, below, len(counted), p_value, toward=int(np.sign(differences.sum())))
