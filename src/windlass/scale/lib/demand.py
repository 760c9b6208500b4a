"""What is needed now."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.model.instances import InstanceType
from windlass.scale.embedding import Embedding
from windlass.scale.view import ScaleView

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: Sums of fractions are this much off a whole number by rounding.
ROUNDING = 1e-9


class Buckets:
    """The embedding for the types of a view, made once as long as the types stay the same."""

    __slots__ = ("_embedding", "_types")

    def __init__(self) -> None:
        self._types: tuple[InstanceType, ...] = ()
        self._embedding: Embedding | None = None

    def of(self, view: ScaleView) -> Embedding:
        """For this view."""
        if self._embedding is None or view.types is not self._types:
            self._embedding = Embedding([kind.vector() for kind in view.types])
            self._types = view.types
        return self._embedding


@dataclass(frozen=True, slots=True, eq=False)
class Need:
    """What a view shows of each type (k,).

    Parameters
    ----------
    now
        Instances that jobs need now, as fractions, those that wait included.
    waiting
        The part of it of jobs that wait.
    least
        How many instances on-demand scaling would have: those that hold jobs, and those that waiting jobs need.
    spread
        How many more instances hold jobs than jobs of this type would need, packed as tightly as can be: above 0 where
        they are not, below where they have room beside jobs of larger types.
    """

    now: _Floats
    waiting: _Floats
    least: _Ints
    spread: _Ints


def needed(view: ScaleView, buckets: Buckets) -> Need:
    """What is needed now, by the last row of the history and by who waits."""
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
    """(k,) how many waiting jobs need more than half of an instance of their type: no two of them share one."""
    asked = view.waiting.resources
    kinds = embedding.assign(asked)
    fits = kinds >= 0
    large = (2.0 * asked > embedding.buckets[kinds]).any(axis=1) & fits
    alone = np.bincount(kinds[large], minlength=len(embedding.buckets))
    for each in embedding.virtual(asked) if not fits.all() else ():
        alone[each.bucket] += each.size
    return alone


def whole(counts: _Floats) -> _Ints:
    """Rounded up."""
    return np.ceil(counts - ROUNDING).astype(np.int64)


def ahead(view: ScaleView) -> _Ints:
    """(k,) how many rows from now an instance is ready that is launched now, at least 1."""
    launch = np.array([kind.launch for kind in view.types])
    return np.maximum(whole(launch / view.period), 1)


def peak(rows: _Floats, until: _Ints) -> _Floats:
    """(k,) the largest of each column's first rows, of which ``until`` says how many.

    >>> peak(np.array([[1.0, 1.0], [9.0, 2.0]]), np.array([1, 2])).tolist()
    [1.0, 2.0]
    """
    return np.asarray(np.where(np.arange(len(rows))[:, None] < until, rows, -np.inf).max(axis=0))


def most(view: ScaleView) -> _Ints:
    """(k,) how many of each type there may be."""
    return np.array([kind.most for kind in view.types], dtype=np.int64)
