"""What happened to queries, and what the planner answered."""

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
        When it was asked and answered, s.
    query
        (q,) rows of the queries that were there.
    choice
        (q,) the configuration of each from then on, −1 for none.
    before
        (q,) that of before, −1 for none.
    why
        (q,) the planner's reasons.
    merged
        Whether equal pieces are done once.
    """

    time: float
    query: _Ints
    choice: _Ints
    before: _Ints
    why: tuple[str, ...]
    merged: bool


@dataclass(frozen=True, slots=True, eq=False)
class StreamTimeline:
    """The run over time, in m stretches in which nothing changes.

    Parameters
    ----------
    time
        (m + 1,) where they begin, and the end of the last, s.
    there
        (m,) how many queries.
    results
        (m,) accuracy a second of what comes out, summed over queries: at most one for each but for those that catch
        up.
    held
        (m, clusters) cores that queries hold.
    sent
        (m, clusters) what goes up from each cluster, bytes/s.
    """

    time: _Floats
    there: _Ints
    results: _Floats
    held: _Floats
    sent: _Floats

    @property
    def seconds(self) -> _Floats:
        """(m,) how long each is."""
        return np.diff(self.time)


@dataclass(frozen=True, slots=True, eq=False)
class Streamed:
    """A finished run of n queries; columns are in seconds of stream.

    Parameters
    ----------
    stays
        When each was there.
    accurate
        (n,) accuracy over time: that of each result, 0 of what was lost.
    served, late, lost
        (n,) of the stream: with results, of these too late, and without.
    silent
        (n,) for how long its components did not work, s.
    switches
        (n,) how often it was given another configuration, or none, after its first one.
    answers
        In order.
    course
        The run over time.
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
