"""How many instances jobs fill that wait: what autoscalers of today work out before they launch any.

Jobs are put in the order of what they ask for, the largest first, and each goes to the first instance that has room.
Those that ask for the same are taken together.

Instances with GPUs are for jobs that ask for some: others stay off them wherever another type has all that they ask
for. That is what clusters that rent GPUs do, by a taint; otherwise a job of one core keeps eight GPUs up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.instances import InstanceType
from windlass.scale.embedding import Embedding
from windlass.scale.view import Demands

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]
_Bools = NDArray[np.bool_]

#: What rounding may be off by, of one instance.
_ROUNDING = 1e-9


def welcome(vectors: _Floats, capacity: _Floats) -> _Bools:
    """On which types jobs may run.

    Parameters
    ----------
    vectors
        (n, 3) what jobs ask for, GPUs first.
    capacity
        (k, 3) what one of each type has.

    Returns
    -------
    (n, k)

    Examples
    --------
    >>> welcome(np.array([[0.0, 4, 0], [0, 16, 0]]), np.array([[0.0, 8, 0], [1, 32, 0]])).tolist()
    [[True, False], [False, True]]
    """
    fits = np.asarray(np.all(vectors[:, None, :] <= capacity[None], axis=2))
    plain = fits & (capacity[:, 0] <= 0)
    stays_off = (vectors[:, 0] <= 0) & np.any(plain, axis=1)
    return np.where(stays_off[:, None], plain, fits)


@dataclass(frozen=True, slots=True, eq=False)
class RequestGroups:
    """Jobs that ask for the same, the largest first.

    Parameters
    ----------
    vectors
        (g, 3) what each of a group asks for.
    counts
        (g,) how many they are.
    welcome
        (g, k) on which types they may run.
    """

    vectors: _Floats
    counts: _Ints
    welcome: _Bools

    @staticmethod
    def of(resources: _Floats, capacity: _Floats) -> RequestGroups:
        """Of jobs, a row each, beside types, a row each.

        >>> jobs = np.array([[0.0, 1, 2], [1, 1, 2], [0, 1, 2]])
        >>> RequestGroups.of(jobs, np.array([[0.0, 4, 9], [1, 4, 9]])).counts.tolist()
        [1, 2]
        """
        if not len(resources):
            return RequestGroups(
                np.empty((0, 3)), np.empty(0, np.int64), np.empty((0, len(capacity)), np.bool_)
            )
        vectors, counts = np.unique(resources, axis=0, return_counts=True)
        return RequestGroups(vectors[::-1], counts[::-1].astype(np.int64), welcome(vectors[::-1], capacity))

    def some(self, rows: _Bools) -> RequestGroups:
        """Some of the groups."""
        return RequestGroups(self.vectors[rows], self.counts[rows], self.welcome[rows])

    def less(self, taken: _Ints) -> RequestGroups:
        """Without so many of each group."""
        left = self.counts - taken
        return RequestGroups(self.vectors, left, self.welcome).some(left > 0)


def room(free: _Floats, vector: _Floats) -> _Ints:
    """(m,) how many jobs that ask for a vector each of m instances has room for, of which so much is free.

    >>> room(np.array([[0.0, 8.0, 9.0], [0.0, 1.0, 9.0]]), np.array([0.0, 2.0, 3.0])).tolist()
    [3, 0]
    """
    asked = vector > 0
    parts = free[:, asked] / vector[asked]
    found: _Ints = np.floor(parts.min(axis=1) + _ROUNDING).astype(np.int64)
    return found


def put(groups: RequestGroups, free: _Floats, of: _Ints) -> _Ints:
    """Put jobs on instances that are there.

    Parameters
    ----------
    groups
        Who.
    free
        (m, 3) what is free on each instance; less afterwards.
    of
        (m,) the type of each.

    Returns
    -------
    (g,) how many of each group found room.
    """
    taken = np.zeros(len(groups.counts), np.int64)
    if not len(free):
        return taken
    for group, (vector, count) in enumerate(zip(groups.vectors, groups.counts.tolist(), strict=True)):
        each = room(free, vector) * groups.welcome[group, of]
        before = np.cumsum(each) - each
        here = np.clip(count - before, 0, each)
        free -= here[:, None] * vector
        taken[group] = here.sum()
    return taken


def fill(groups: RequestGroups, kind: int, capacity: _Floats, most: int) -> tuple[_Ints, _Floats]:
    """Put jobs on as many new instances of a type as they fill, or as there may be.

    Parameters
    ----------
    groups
        Who; those that may not run there are left out.
    kind
        The place of the type.
    capacity
        (3,) what one has.
    most
        How many instances there may be.

    Returns
    -------
    (g,) how many of each group found room, and (m, 3) what is left on each instance.

    Examples
    --------
    >>> small = np.array([0.0, 4, 0])
    >>> groups = RequestGroups.of(np.array([[0.0, 3, 0]] * 3 + [[0.0, 1, 0]] * 2), small[None])
    >>> taken, left = fill(groups, 0, small, 9)
    >>> taken.tolist(), left[:, 1].tolist()
    ([3, 2], [0.0, 0.0, 1.0])
    """
    taken, free = np.zeros(len(groups.counts), np.int64), np.empty((0, 3))
    for group in np.flatnonzero(groups.welcome[:, kind]).tolist():
        one, vector = groups.some(np.arange(len(taken)) == group), groups.vectors[group]
        taken[group] = put(one, free, np.full(len(free), kind))[0]
        left = one.less(taken[group : group + 1])
        if not len(left.counts):
            continue
        new = min(-(-int(left.counts[0]) // int(room(capacity[None], vector)[0])), most - len(free))
        fresh = np.tile(capacity, (new, 1))
        taken[group] += put(left, fresh, np.full(new, kind))[0]
        free = np.concatenate((free, fresh))
    return taken, free


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """Jobs that wait: those that an instance has room for, and instances that larger ones need.

    Parameters
    ----------
    groups
        Those that one instance has room for.
    whole
        (k,) how many whole instances of each type the others need, all at once.
    """

    groups: RequestGroups
    whole: _Ints


def pending(waiting: Demands, types: Sequence[InstanceType]) -> Pending:
    """Who waits, by what it takes to start them.

    Examples
    --------
    >>> waiting = Demands(np.array([[0.0, 2, 0], [0, 9, 0]]), np.zeros(2), np.zeros(2))
    >>> found = pending(waiting, [InstanceType("small", cores=4)])
    >>> found.groups.counts.tolist(), found.whole.tolist()
    ([1], [3])
    """
    capacity, whole = np.array([kind.vector() for kind in types]), np.zeros(len(types), np.int64)
    groups = RequestGroups.of(waiting.resources, capacity)
    if not len(groups.counts):
        return Pending(groups, whole)
    for virtual in Embedding(capacity).virtual(groups.vectors):
        whole[virtual.bucket] += virtual.size * groups.counts[virtual.vector]
    return Pending(groups.some(np.asarray(np.any(groups.welcome, axis=1))), whole)
