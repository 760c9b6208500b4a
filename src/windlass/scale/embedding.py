"""Conversion of resource requests into numbers of instances: the embedding and the placement groups of the paper.

An instance type is a *bucket*. Buckets are sorted by cost: by GPUs, then cores, then memory. A job goes to
the first bucket in which it fits in every resource. The requests of all jobs of a bucket are added up and
divided by the capacity of one instance; the largest ratio, that of the dominant resource, is the bucket's
count. Counts are fractions; a plan rounds them up.

Source: "A Predictive Autoscaler for Elastic Batch Jobs", Algorithms 1 and 2, Tables 1 and 2, Figure 5.
Three details differ from the printed version:

- Algorithm 1 continues after a *larger* element and returns "less" at the first smaller one that follows, so
  (2, 1) is less than (1, 2) and also greater. Here the first element that differs decides: a lexicographic
  order.
- Algorithm 2 compares with "<", though its own example puts (0, 1, 2) into a bucket (0, 1, 2). Here an equal
  request fits, and a job has to fit in every resource.
- Table 2 divides memory by memory, though CPU is dominant there. ``resource`` reproduces this; by default the
  dominant resource is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from windlass.model import InputError

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Virtual:
    """A *virtual instance*: several instances of one type, in one placement group, for a job larger than any instance.

    Parameters
    ----------
    vector
        Index of the job's vector.
    bucket
        Index of the type, in the order of the given buckets.
    size
        Number of instances.
    """

    vector: int
    bucket: int
    size: int


class Embedding:
    """An embedding for a fixed set of buckets.

    Parameters
    ----------
    buckets
        (k, r) capacity of an instance of each type, resources in order of cost, most expensive first; types
        in any order.
    resource
        Index of the resource to count by; the default is the dominant one of each bucket.

    Raises
    ------
    InputError
        A capacity is negative or not finite, or a bucket has no capacity at all.

    Examples
    --------
    >>> Embedding([[0, 1, 2], [1, 2, 4]]).counts([[0, 1, 1], [0, 1, 2], [1, 2, 4]]).tolist()
    [2.0, 1.0]
    """

    def __init__(self, buckets: ArrayLike, resource: int | None = None) -> None:
        self.buckets = _vectors("buckets", buckets)
        empty = ~self.buckets.any(axis=1)
        if not len(self.buckets) or empty.any():
            what = f"bucket {int(empty.argmax())} has no capacity" if empty.any() else "none given"
            raise InputError(f"buckets: {what}, expected at least one resource above 0 in each")
        width = self.buckets.shape[1]
        if resource is not None and not 0 <= resource < width:
            raise InputError(f"resource is {resource}, expected one of 0 to {width - 1}, or None")
        self.resource = resource
        # np.lexsort sorts by its last key first.
        self._one = np.eye(len(self.buckets))
        self.order: _Ints = np.lexsort(self.buckets.T[::-1]).astype(np.int64)
        last = np.full((1, width), np.inf)
        self._limits = np.concatenate([self.buckets[self.order], last]).T[:, :, None].copy()
        self._places: _Ints = np.concatenate([self.order, [-1]])
        with np.errstate(divide="ignore"):
            self._per: _Floats = np.where(self.buckets > 0, 1.0 / self.buckets, 0.0)

    def assign(self, vectors: ArrayLike) -> _Ints:
        """Return the bucket of each vector (n,), in the order of the given buckets; -1 if it fits in none."""
        return self._assign(_vectors("vectors", vectors, self.buckets.shape[1]))

    def hosts(self, vectors: ArrayLike) -> NDArray[np.bool_]:
        """Return (n,) whether some type has every resource that a vector requests, possibly over several instances."""
        requests = _vectors("vectors", vectors, self.buckets.shape[1]) > 0
        had: NDArray[np.bool_] = ~requests[:, None, :] | (self.buckets > 0)[None]
        return np.asarray(np.asarray(had.all(axis=2)).any(axis=1))

    def virtual(self, vectors: ArrayLike) -> tuple[Virtual, ...]:
        """Return the virtual instances of vectors that fit in no bucket, in the order of the vectors.

        Among the types that have every requested resource, choose one with the fewest other resources, and
        among those the largest: a job without GPUs gets no instances with GPUs if others suffice.

        Raises
        ------
        InputError
            No type has a resource that a vector requests.
        """
        requests = _vectors("vectors", vectors, self.buckets.shape[1])
        large = np.flatnonzero(self._assign(requests) < 0)
        return tuple(self._virtual(int(row), requests[row]) for row in large)

    def counts(self, vectors: ArrayLike) -> _Floats:
        """Return how many instances of each type the vectors need (k,), as fractions, in the order of the buckets.

        A virtual instance counts as its number of whole instances, because other jobs cannot use its
        remainder.

        Raises
        ------
        InputError
            A vector has a negative or infinite number, or requests a resource that no type has.
        """
        requests = _vectors("vectors", vectors, self.buckets.shape[1])
        found = self._assign(requests)
        kinds = len(self.buckets)
        extra = np.zeros(kinds)
        if len(found) and found.min() < 0:
            for row in np.flatnonzero(found < 0):
                each = self._virtual(int(row), requests[row])
                extra[each.bucket] += each.size
            requests, found = requests[found >= 0], found[found >= 0]
        parts = (self._one[found].T @ requests) * self._per
        counts = parts.max(axis=1)
        if self.resource is not None:
            has = self.buckets[:, self.resource] > 0
            counts = np.where(has, parts[:, self.resource], counts)
        return np.asarray(counts + extra)

    def _assign(self, requests: _Floats) -> _Ints:
        columns = np.ascontiguousarray(requests.T)
        fits = columns[0] <= self._limits[0]
        for column, limit in zip(columns[1:], self._limits[1:], strict=True):
            fits &= column <= limit
        # The last row has no limits, so every vector fits there; its place is -1, no bucket.
        return np.asarray(self._places[fits.argmax(axis=0)])

    def _virtual(self, row: int, vector: _Floats) -> Virtual:
        able = np.asarray((self.buckets[:, vector > 0] > 0).all(axis=1))
        if not able.any():
            missing = np.flatnonzero((vector > 0) & ~(self.buckets > 0).any(axis=0))
            what = f"resource {missing[0]}" if len(missing) else "resources"
            raise InputError(f"vector {row} is {vector.tolist()}: no bucket has the requested {what}")
        others = ((self.buckets > 0) & (vector <= 0)).sum(axis=1)
        fewest = others[able].min()
        bucket = next(int(x) for x in self.order[::-1] if able[x] and others[x] == fewest)
        # A rounding error must not add an instance to a job that is a whole multiple of one.
        ratio = float((vector * self._per[bucket]).max())
        return Virtual(row, bucket, int(np.ceil(ratio * (1 - 1e-12))))


def embed(vectors: ArrayLike, buckets: ArrayLike, resource: int | None = None) -> _Floats:
    """Return how many instances of each type a set of jobs needs.

    Parameters
    ----------
    vectors
        (n, r) request of each job, resources in order of cost, most expensive first.
    buckets
        (k, r) capacity of an instance of each type, types in any order.
    resource
        Index of the resource to count by. The default is the dominant resource of each bucket: the one that
        its jobs request most of, relative to the capacity.

    Returns
    -------
    (k,) fractions of instances, in the order of the buckets.

    Raises
    ------
    InputError
        A number is negative or not finite, or no type has a resource that a vector requests.

    Examples
    --------
    The paper's Tables 1 and 2 list (GPU, CPU, GB). Two cores on instances of one core need two instances; the
    paper prints 1.5, the count by memory.

    >>> vectors, buckets = [[0, 1, 1], [0, 1, 2], [1, 2, 4]], [[0, 1, 2], [1, 2, 4]]
    >>> embed(vectors, buckets).tolist(), embed(vectors, buckets, resource=2).tolist()
    ([2.0, 1.0], [1.5, 1.0])
    """
    return Embedding(buckets, resource).counts(vectors)


def balance(sizes: Sequence[int], groups: int, first: int = 0) -> _Ints:
    """Assign virtual instances to placement groups in turn; all instances of one are in the same group (Figure 5).

    Parameters
    ----------
    sizes
        Number of instances of each virtual instance. They stay together, so sizes do not affect the
        assignment.
    groups
        Number of placement groups.
    first
        Group of the first virtual instance.

    Returns
    -------
    (n,) index of the group of each virtual instance.

    Raises
    ------
    InputError
        ``groups`` or a size is below 1.

    Examples
    --------
    >>> balance([4, 2, 2], groups=2).tolist()
    [0, 1, 0]
    """
    if groups < 1:
        raise InputError(f"groups is {groups}, expected at least 1")
    for place, size in enumerate(sizes):
        if size < 1:
            raise InputError(f"virtual instance {place} has {size} instances, expected at least 1")
    return (first + np.arange(len(sizes), dtype=np.int64)) % groups


def _vectors(name: str, values: ArrayLike, width: int | None = None) -> _Floats:
    found = np.asarray(values, dtype=np.float64)
    if found.size == 0:
        return np.empty((0, width or 0))
    if found.ndim != 2 or (width is not None and found.shape[1] != width):
        expected = "(n, resources)" if width is None else f"(n, {width})"
        raise InputError(f"{name} has shape {found.shape}, expected {expected}")
    # If a value is NaN, min() and max() are NaN and both comparisons are false.
    if not (found.min() >= 0 and found.max() < np.inf):
        allowed = (found >= 0) & (found < np.inf)
        row, column = (int(x) for x in np.argwhere(~allowed)[0])
        raise InputError(f"{name}: row {row}, resource {column} is {found[row, column]}, expected 0 or more")
    return found
