"""Metrics of streaming queries."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from windlass.results import HIGHER, LOWER
from windlass.sim.queries.result import Streamed

_HOUR, _GIGA = 3600.0, 1e9


@dataclass(frozen=True, slots=True)
class VideoMetrics:
    """Metrics of streaming queries.

    Parameters
    ----------
    queries
        Number of queries.
    accuracy
        Mean accuracy over all seconds of all queries; lost frames count as 0.
    changes
        Number of times that a query changed or lost its configuration, after its first one.
    lost_frames
        Frames without a result: while components started or did not run, and frames that a full queue dropped.
    late_frames
        Frames whose result was late.
    frames
        Number of all frames.
    core_hours
        Core-hours that queries held.
    sent_gb
        Data sent up by all clusters, counted at each hop, GB (10⁹ bytes).
    answers
        Number of answers of the planner.
    """

    queries: int
    accuracy: float = field(metadata=HIGHER)
    changes: int = field(metadata=LOWER)
    lost_frames: int = field(metadata=LOWER)
    late_frames: int = field(metadata=LOWER)
    frames: int
    core_hours: float
    sent_gb: float
    answers: int


def video_metrics(done: Streamed, frames: float) -> VideoMetrics:
    """Return the metrics of a finished run.

    Parameters
    ----------
    done
        Results of the run.
    frames
        Frames per second of each stream.

    Examples
    --------
    >>> from windlass.sim.queries.result import StreamTimeline, Streamed
    >>> from windlass.sim.queries.setup import Stays
    >>> column, none = np.array([8.0]), np.zeros(1)
    >>> course = StreamTimeline(np.array([0.0, 3600.0]), np.ones(1, int), column, np.array([[2.0]]), np.array([[1e6]]))
    >>> done = Streamed(
    ...     Stays(none, np.array([10.0])), column, np.array([9.0]), none, np.ones(1), none, np.ones(1, int), (), course)
    >>> found = video_metrics(done, 30.0)
    >>> found.accuracy, found.lost_frames, found.core_hours, found.sent_gb
    (0.8, 30, 2.0, 3.6)
    """
    length, seconds = float((done.stays.leave - done.stays.arrive).sum()), done.course.seconds
    return VideoMetrics(
        queries=len(done.stays),
        accuracy=float(done.accurate.sum()) / length if length > 0 else np.nan,
        changes=int(done.switches.sum()),
        lost_frames=round(float(done.lost.sum()) * frames),
        late_frames=round(float(done.late.sum()) * frames),
        frames=round(length * frames),
        core_hours=float(seconds @ done.course.held.sum(axis=1)) / _HOUR,
        sent_gb=float(seconds @ done.course.sent.sum(axis=1)) / _GIGA,
        answers=len(done.answers),
    )
