"""Whether what came out confirms what is published, and how near is near enough."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

#: An error counts as lower than another one if it is so by more than this part of it: a second draw of a network's
#: weights moves it about as much.
LEAD = 0.02
#: Errors of two clusters count as alike up to this factor: what they are scaled by is as far apart.
FACTOR = 2.0


def is_least(name: str, errors: Mapping[str, float], lead: float = LEAD) -> bool:
    """Whether nobody else's error is lower by more than ``lead``, a part of it.

    >>> is_least("a", {"a": 1.01, "b": 1.0}), is_least("a", {"a": 1.1, "b": 1.0}), is_least("a", {"a": 1.0, "b": 9.0})
    (True, False, True)
    """
    return all(errors[name] * (1.0 - lead) <= error for error in errors.values())


def is_in_order(names: Sequence[str], errors: Mapping[str, float], lead: float = LEAD) -> bool:
    """Whether of two neighbours in ``names`` the second's error is never lower by more than ``lead``.

    >>> errors = {"a": 1.0, "b": 2.0, "c": 1.99}
    >>> is_in_order(["a", "b", "c"], errors), is_in_order(["b", "a", "c"], errors)
    (True, False)
    """
    return all(errors[first] * (1.0 - lead) <= errors[second] for first, second in pairwise(names))


def is_alike(ours: float, theirs: float, factor: float = FACTOR) -> bool:
    """Whether two errors are alike up to a factor.

    >>> is_alike(0.6, 1.0), is_alike(1.9, 1.0), is_alike(0.4, 1.0), is_alike(2.1, 1.0)
    (True, True, False, False)
    """
    return theirs / factor <= ours <= theirs * factor


def is_at_least(ours: float, theirs: float, factor: float = FACTOR) -> bool:
    """Whether a gain is at least the paper's, up to a factor.

    >>> is_at_least(0.6, 1.0), is_at_least(50.0, 1.0), is_at_least(0.4, 1.0)
    (True, True, False)
    """
    return ours >= theirs / factor


def never_above(parts: Iterable[tuple[float, float]]) -> bool:
    """Whether the first of each pair, a part of the second, is never above it; up to a rounding.

    >>> never_above([(1.0, 1.0), (0.5, 1.0)]), never_above([(0.5, 1.0), (1.1, 1.0)])
    (True, False)
    """
    return all(part <= whole * (1.0 + 1e-9) for part, whole in parts)


def is_near(attention: NDArray[np.float64], newest: float = 0.25, most: float = 0.5) -> bool:
    """Whether more than ``most`` of the attention goes to the newest part of a window; (w,) newest first.

    >>> near, even = np.array([4.0, 1.0, 1.0, 1.0]), np.ones(4)
    >>> is_near(near), is_near(even)
    (True, False)
    """
    count = round(newest * len(attention))
    return bool(attention[:count].sum() > most * attention.sum())


def is_nothing(attention: NDArray[np.float64], beyond: int, least: float = 0.05) -> bool:
    """Whether what is older than so many rows gets less than ``least`` of the attention; (w,) newest first.

    >>> is_nothing(np.array([1.0, 1.0, 0.01]), 2), is_nothing(np.ones(3), 2)
    (True, False)
    """
    return bool(attention[beyond:].sum() < least * attention.sum())


def is_most(name: str, errors: Mapping[str, float]) -> bool:
    """Whether nobody else's error is larger.

    >>> is_most("a", {"a": 2.0, "b": 1.0}), is_most("a", {"a": 2.0, "b": 2.1})
    (True, False)
    """
    return errors[name] >= max(errors.values())
