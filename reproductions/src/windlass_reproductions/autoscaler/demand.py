"""What jobs that run at the same time need: how many instances of each type, as it goes on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces.series import amounts_held
from windlass.model import InputError
from windlass.scale import Embedding

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """Jobs that hold what they asked for.

    Parameters
    ----------
    resources
        (n, 3) GPUs, cores, bytes of memory.
    begin, end
        (n,) s.
    """

    resources: _Floats
    begin: _Floats
    end: _Floats

    def __post_init__(self) -> None:
        if not len(self.resources) == len(self.begin) == len(self.end):
            raise InputError("jobs: expected columns of one length")

    def of(self, chosen: NDArray[np.bool_]) -> Held:
        """Some of them."""
        return Held(self.resources[chosen], self.begin[chosen], self.end[chosen])

    def at(self, time: float) -> _Floats:
        """(m, 3) what those asked for that run at an instant.

        >>> jobs = Held(np.array([[1.0, 4.0, 0.0], [0.0, 2.0, 0.0]]), np.array([0.0, 5.0]), np.array([5.0, 9.0]))
        >>> jobs.at(5.0).tolist()
        [[0.0, 2.0, 0.0]]
        """
        chosen: _Floats = self.resources[(self.begin <= time) & (time < self.end)]
        return chosen


def counts_over_time(jobs: Held, embedding: Embedding, period: float, begin: float, until: float) -> _Floats:
    """(t, k) how many instances of each type jobs need at the end of each period, as the embedding counts.

    The same as :meth:`Embedding.counts` of what runs at each instant, from sums that only what begins and ends moves.

    Parameters
    ----------
    jobs
        All.
    embedding
        Of the types, by their dominant resource.
    period
        Seconds a row.
    begin, until
        From which instant to which, s.

    Examples
    --------
    >>> jobs = Held(np.array([[0.0, 1.0], [0.0, 2.0]]), np.array([0.0, 5.0]), np.array([25.0, 15.0]))
    >>> counts_over_time(jobs, Embedding([[0.0, 2.0]]), 10.0, 0.0, 30.0).ravel().tolist()
    [1.5, 0.5, 0.0]
    """
    place = embedding.assign(jobs.resources)
    rows = []
    for bucket, has in enumerate(embedding.buckets):
        own = jobs.of(place == bucket)
        parts = [
            _course(own, own.resources[:, resource] / has[resource], period, begin, until)
            for resource in np.flatnonzero(has > 0)
        ]
        rows.append(np.max(parts, axis=0))
    counts = np.stack(rows, axis=1)
    larger = jobs.of(place < 0)
    sizes = np.zeros((len(embedding.buckets), len(larger.begin)))
    for each in embedding.virtual(larger.resources):
        sizes[each.bucket, each.vector] = each.size
    for bucket, amounts in enumerate(sizes):
        counts[:, bucket] += _course(larger, amounts, period, begin, until)
    # Sums that go up and down again may end a rounding below 0.
    return np.asarray(np.maximum(counts, 0.0))


def _course(jobs: Held, amounts: _Floats, period: float, begin: float, until: float) -> _Floats:
    if not len(amounts):
        return np.zeros(int(np.floor((until - begin) / period)))
    return amounts_held(jobs.begin - begin, jobs.end - begin, amounts, period, until - begin)
