"""New jobs before the next decision: the probability that spare instances let some of them run, and how many.

The count of a level assumes that the jobs that need the fewest instances come first: the first instance lets
a job of one run, and the second to fourth together let a job of three run.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from windlass.scale.embedding import Embedding
from windlass.scale.lib.odds import Odds
from windlass.scale.view import ScaleView

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: Levels: numbers of spare instances to choose from.
LEVELS = np.array([1, 2, 3, 4, 6, 8, 12, 16, 32, 64])
#: How many instances each level adds to the one before.
WIDTHS = np.diff(LEVELS, prepend=0)
#: Minimum number of rows before a plan uses what was learned, and rows of the history that are read at the start.
#: Older rows would have a negligible weight.
_ENOUGH, _RECALLED = 144, 14_400
#: Rate at which the average number of jobs served by a level follows new rows.
_SLOWLY = 0.02
_ROUNDING = 1e-9


class ArrivalLearner:
    """Learns the arrivals of jobs, decision by decision; k types, s levels.

    It starts from the history, so a restart does not lose what was learned: a rise of the demand from one row
    to the next counts as one job of that size. It starts over when time goes backwards or the types change.
    """

    def __init__(self) -> None:
        self._odds: Odds | None = None
        self._last = -np.inf
        self._least: _Ints = np.empty(0, np.int64)
        self._waited: _Floats = np.empty((0, 3))
        self._served: _Floats = np.empty((0, 0))

    @property
    def served(self) -> _Floats:
        """(k, s) number of jobs that a level lets run when it lets any run, a moving average."""
        return self._served

    def follow(self, view: ScaleView, least: _Ints, embedding: Embedding) -> _Floats | None:
        """Learn from the jobs that arrived, and predict the next arrivals.

        Parameters
        ----------
        view
            The view of a decision.
        least
            (k,) number of instances that on-demand scaling would have.
        embedding
            The embedding for the view's types.

        Returns
        -------
        numpy.ndarray or None
            (k, s) probability that a level lets a job run that arrives before the next decision; None if too
            few rows were learned.
        """
        odds, since = self._learner(view)
        jobs, served = self._arrived(view, least, since, embedding)
        self._learn(odds, view.now, jobs, served)
        return odds.chances() if odds.rows >= _ENOUGH else None

    def _learner(self, view: ScaleView) -> tuple[Odds, float]:
        """Return the current learner, or a new one if time or types changed, and the time of its last row, s."""
        kinds, since = len(view.types), self._last
        if self._odds is None or view.now <= self._last or kinds != len(self._least):
            self._odds, since = Odds(kinds, len(LEVELS), view.period), view.now
            self._least, self._waited = view.used.copy(), view.waiting.resources[:0]
            self._served = np.ones((kinds, len(LEVELS)))
            self._recall(view, self._odds)
        self._last = view.now
        return self._odds, since

    def _recall(self, view: ScaleView, odds: Odds) -> None:
        """Learn from the rows before now."""
        counts = np.ceil(view.history[-_RECALLED - 1 :] - _ROUNDING)
        rises = np.maximum(np.diff(counts, axis=0), 0.0)[:-1]
        for back, rise in zip(range(len(rises), 0, -1), rises, strict=True):
            enough = (rise[:, None] > 0.0) & (rise[:, None] <= LEVELS)
            served = np.diff(enough.astype(np.float64), axis=1, prepend=0.0)
            self._learn(odds, view.now - back * view.period, (rise > 0.0).astype(np.float64), served)

    def _learn(self, odds: Odds, now: float, jobs: _Floats, served: _Floats) -> None:
        """Learn one row: (k,) the number of new jobs, and (k, s) how many of them each level serves."""
        served_any = served > 0.0
        self._served += np.where(served_any, _SLOWLY * (served - self._served), 0.0)
        odds.observe(now, jobs, served_any)

    def _arrived(
        self, view: ScaleView, least: _Ints, since: float, embedding: Embedding
    ) -> tuple[_Floats, _Floats]:
        """Return (k,) the jobs that arrived since the last row, and (k, s) how many of them each level would serve."""
        before, self._waited = self._waited, view.waiting.resources
        grown, self._least = least - self._least, least
        kinds, sizes = _new_jobs(view, since, before, embedding)
        jobs = np.bincount(kinds[kinds >= 0], minlength=len(least)).astype(np.float64)
        served = np.zeros((len(least), len(LEVELS)))
        for kind in np.flatnonzero(jobs).tolist():
            needs = sizes[kinds == kind]
            large = needs[needs >= 1.0 - _ROUNDING]
            # Jobs that share instances need as many new ones as the demand grew by, less those for large
            # jobs.
            shared = max(0, int(grown[kind] - np.ceil(large).sum())) if len(large) < len(needs) else 0
            filled = np.cumsum(np.sort(np.concatenate((np.ones(shared), large))))
            run = np.searchsorted(filled, LEVELS + _ROUNDING, side="right")
            served[kind] = np.diff(run, prepend=0)
        return jobs, served


def _new_jobs(view: ScaleView, since: float, before: _Floats, embedding: Embedding) -> tuple[_Ints, _Floats]:
    """Return (n,) the type of each job that arrived since the last row, and how many instances of it the job needs."""
    started = view.running.resources[view.running.since > since]
    vectors = np.concatenate((started, view.waiting.resources, before))
    if not len(vectors):
        return np.empty(0, np.int64), np.empty(0)
    found, place = np.unique(vectors, axis=0, return_inverse=True)
    # A job that started after waiting is not new.
    signs = np.repeat([1.0, 1.0, -1.0], [len(started), len(view.waiting), len(before)])
    number = np.maximum(np.bincount(place.ravel(), signs, len(found)), 0.0).astype(np.int64)
    kinds = embedding.assign(found)
    capacity = embedding.buckets[kinds]
    sizes = np.divide(found, capacity, out=np.zeros(found.shape), where=capacity > 0).max(axis=1)
    for each in embedding.virtual(found) if (kinds < 0).any() else ():
        kinds[each.vector], sizes[each.vector] = each.bucket, float(each.size)
    return np.repeat(kinds, number), np.repeat(sizes, number)
