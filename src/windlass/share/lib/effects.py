"""What single pairs have of their own, beside what a line says of all: slopes through 0, drawn towards 0."""

from __future__ import annotations

import math
from collections.abc import Iterable

#: How far measurements scatter, and how far slopes of pairs do, both as slowdowns of a host.
_NOISE, _AROUND = 0.05, 0.3


class Effects:
    """A slope for each pair of classes, by ridge regression.

    Where a line said too little or too much of a pair before, it will again: some programs get on, others do not.

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
        self._sums = {(str(host), str(guest)): _sound(*known) for host, guest, *known in sums}

    def sums(self) -> list[tuple[str, str, float, float]]:
        """What another one can begin with."""
        return [(*pair, *known) for pair, known in self._sums.items()]

    def slope(self, host: str, guest: str) -> float:
        """How much more a host is slowed per part of its time that the guest is there; 0 for unseen pairs."""
        squares, products = self._sums.get((host, guest), (0.0, 0.0))
        return products / (squares + (_NOISE / _AROUND) ** 2)

    def take(self, host: str, guest: str, present: float, missed: float) -> None:
        """Where the guest was there for such a part of the time, the line missed the host's slowdown by so much."""
        squares, products = self._sums.get((host, guest), (0.0, 0.0))
        self._sums[host, guest] = squares + present * present, products + present * missed


def _sound(squares: float, products: float) -> tuple[float, float]:
    if not (0.0 <= squares < math.inf and math.isfinite(products)):
        raise ValueError(f"sums are {squares} and {products}, expected finite ones, squares of at least 0")
    return float(squares), float(products)
