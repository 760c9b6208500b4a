"""The result of a run with queries, and the planner's answers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.sim.queries.setup import Stays

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class PlannerAnswer:
    """One answer of the planner.

    Parameters
    ----------
    time
        Time of the call and of the answer, s.
    query
        (q,) rows of the queries that were present.
    choice
        (q,) new configuration of each query, −1 for none.
    before
        (q,) previous configuration of each query, −1 for none.
    why
        (q,) planner's reason for each query.
    merged
        Whether equal work of several queries is done once.
    """

    time: float
    query: _Ints
    choice: _Ints
    before: _Ints
    why: tuple[str, ...]
    merged: bool


@dataclass(frozen=True, slots=True, eq=False)
class StreamTimeline:
    """Timeline of a run, in m intervals in which nothing changes.

    Parameters
    ----------
    time
        (m + 1,) start of each interval, and end of the last one, s.
    there
        (m,) number of queries.
    results
        (m,) accuracy per second, summed over queries: at most 1 for each query that does not catch up.
    held
        (m, clusters) cores that queries hold.
    sent
        (m, clusters) traffic from each cluster to its parent, bytes/s.
    """

    time: _Floats
    there: _Ints
    results: _Floats
    held: _Floats
    sent: _Floats

    @property
    def seconds(self) -> _Floats:
        """Lengths of the intervals, (m,) s."""
        return np.diff(self.time)


@dataclass(frozen=True, slots=True, eq=False)
class Streamed:
    """Result of a finished run of n queries; amounts are seconds of stream.

    Parameters
    ----------
    stays
        Arrival and departure of each query.
    accurate
        (n,) integral of accuracy: the accuracy of each result, and 0 for lost frames.
    served, late, lost
        (n,) parts of the stream: with results, with late results, and without results.
    silent
        (n,) time for which the query's components did not run, s.
    switches
        (n,) number of changes to another configuration, or to none, after the first one.
    answers
        Answers of the planner, in order of time.
    course
        Timeline of the run.
    """

    stays: Stays
    accurate: _Floats
    served: _Floats
    late: _Floats
    lost: _Floats
    silent: _Floats
    switches: _Ints
    answers: tuple[PlannerAnswer, ...]
    course: StreamTimeline
