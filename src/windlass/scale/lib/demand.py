"""The current demand of a view."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.instances import InstanceType
from windlass.scale.embedding import Embedding
from windlass.scale.view import ScaleView

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: Tolerance for rounding errors in sums of fractions.
ROUNDING = 1e-9


class Buckets:
    """The embedding for the types of a view, rebuilt only when the types change."""

    __slots__ = ("_embedding", "_types")

    def __init__(self) -> None:
        self._types: tuple[InstanceType, ...] = ()
        self._embedding: Embedding | None = None

    def of(self, view: ScaleView) -> Embedding:
        """Return the embedding for this view."""
        if self._embedding is None or view.types is not self._types:
            self._embedding = Embedding([kind.vector() for kind in view.types])
            self._types = view.types
        return self._embedding


@dataclass(frozen=True, slots=True, eq=False)
class Need:
    """The demand of each type (k,).

    Parameters
    ----------
    now
        Instances that running and waiting jobs need now, as fractions.
    waiting
        The part of it that waiting jobs need.
    least
        Number of instances that on-demand scaling would have: those that hold jobs, and those that waiting
        jobs need.
    spread
        Instances that hold jobs, less the instances that jobs of this type would need under the tightest
        packing. Above 0 if jobs are packed less tightly, below 0 if they share instances with jobs of larger
        types.
    """

    now: _Floats
    waiting: _Floats
    least: _Ints
    spread: _Ints


def needed(view: ScaleView, buckets: Buckets) -> Need:
    """Return the current demand, from the last row of the history and the waiting jobs."""
    now = view.history[-1] if len(view.history) else np.zeros(len(view.types))
    if len(view.waiting):
        embedding = buckets.of(view)
        waiting = embedding.counts(view.waiting.resources)
        least = view.used + np.maximum(whole(waiting), _halves(embedding, view))
    else:
        waiting, least = np.zeros(len(view.types)), view.used
    spread = view.used - whole(np.maximum(now - waiting, 0.0))
    return Need(now, waiting, least, spread)


def _halves(embedding: Embedding, view: ScaleView) -> _Ints:
    """Return (k,) how many waiting jobs need more than half of an instance of their type: no two can share one."""
    requests = view.waiting.resources
    kinds = embedding.assign(requests)
    fits = kinds >= 0
    large = (2.0 * requests > embedding.buckets[kinds]).any(axis=1) & fits
    alone = np.bincount(kinds[large], minlength=len(embedding.buckets))
    for each in embedding.virtual(requests) if not fits.all() else ():
        alone[each.bucket] += each.size
    return alone


def whole(counts: _Floats) -> _Ints:
    """Round up, with a tolerance."""
    return np.ceil(counts - ROUNDING).astype(np.int64)


def ahead(view: ScaleView) -> _Ints:
    """Return (k,) the number of rows until an instance that is launched now is up, at least 1."""
    launch = np.array([kind.launch for kind in view.types])
    return np.maximum(whole(launch / view.period), 1)


def peak(rows: _Floats, until: _Ints) -> _Floats:
    """Return (k,) the largest value among the first ``until`` rows of each column.

    >>> peak(np.array([[1.0, 1.0], [9.0, 2.0]]), np.array([1, 2])).tolist()
    [1.0, 2.0]
    """
    return np.asarray(np.where(np.arange(len(rows))[:, None] < until, rows, -np.inf).max(axis=0))


def most(view: ScaleView) -> _Ints:
    """Return (k,) the maximum number of instances of each type."""
    return np.array([kind.most for kind in view.types], dtype=np.int64)
