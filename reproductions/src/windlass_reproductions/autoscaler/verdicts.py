"""Whether what came out confirms what is published, and how near is near enough.

Errors are of one fit each, so that none has an interval; a tolerance stands for what another fit would change.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from windlass_reproductions.criteria import Judged, Within, above, below, exactly

#: An error counts as lower than another one if it is so by more than this part of it: a second draw of a network's
#: weights moves it about as much.
LEAD = 0.02
#: Errors of two clusters count as alike up to this factor: what they are scaled by is as far apart.
FACTOR = 2.0


def is_least(name: str, errors: Mapping[str, float], lead: float = LEAD) -> Judged:
    """That nobody else's error is lower by more than ``lead``, a part of it; beside nobody there is nothing to judge.

    >>> [is_least("a", errors).holds for errors in ({"a": 1.01, "b": 1.0}, {"a": 1.1, "b": 1.0}, {"a": 1.0})]
    [True, False, None]
    """
    return _no_less(((error, errors[name]) for other, error in errors.items() if other != name), lead)


def is_in_order(names: Sequence[str], errors: Mapping[str, float], lead: float = LEAD) -> Judged:
    """That of two neighbours in ``names`` the second's error is never lower by more than ``lead``.

    >>> errors = {"a": 1.0, "b": 2.0, "c": 1.99}
    >>> is_in_order(["a", "b", "c"], errors).holds, is_in_order(["b", "a", "c"], errors).holds
    (True, False)
    """
    return _no_less(((errors[second], errors[first]) for first, second in pairwise(names)), lead)


def is_most(name: str, errors: Mapping[str, float]) -> Judged:
    """That nobody else's error is larger; beside nobody there is nothing to judge.

    >>> [is_most("a", errors).holds for errors in ({"a": 2.0, "b": 1.0}, {"a": 2.0, "b": 2.1}, {"a": 2.0})]
    [True, False, None]
    """
    return _no_less(((errors[name], error) for other, error in errors.items() if other != name), 0.0)


def is_alike(pairs: Iterable[tuple[float, float]], factor: float = FACTOR) -> Judged:
    """That ours and theirs are alike up to a factor, in each pair.

    >>> [is_alike([(ours, 1.0)]).holds for ours in (0.6, 1.9, 0.4, 2.1)]
    [True, True, False, False]
    """
    return Judged(
        tuple(Within(exactly(ours), theirs / factor, theirs * factor) for ours, theirs in pairs),
        f"holds where all are within a factor of {factor:g}",
    )


def is_at_least(ours: float, theirs: float, factor: float = FACTOR) -> Judged:
    """That a gain is at least the paper's, up to a factor.

    >>> [is_at_least(ours, 1.0).holds for ours in (0.6, 50.0, 0.4)]
    [True, True, False]
    """
    return Judged(
        (Within(exactly(ours), low=theirs / factor),),
        f"holds where it is not below what is printed by more than a factor of {factor:g}",
    )


def is_near(attention: NDArray[np.float64], newest: float = 0.25, most: float = 0.5) -> Judged:
    """That more than ``most`` of the attention goes to the newest part of a window; (w,) newest first.

    >>> near, even = np.array([4.0, 1.0, 1.0, 1.0]), np.ones(4)
    >>> is_near(near).holds, is_near(even).holds
    (True, False)
    """
    count = round(newest * len(attention))
    share = float(attention[:count].sum() / attention.sum())
    return above([exactly(share)], most, rule=f"holds above {most:.0%}")


def is_nothing(attention: NDArray[np.float64], beyond: int, least: float = 0.05) -> Judged:
    """That what is older than so many rows gets less than ``least`` of the attention; (w,) newest first.

    >>> is_nothing(np.array([1.0, 1.0, 0.01]), 2).holds, is_nothing(np.ones(3), 2).holds
    (True, False)
    """
    share = float(attention[beyond:].sum() / attention.sum())
    return below([exactly(share)], least, rule=f"holds below {least:.0%}")


def takes_longer(ours: float, theirs: float) -> Judged:
    """That one takes more seconds than another.

    >>> takes_longer(2.0, 1.0).holds, takes_longer(1.0, 1.0).holds
    (True, False)
    """
    return above([exactly(ours - theirs)], rule="holds where it does; one measurement of each")


def _no_less(pairs: Iterable[tuple[float, float]], lead: float) -> Judged:
    """That the first of each pair is no less than the second, but for a part of it."""
    within = f", to within {lead:.0%}" if lead else ""
    return Judged(
        tuple(Within(exactly(one - other * (1.0 - lead)), low=0.0) for one, other in pairs),
        f"holds where no error is on the other side{within}",
    )
