"""First-fit bin packing of waiting jobs, as current autoscalers do it before they launch instances.

Jobs are sorted by request, the largest first, and each goes to the first instance with room. Jobs with equal
requests are handled as one group.

Instances with GPUs are reserved for jobs that request GPUs, unless no other type has the resources that a job
needs. Clusters that rent GPUs do this with a taint; otherwise a job of one core could keep eight GPUs up.
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

#: Tolerance for rounding errors, as a fraction of an instance.
_ROUNDING = 1e-9


def welcome(vectors: _Floats, capacity: _Floats) -> _Bools:
    """Return on which types each job may run.

    Parameters
    ----------
    vectors
        (n, 3) requests of jobs, GPUs first.
    capacity
        (k, 3) capacity of an instance of each type.

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
    """Jobs grouped by equal requests, the largest first.

    Parameters
    ----------
    vectors
        (g, 3) the request of each job of a group.
    counts
        (g,) number of jobs.
    welcome
        (g, k) types on which the jobs may run.
    """

    vectors: _Floats
    counts: _Ints
    welcome: _Bools

    @staticmethod
    def of(resources: _Floats, capacity: _Floats) -> RequestGroups:
        """Group jobs (one row each) and find the types (one row each) on which they may run.

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
        """Return the selected groups."""
        return RequestGroups(self.vectors[rows], self.counts[rows], self.welcome[rows])

    def less(self, placed: _Ints) -> RequestGroups:
        """Return the groups without ``placed`` jobs of each."""
        left = self.counts - placed
        return RequestGroups(self.vectors, left, self.welcome).some(left > 0)


def room(free: _Floats, vector: _Floats) -> _Ints:
    """Return how many jobs with request ``vector`` fit on each of m instances, given the free resources (m,).

    >>> room(np.array([[0.0, 8.0, 9.0], [0.0, 1.0, 9.0]]), np.array([0.0, 2.0, 3.0])).tolist()
    [3, 0]
    """
    needs = vector > 0
    parts = free[:, needs] / vector[needs]
    found: _Ints = np.floor(parts.min(axis=1) + _ROUNDING).astype(np.int64)
    return found


def put(groups: RequestGroups, free: _Floats, of: _Ints) -> _Ints:
    """Place jobs on existing instances.

    Parameters
    ----------
    groups
        The jobs.
    free
        (m, 3) free resources of each instance; reduced in place.
    of
        (m,) type of each instance.

    Returns
    -------
    (g,) how many jobs of each group were placed.
    """
    placed = np.zeros(len(groups.counts), np.int64)
    if not len(free):
        return placed
    for group, (vector, count) in enumerate(zip(groups.vectors, groups.counts.tolist(), strict=True)):
        each = room(free, vector) * groups.welcome[group, of]
        before = np.cumsum(each) - each
        here = np.clip(count - before, 0, each)
        free -= here[:, None] * vector
        placed[group] = here.sum()
    return placed


def fill(groups: RequestGroups, kind: int, capacity: _Floats, most: int) -> tuple[_Ints, _Floats]:
    """Place jobs on new instances of one type, as many as they fill or as are allowed.

    Parameters
    ----------
    groups
        The jobs; groups that may not run on the type are skipped.
    kind
        Index of the type.
    capacity
        (3,) capacity of an instance.
    most
        Maximum number of instances.

    Returns
    -------
    (g,) how many jobs of each group were placed, and (m, 3) what is left free on each instance.

    Examples
    --------
    >>> small = np.array([0.0, 4, 0])
    >>> groups = RequestGroups.of(np.array([[0.0, 3, 0]] * 3 + [[0.0, 1, 0]] * 2), small[None])
    >>> placed, left = fill(groups, 0, small, 9)
    >>> placed.tolist(), left[:, 1].tolist()
    ([3, 2], [0.0, 0.0, 1.0])
    """
    placed, free = np.zeros(len(groups.counts), np.int64), np.empty((0, 3))
    for group in np.flatnonzero(groups.welcome[:, kind]).tolist():
        one, vector = groups.some(np.arange(len(placed)) == group), groups.vectors[group]
        placed[group] = put(one, free, np.full(len(free), kind))[0]
        left = one.less(placed[group : group + 1])
        if not len(left.counts):
            continue
        new = min(-(-int(left.counts[0]) // int(room(capacity[None], vector)[0])), most - len(free))
        fresh = np.tile(capacity, (new, 1))
        placed[group] += put(left, fresh, np.full(new, kind))[0]
        free = np.concatenate((free, fresh))
    return placed, free


@dataclass(frozen=True, slots=True, eq=False)
class Pending:
    """Waiting jobs: those that fit on one instance, and the instances that larger jobs need.

    Parameters
    ----------
    groups
        Jobs that fit on one instance.
    whole
        (k,) how many whole instances of each type the other jobs need in total.
    """

    groups: RequestGroups
    whole: _Ints


def pending(waiting: Demands, types: Sequence[InstanceType]) -> Pending:
    """Split waiting jobs into those that fit on one instance and those that need several.

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
