"""The Pareto front of two quantities of which less is better."""

from __future__ import annotations

import math
from collections.abc import Sequence


def pareto_front(first: Sequence[float], second: Sequence[float]) -> tuple[int, ...]:
    """Return the rows on the Pareto front, by the first quantity: no other row is as good in both and better in one.

    Parameters
    ----------
    first, second
        Two quantities of each row; lower values are better. Rows without a value (NaN) are not on the front.

    Examples
    --------
    >>> pareto_front([1.0, 2.0, 3.0, 3.0], [9.0, 4.0, 5.0, 4.0])
    (0, 1)
    """
    rows = [
        row for row, values in enumerate(zip(first, second, strict=True)) if not any(map(math.isnan, values))
    ]
    found: list[int] = []
    for row in sorted(rows, key=lambda row: (first[row], second[row])):
        last = found[-1] if found else None
        if (
            last is None
            or second[row] < second[last]
            or (first[row], second[row]) == (first[last], second[last])
        ):
            found.append(row)
    return tuple(found)
