"""Spare instances for as long as somebody is likely enough to come: what each spare one is worth, in hours."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.model.values import number
from windlass.scale.embedding import Embedding
from windlass.scale.lib.looks import look_after
from windlass.scale.lib.need import Buckets, most, needed
from windlass.scale.lib.odds import Odds
from windlass.scale.view import ScaleView, Totals

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int64]

#: Numbers of spare instances that are chosen from.
LEVELS = np.array([1, 2, 3, 4, 6, 8, 12, 16, 32, 64])
_WIDTHS = np.diff(LEVELS, prepend=0)
#: Rows that have to be learned from before the plan relies on it, and rows of a history that are learned from: what is
#: older is forgotten nearly as far.
_ENOUGH, _RECALLED = 144, 14_400
#: How fast it is followed how many jobs the instances of a level let run.
_SLOWLY = 0.02
_ROUNDING = 1e-9


class Hazard:
    """As many spare instances as are worth their rent, by the chance that somebody comes who needs them.

    A spare instance costs its rent until the next decision, or nothing where somebody comes who needs it: then it would
    have been launched anyway. Without it, whoever comes waits until that is seen and for a launch, and an hour of
    waiting of one job is worth ``worth`` instance-hours. How likely it is that somebody comes is learned, for the first
    spare instance, the second, and so on: by the hour, the day of the week, and how many came lately. The gains of one
    after the other are added up, and the number at which their sum is highest is had.

    Whoever needs least comes first: one instance lets a job of one run, and the second to fourth let one of three run.
    So instances that only large jobs would need, which come rarely, are let go at once, and the first few are kept for
    as long as the hours are busy. An autoscaler that waits the same time for every instance that is empty does neither.

    It begins with what the history tells, so that it is not blind after a restart: a rise of the need from one row to
    the next is taken for one job of that size.

    Parameters
    ----------
    worth
        Instance-hours that an hour of waiting of one job is worth. With 0 there is no spare one; the larger, the less
        is waited and the more is paid.

    Raises
    ------
    InputError
        ``worth`` is negative or not finite.

    Examples
    --------
    Two levels, of one spare instance and of the second; a period is 300 s, whoever comes waits for 450 s, and jobs of
    one come as often as not:

    >>> policy, chances = Hazard(worth=1.0), np.full((1, 10), 0.0)
    >>> chances[0, 0] = 0.5
    >>> policy.gains(chances, np.array([450.0]), 300.0, np.ones((1, 10)))[0, :2].tolist()
    [75.0, -300.0]
    """

    name: ClassVar[str] = "hazard"
    #: What it wants gone may go at once: it asks for what should stay.
    idle = 0.0

    def __init__(self, worth: float = 30.0) -> None:
        self._worth = number("worth", worth, 0.0)
        self._buckets = Buckets()
        self._odds: Odds | None = None
        self._last = -np.inf
        self._least: _Ints = np.empty(0, np.int64)
        self._spare: _Ints = np.zeros(1, np.int64)
        self._waited: _Floats = np.empty((0, 3))
        self._served: _Floats = np.empty((0, 0))

    def gains(self, chances: _Floats, late: _Floats, period: float, served: _Floats) -> _Floats:
        """(k, s) seconds of an instance that are won by the spare ones of each level.

        Parameters
        ----------
        chances
            (k, s) that they let somebody run who comes before the next decision.
        late
            (k,) how long whoever comes waits without them, s.
        period
            From one decision to the next, s.
        served
            (k, s) how many they let run then.
        """
        return np.asarray(chances * served * self._worth * late[:, None] - (1.0 - chances) * period * _WIDTHS)

    def decide(self, view: ScaleView) -> Totals:
        """Who is there and waits, and whom it is worth having besides."""
        need = needed(view, self._buckets)
        if not view.due:
            return look_after(view, need, need.least + self._spare)
        odds, since = self._learner(view)
        jobs, served = self._came(view, need.least, since)
        self._learn(odds, view.now, jobs, served)
        self._spare = np.zeros(len(view.types), np.int64)
        if odds.rows < _ENOUGH:
            counts = np.minimum(np.maximum(need.least, view.used + view.coming), most(view))
            return Totals(tuple(counts.tolist()), ("too little was learned so far",) * len(counts))
        chances = odds.chances()
        # Whoever comes is seen at the next look or decision, half of one from then on average.
        late = np.array([kind.launch for kind in view.types]) + 0.5 * view.notice()
        won = np.cumsum(self.gains(chances, late, view.period, self._served), axis=1)
        spare = self._spare = np.where(won.max(axis=1) > 0.0, LEVELS[won.argmax(axis=1)], 0)
        counts = np.minimum(need.least + spare, most(view))
        why = (
            f"{extra} spare ones are worth it: one lets a job run within {view.period:g} s with chance {chance:.2f}"
            for extra, chance in zip(spare.tolist(), chances[:, 0].tolist(), strict=True)
        )
        return Totals(tuple(counts.tolist()), tuple(why))

    def _learner(self, view: ScaleView) -> tuple[Odds, float]:
        """The one there is, or a new one where time or types are others; and when it was told last, s."""
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
        """From one row: (k,) how many jobs came, and (k, s) how many of them the spare ones of each level serve."""
        there = served > 0.0
        self._served += np.where(there, _SLOWLY * (served - self._served), 0.0)
        odds.tell(now, jobs, there)

    def _came(self, view: ScaleView, least: _Ints, since: float) -> tuple[_Floats, _Floats]:
        """(k,) how many jobs came since the last row, and (k, s) how many the spare ones of each level would serve."""
        before, self._waited = self._waited, view.waiting.resources
        grown, self._least = least - self._least, least
        kinds, sizes = _newcomers(view, since, before, self._buckets.of(view))
        jobs = np.bincount(kinds[kinds >= 0], minlength=len(least)).astype(np.float64)
        served = np.zeros((len(least), len(LEVELS)))
        for kind in np.flatnonzero(jobs).tolist():
            asked = sizes[kinds == kind]
            large = asked[asked >= 1.0 - _ROUNDING]
            # Those that share instances need as many new ones as there are more of, less what large jobs took.
            shared = max(0, int(grown[kind] - np.ceil(large).sum())) if len(large) < len(asked) else 0
            filled = np.cumsum(np.sort(np.concatenate((np.ones(shared), large))))
            run = np.searchsorted(filled, LEVELS + _ROUNDING, side="right")
            served[kind] = np.diff(run, prepend=0)
        return jobs, served


def _newcomers(view: ScaleView, since: float, before: _Floats, embedding: Embedding) -> tuple[_Ints, _Floats]:
    """(n,) in which type each job counts that came since the last row, and how many instances of it it needs."""
    started = view.running.resources[view.running.since > since]
    vectors = np.concatenate((started, view.waiting.resources, before))
    if not len(vectors):
        return np.empty(0, np.int64), np.empty(0)
    found, place = np.unique(vectors, axis=0, return_inverse=True)
    # Who started after waiting is not new.
    signs = np.repeat([1.0, 1.0, -1.0], [len(started), len(view.waiting), len(before)])
    number = np.maximum(np.bincount(place.ravel(), signs, len(found)), 0.0).astype(np.int64)
    kinds = embedding.assign(found)
    capacity = embedding.buckets[kinds]
    sizes = np.divide(found, capacity, out=np.zeros(found.shape), where=capacity > 0).max(axis=1)
    for each in embedding.virtual(found) if (kinds < 0).any() else ():
        kinds[each.vector], sizes[each.vector] = each.bucket, float(each.size)
    return np.repeat(kinds, number), np.repeat(sizes, number)
