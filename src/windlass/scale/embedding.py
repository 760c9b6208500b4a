"""What jobs ask for, as numbers of instances: the embedding of the paper, and its placement groups.

A type of instance is a *bucket*. Buckets are put in order of cost: by GPUs, then cores, then memory. A job goes to the
first bucket that it fits under in every resource. What jobs of one bucket ask for is added up, and the bucket's count
is the largest part that this is of one instance: its dominant resource. Counts are fractions; a plan rounds them up.

Source: "A Predictive Autoscaler for Elastic Batch Jobs", Algorithms 1 and 2, Tables 1 and 2, Figure 5.
Three things are not as printed:

- Algorithm 1 goes on after a *larger* element and says "less" at the first smaller one that follows, so that (2, 1) is
  less than (1, 2) and the other way round too. Here the first element that differs decides: a lexicographic order.
- Algorithm 2 compares with "<", though its own example puts (0, 1, 2) into a bucket (0, 1, 2). Here what is equal fits,
  and it has to fit in every resource.
- Table 2 divides memory by memory, though CPU is dominant there. ``resource`` does the same; by default the dominant
  resource is found.
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
    """A *virtual instance*: a job larger than any instance gets several of one type, all in one placement group.

    Parameters
    ----------
    vector
        Which of the vectors, from 0.
    bucket
        Of which type, in the order in which buckets were given.
    size
        How many instances.
    """

    vector: int
    bucket: int
    size: int


class Embedding:
    """Buckets, ready to embed again and again.

    Parameters
    ----------
    buckets
        (k, r) what an instance of each type has, resources in order of cost, dearest first; types in any order.
    resource
        Which resource counts; by default the dominant one of each bucket.

    Raises
    ------
    InputError
        A bucket has a number that is negative or not finite, or has nothing.

    Examples
    --------
    >>> Embedding([[0, 1, 2], [1, 2, 4]]).counts([[0, 1, 1], [0, 1, 2], [1, 2, 4]]).tolist()
    [2.0, 1.0]
    """

    def __init__(self, buckets: ArrayLike, resource: int | None = None) -> None:
        self.buckets = _vectors("buckets", buckets)
        empty = ~self.buckets.any(axis=1)
        if not len(self.buckets) or empty.any():
            what = f"bucket {int(empty.argmax())} has nothing" if empty.any() else "there are none"
            raise InputError(f"buckets: {what}, expected some of a resource in each")
        width = self.buckets.shape[1]
        if resource is not None and not 0 <= resource < width:
            raise InputError(f"resource is {resource}, expected one of 0 to {width - 1}, or None")
        self.resource = resource
        # The last key of a lexsort is the first to decide.
        self._one = np.eye(len(self.buckets))
        self.order: _Ints = np.lexsort(self.buckets.T[::-1]).astype(np.int64)
        last = np.full((1, width), np.inf)
        self._limits = np.concatenate([self.buckets[self.order], last]).T[:, :, None].copy()
        self._places: _Ints = np.concatenate([self.order, [-1]])
        with np.errstate(divide="ignore"):
            self._per: _Floats = np.where(self.buckets > 0, 1.0 / self.buckets, 0.0)

    def assign(self, vectors: ArrayLike) -> _Ints:
        """(n,) the bucket of each vector, in the order in which buckets were given; -1 where it fits under none."""
        return self._assign(_vectors("vectors", vectors, self.buckets.shape[1]))

    def hosts(self, vectors: ArrayLike) -> NDArray[np.bool_]:
        """(n,) whether some type has all resources that a vector asks for, be it in several instances."""
        asked = _vectors("vectors", vectors, self.buckets.shape[1]) > 0
        had: NDArray[np.bool_] = ~asked[:, None, :] | (self.buckets > 0)[None]
        return np.asarray(np.asarray(had.all(axis=2)).any(axis=1))

    def virtual(self, vectors: ArrayLike) -> tuple[Virtual, ...]:
        """The virtual instances of vectors that fit under no bucket, by vector.

        Of types that have all that the job asks for, it gets one that has the fewest resources besides, and of those
        the largest: a job without GPUs is not given instances with GPUs where others would do.

        Raises
        ------
        InputError
            No type has a resource that a vector asks for.
        """
        asked = _vectors("vectors", vectors, self.buckets.shape[1])
        large = np.flatnonzero(self._assign(asked) < 0)
        return tuple(self._virtual(int(row), asked[row]) for row in large)

    def counts(self, vectors: ArrayLike) -> _Floats:
        """(k,) how many instances of each type the vectors need, as fractions, in the order of the buckets.

        A virtual instance counts as so many whole ones: nobody else gets what it leaves.

        Raises
        ------
        InputError
            A vector has a number that is negative or not finite, or asks for a resource that no type has.
        """
        asked = _vectors("vectors", vectors, self.buckets.shape[1])
        found = self._assign(asked)
        kinds = len(self.buckets)
        extra = np.zeros(kinds)
        if len(found) and found.min() < 0:
            for row in np.flatnonzero(found < 0):
                each = self._virtual(int(row), asked[row])
                extra[each.bucket] += each.size
            asked, found = asked[found >= 0], found[found >= 0]
        parts = (self._one[found].T @ asked) * self._per
        counts = parts.max(axis=1)
        if self.resource is not None:
            has = self.buckets[:, self.resource] > 0
            counts = np.where(has, parts[:, self.resource], counts)
        return np.asarray(counts + extra)

    def _assign(self, asked: _Floats) -> _Ints:
        columns = np.ascontiguousarray(asked.T)
        fits = columns[0] <= self._limits[0]
        for column, limit in zip(columns[1:], self._limits[1:], strict=True):
            fits &= column <= limit
        # A last row that all fit under stands for no bucket.
        return np.asarray(self._places[fits.argmax(axis=0)])

    def _virtual(self, row: int, vector: _Floats) -> Virtual:
        able = np.asarray((self.buckets[:, vector > 0] > 0).all(axis=1))
        if not able.any():
            missing = np.flatnonzero((vector > 0) & ~(self.buckets > 0).any(axis=0))
            what = f"resource {missing[0]}" if len(missing) else "resources"
            raise InputError(f"vector {row} is {vector.tolist()}: no bucket has the {what} that it asks for")
        besides = ((self.buckets > 0) & (vector <= 0)).sum(axis=1)
        fewest = besides[able].min()
        bucket = next(int(x) for x in self.order[::-1] if able[x] and besides[x] == fewest)
        # Rounding must not ask for one more where the job is a whole multiple.
        ratio = float((vector * self._per[bucket]).max())
        return Virtual(row, bucket, int(np.ceil(ratio * (1 - 1e-12))))


def embed(vectors: ArrayLike, buckets: ArrayLike, resource: int | None = None) -> _Floats:
    """How many instances of each type some jobs need.

    Parameters
    ----------
    vectors
        (n, r) what each job asks for, resources in order of cost, dearest first.
    buckets
        (k, r) what an instance of each type has, types in any order.
    resource
        Which resource counts, from 0; by default the dominant one, that of which a bucket's jobs ask most in
        proportion.

    Returns
    -------
    (k,) fractions of instances, in the order of the buckets.

    Raises
    ------
    InputError
        A number is negative or not finite, or no type has a resource that a vector asks for.

    Examples
    --------
    The paper's Tables 1 and 2 have (GPU, CPU, GB). Two cores in instances of one core need two instances; the paper
    prints 1.5, which is what memory alone would need.

    >>> vectors, buckets = [[0, 1, 1], [0, 1, 2], [1, 2, 4]], [[0, 1, 2], [1, 2, 4]]
    >>> embed(vectors, buckets).tolist(), embed(vectors, buckets, resource=2).tolist()
    ([2.0, 1.0], [1.5, 1.0])
    """
    return Embedding(buckets, resource).counts(vectors)


def balance(sizes: Sequence[int], groups: int, first: int = 0) -> _Ints:
    """Placement groups of virtual instances, in turn; all members of one are in one group (Figure 5).

    Parameters
    ----------
    sizes
        How many instances each virtual instance has; their members stay together, so it does not change whose turn it
        is.
    groups
        How many placement groups there are.
    first
        Whose turn it is.

    Returns
    -------
    (n,) the group of each virtual instance.

    Raises
    ------
    InputError
        There is no group, or a size is below 1.

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
    # NaN is the least of numbers with NaN, and compares as false.
    if not (found.min() >= 0 and found.max() < np.inf):
        allowed = (found >= 0) & (found < np.inf)
        row, column = (int(x) for x in np.argwhere(~allowed)[0])
        raise InputError(f"{name}: row {row}, resource {column} is {found[row, column]}, expected 0 or more")
    return found
