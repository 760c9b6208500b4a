"""Deviations of single pairs from the common regression: slopes through 0, shrunk towards 0."""

from __future__ import annotations

import math
from collections.abc import Iterable

#: Standard deviation of measurements, and of the slopes of pairs, both as slowdowns of a host.
_NOISE, _AROUND = 0.05, 0.3


class Effects:
    """A slope for each pair of job classes, by ridge regression.

    It assumes that a pair deviates from the common regression in the same direction each time.

    Examples
    --------
    >>> effects = Effects()
    >>> effects.slope("blast", "montage")
    0.0
    >>> effects.take("blast", "montage", present=0.5, missed=0.1)
    >>> round(effects.slope("blast", "montage"), 3)
    0.18
    """

    def __init__(self, sums: Iterable[tuple[str, str, float, float]] = ()) -> None:
        self._sums = {(str(host), str(guest)): _validated(*known) for host, guest, *known in sums}

    def sums(self) -> list[tuple[str, str, float, float]]:
        """Return the sums, from which another instance can be made."""
        return [(*pair, *known) for pair, known in self._sums.items()]

    def slope(self, host: str, guest: str) -> float:
        """Return the extra slowdown of a host per unit of its guest's CPU share; 0 for unknown pairs."""
        squares, products = self._sums.get((host, guest), (0.0, 0.0))
        return products / (squares + (_NOISE / _AROUND) ** 2)

    def take(self, host: str, guest: str, present: float, missed: float) -> None:
        """Add a measurement: the guest's CPU share, and the regression's error of the host's slowdown."""
        squares, products = self._sums.get((host, guest), (0.0, 0.0))
        self._sums[host, guest] = squares + present * present, products + present * missed


def _validated(squares: float, products: float) -> tuple[float, float]:
    if not (0.0 <= squares < math.inf and math.isfinite(products)):
        raise ValueError(f"sums are {squares} and {products}, expected finite numbers, squares of at least 0")
    return float(squares), float(products)
