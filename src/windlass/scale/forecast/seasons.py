"""Season lengths, in rows."""

from __future__ import annotations

from collections.abc import Sequence

from windlass.model.values import whole


def checked_seasons(seasons: Sequence[int]) -> tuple[int, ...]:
    """Check season lengths and sort them, shortest first; each is at least 2 rows.

    Raises
    ------
    InputError
        A length is not a whole number of at least 2.

    Examples
    --------
    >>> checked_seasons([1008, 144])
    (144, 1008)
    """
    return tuple(sorted({whole("season", season, 2) for season in seasons}))
