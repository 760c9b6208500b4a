"""Planning on arrays, for users of the library.

All take the same: ``accuracy``, for each of n queries a (k,) array of what its configurations are worth, from 0 to 1;
``demand``, for each a (k, L) array of what they ask for of L resources; and ``capacity`` (L,), how much there is of
each, infinity where it does not run short. k may differ from query to query. They return choices, (n,) int64: which
configuration each query runs, −1 where it cannot. Whatever is negative, not a number, or of another shape is an
:class:`~windlass.model.InputError` that names the query and the value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from windlass.plan.lib.fair import fair_choices
from windlass.plan.lib.problem import Problem

_Ints = NDArray[np.int64]


def fair(accuracy: Sequence[object], demand: Sequence[object], capacity: object) -> _Ints:
    """1/n of every resource for each query, and the most accurate configuration that fits there.

    Source: thesis, section 5.7.1, Fair Allocation.

    Examples
    --------
    >>> fair([[0.2, 0.9]] * 3, [[[1.0], [4.0]]] * 3, [11.0]).tolist()
    [0, 0, 0]
    """
    return fair_choices(Problem.of(accuracy, demand, capacity))
