"""Criteria of whether results confirm the published ones, with their tolerances.

Each error is of a single fit, so it has no interval; a tolerance accounts for the variation between fits.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from windlass_reproductions.criteria import Judged, Within, above, below, exactly

#: An error is lower than another one if it is so by more than this fraction: another random initialisation of a
#: network changes it about as much.
LEAD = 0.02
#: Errors agree if they differ by at most this factor, as their scales can differ as much.
FACTOR = 2.0


def is_least(name: str, errors: Mapping[str, float], lead: float = LEAD) -> Judged:
    """Return the claim that no other error is lower by more than the fraction ``lead``.

    Its verdict is None if there is no other.

    >>> [is_least("a", errors).holds for errors in ({"a": 1.01, "b": 1.0}, {"a": 1.1, "b": 1.0}, {"a": 1.0})]
    [True, False, None]
    """
    return _no_less(((error, errors[name]) for other, error in errors.items() if other != name), lead)


def is_in_order(names: Sequence[str], errors: Mapping[str, float], lead: float = LEAD) -> Judged:
    """Return the claim that errors increase in the order of ``names``, to within the fraction ``lead``.

    >>> errors = {"a": 1.0, "b": 2.0, "c": 1.99}
    >>> is_in_order(["a", "b", "c"], errors).holds, is_in_order(["b", "a", "c"], errors).holds
    (True, False)
    """
    return _no_less(((errors[second], errors[first]) for first, second in pairwise(names)), lead)


def is_most(name: str, errors: Mapping[str, float]) -> Judged:
    """Return the claim that no other error is larger; its verdict is None if there is no other.

    >>> [is_most("a", errors).holds for errors in ({"a": 2.0, "b": 1.0}, {"a": 2.0, "b": 2.1}, {"a": 2.0})]
    [True, False, None]
    """
    return _no_less(((errors[name], error) for other, error in errors.items() if other != name), 0.0)


def is_alike(pairs: Iterable[tuple[float, float]], factor: float = FACTOR) -> Judged:
    """Return the claim that both values of each pair agree to within a factor.

    >>> [is_alike([(ours, 1.0)]).holds for ours in (0.6, 1.9, 0.4, 2.1)]
    [True, True, False, False]
    """
    return Judged(
        tuple(Within(exactly(ours), reference / factor, reference * factor) for ours, reference in pairs),
        f"holds if all are within a factor of {factor:g}",
    )


def is_at_least(ours: float, reference: float, factor: float = FACTOR) -> Judged:
    """Return the claim that a gain is at least the paper's divided by ``factor``.

    >>> [is_at_least(ours, 1.0).holds for ours in (0.6, 50.0, 0.4)]
    [True, True, False]
    """
    return Judged(
        (Within(exactly(ours), low=reference / factor),),
        f"holds if it is not below the printed value by more than a factor of {factor:g}",
    )


def is_near(attention: NDArray[np.float64], newest: float = 0.25, most: float = 0.5) -> Judged:
    """Return the claim that the newest part of a window gets more than ``most`` of the attention, (w,) newest first.

    >>> near, even = np.array([4.0, 1.0, 1.0, 1.0]), np.ones(4)
    >>> is_near(near).holds, is_near(even).holds
    (True, False)
    """
    count = round(newest * len(attention))
    share = float(attention[:count].sum() / attention.sum())
    return above([exactly(share)], most, rule=f"holds above {most:.0%}")


def is_nothing(attention: NDArray[np.float64], beyond: int, least: float = 0.05) -> Judged:
    """Return the claim that rows from ``beyond`` on get less than ``least`` of the attention, (w,) newest first.

    >>> is_nothing(np.array([1.0, 1.0, 0.01]), 2).holds, is_nothing(np.ones(3), 2).holds
    (True, False)
    """
    share = float(attention[beyond:].sum() / attention.sum())
    return below([exactly(share)], least, rule=f"holds below {least:.0%}")


def takes_longer(ours: float, reference: float) -> Judged:
    """Return the claim that one duration is longer than another.

    >>> takes_longer(2.0, 1.0).holds, takes_longer(1.0, 1.0).holds
    (True, False)
    """
    return above([exactly(ours - reference)], rule="holds if it is longer; one measurement of each")


def _no_less(pairs: Iterable[tuple[float, float]], lead: float) -> Judged:
    """Return the claim that the first of each pair is not below the second by more than the fraction ``lead``."""
    within = f", to within {lead:.0%}" if lead else ""
    return Judged(
        tuple(Within(exactly(one - other * (1.0 - lead)), low=0.0) for one, other in pairs),
        f"holds if no pair of errors has the opposite order{within}",
    )
