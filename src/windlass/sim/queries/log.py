"""The log of a run with queries: intervals in which nothing changes, and answers of the planner."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.plan.view import Plan
from windlass.sim.queries.result import PlannerAnswer, StreamTimeline

_Floats = NDArray[np.float64]


class StreamLog:
    """Intervals of a timeline, and answers.

    Parameters
    ----------
    clusters
        Number of clusters.

    Examples
    --------
    >>> log = StreamLog(1)
    >>> log.now(1, 0.5, np.array([2.0]), np.zeros(1))
    >>> log.went(0.0, 10.0)
    >>> log.went(10.0, 15.0)
    >>> log.now(1, 0.9, np.array([2.0]), np.zeros(1))
    >>> log.went(15.0, 20.0)
    >>> course = log.course()
    >>> course.time.tolist(), course.results.tolist()
    ([0.0, 15.0, 20.0], [0.5, 0.9])
    """

    def __init__(self, clusters: int) -> None:
        nothing = np.zeros(clusters)
        self._clusters = clusters
        self._state: tuple[int, float, _Floats, _Floats] = (0, 0.0, nothing, nothing)
        self._open = False
        self._begin: list[float] = []
        self._end = 0.0
        self._there: list[int] = []
        self._results: list[float] = []
        self._held: list[_Floats] = []
        self._sent: list[_Floats] = []
        self._answers: list[PlannerAnswer] = []

    def now(self, there: int, results: float, held: _Floats, sent: _Floats) -> None:
        """Set the state from now on: number of queries, accuracy per second, and (clusters,) cores and bytes/s."""
        self._state, self._open = (there, results, held, sent), False

    def went(self, since: float, until: float) -> None:
        """Log an interval with the current state, s."""
        if not self._open:
            there, results, held, sent = self._state
            self._begin.append(since)
            self._there.append(there)
            self._results.append(results)
            self._held.append(held)
            self._sent.append(sent)
            self._open = True
        self._end = until

    def log_answer(
        self, now: float, query: NDArray[np.int64], before: NDArray[np.int64], answer: Plan
    ) -> None:
        """Log an answer of the planner."""
        choice = np.array(answer.choices, np.int64)
        self._answers.append(PlannerAnswer(now, query, choice, before, answer.why, answer.merged))

    def answers(self) -> tuple[PlannerAnswer, ...]:
        """Return all answers."""
        return tuple(self._answers)

    def course(self) -> StreamTimeline:
        """Return the timeline."""
        count = len(self._begin)
        return StreamTimeline(
            np.array([*self._begin, self._end]),
            np.array(self._there, np.int64),
            np.array(self._results),
            np.array(self._held).reshape(count, self._clusters),
            np.array(self._sent).reshape(count, self._clusters),
        )
