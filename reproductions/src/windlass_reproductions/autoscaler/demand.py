"""The demand of concurrent jobs over time, in instances of each type."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.io.traces.series import amounts_held
from windlass.model import InputError
from windlass.scale import Embedding

_Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class JobDemands:
    """Jobs with the resources that they hold from their begin to their end.

    Parameters
    ----------
    resources
        (n, 3) GPUs, cores and bytes of memory of each job.
    begin, end
        (n,) begin and end of each job, s.
    """

    resources: _Floats
    begin: _Floats
    end: _Floats

    def __post_init__(self) -> None:
        if not len(self.resources) == len(self.begin) == len(self.end):
            lengths = f"{len(self.resources)}, {len(self.begin)} and {len(self.end)}"
            raise InputError(f"jobs: expected columns of one length, got {lengths}")

    def of(self, chosen: NDArray[np.bool_]) -> JobDemands:
        """Return the chosen jobs."""
        return JobDemands(self.resources[chosen], self.begin[chosen], self.end[chosen])

    def at(self, time: float) -> _Floats:
        """Return (m, 3) the resources of the jobs that run at an instant.

        >>> jobs = JobDemands(np.array([[1.0, 4.0, 0.0], [0.0, 2.0, 0.0]]), np.array([0.0, 5.0]), np.array([5.0, 9.0]))
        >>> jobs.at(5.0).tolist()
        [[0.0, 2.0, 0.0]]
        """
        chosen: _Floats = self.resources[(self.begin <= time) & (time < self.end)]
        return chosen


def counts_over_time(
    jobs: JobDemands, embedding: Embedding, period: float, begin: float, until: float
) -> _Floats:
    """Return (t, k) the number of instances of each type that jobs need at the end of each period.

    The result equals :meth:`Embedding.counts` of the running jobs at each instant, but is computed from running sums.

    Parameters
    ----------
    jobs
        All jobs.
    embedding
        Embedding of the types by their dominant resource.
    period
        Seconds per row.
    begin, until
        Begin and end of the series, s.

    Examples
    --------
    >>> jobs = JobDemands(np.array([[0.0, 1.0], [0.0, 2.0]]), np.array([0.0, 5.0]), np.array([25.0, 15.0]))
    >>> counts_over_time(jobs, Embedding([[0.0, 2.0]]), 10.0, 0.0, 30.0).ravel().tolist()
    [1.5, 0.5, 0.0]
    """
    place = embedding.assign(jobs.resources)
    rows = []
    for bucket, has in enumerate(embedding.buckets):
        own = jobs.of(place == bucket)
        parts = [
            _amounts(own, own.resources[:, resource] / has[resource], period, begin, until)
            for resource in np.flatnonzero(has > 0)
        ]
        rows.append(np.max(parts, axis=0))
    counts = np.stack(rows, axis=1)
    larger = jobs.of(place < 0)
    sizes = np.zeros((len(embedding.buckets), len(larger.begin)))
    for each in embedding.virtual(larger.resources):
        sizes[each.bucket, each.vector] = each.size
    for bucket, amounts in enumerate(sizes):
        counts[:, bucket] += _amounts(larger, amounts, period, begin, until)
    # Rounding of running sums can yield values slightly below 0.
    return np.asarray(np.maximum(counts, 0.0))


def _amounts(jobs: JobDemands, amounts: _Floats, period: float, begin: float, until: float) -> _Floats:
    if not len(amounts):
        return np.zeros(int(np.floor((until - begin) / period)))
    return amounts_held(jobs.begin - begin, jobs.end - begin, amounts, period, until - begin)
