"""A queue with the limits of a site: hours that are closed to long jobs, and limits per user."""

from __future__ import annotations

import copy
import functools
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel, lean
from windlass.model import Owners
from windlass.order.site.backfills import BACKFILLS
from windlass.order.site.compiled import SELECT, decided, select_of
from windlass.order.site.lib.in_order import by_score, to_queue_positions
from windlass.order.site.lib.limits import FIRST, HOUR_S, INTERVALS, WEEK_H, admitted, with_numbers
from windlass.order.site.policies.queue import Queue
from windlass.order.site.view import SiteView, Start

_INTERVAL = re.compile(r"(\d+(?:\.\d+)?)-(\d+(?:\.\d+)?)")


class Limited:
    """A queue in which jobs wait for the limits of a site, and not only for processors.

    Many sites run long jobs only at night and on weekends, and limit what one user runs at once. A job that a limit
    holds back blocks no other job. Long jobs start in open hours, and only if their requests end before the next
    closed hours; a job that is longer than all open hours may start whenever they are open. With ``drain``, a job that
    would run beyond the opening starts only if all long jobs that wait for it can still start then. A site without
    running jobs starts its first job in any case. Limits are checked at submissions and ends of jobs, so that a job
    may start somewhat after the opening.

    Parameters
    ----------
    priority, backfill
        As in the policy ``queue``; ``none`` or ``easy``.
    jobs_per_user, procs_per_user
        Jobs and processors that a user may hold at once; a single job may be wider. Jobs without a user have no limit.
    long
        Requested time, s, above which a job is long.
    closed
        Intervals of the week in which no long job runs, in hours from time 0 of the log, as in ``"8-17 32-41"``.
    drain
        Whether the opening is kept free for waiting long jobs.

    Raises
    ------
    ValueError
        A number is out of bounds, ``closed`` is not a list of ascending intervals, or the way of backfilling makes
        reservations.

    Source: the queue limits of Maui and Slurm (MAXJOB, MAXPROC, MaxJobsPerUser); Lifka, "The ANL/IBM SP scheduling
    system", JSSPP 1995, for night and weekend hours.

    Examples
    --------
    >>> from windlass.order.site.view import Running, SiteView, Waiting
    >>> waiting = Waiting.of(job=[1, 2], submit=[0, 1], procs=[2, 2], request=[9000, 60])
    >>> policy = Limited(long=3600, closed="0-17")
    >>> policy.decide(SiteView(5.0, 4, 4, waiting, Running.of())).jobs
    (2,)
    """

    name: ClassVar[str] = "limited"

    def __init__(
        self,
        priority: str | Mapping[str, Any] = "fcfs",
        backfill: str | Mapping[str, Any] = "easy",
        jobs_per_user: float = math.inf,
        procs_per_user: float = math.inf,
        long: float = math.inf,
        closed: str = "",
        drain: bool = True,
    ) -> None:
        for name, value in (("jobs_per_user", jobs_per_user), ("procs_per_user", procs_per_user)):
            if not value >= 1:
                raise ValueError(f"{name} is {value}, expected a number of at least 1")
        if not long > 0:
            raise ValueError(f"long is {long} s, expected a time above 0")
        self._queue = Queue(priority, backfill)
        if BACKFILLS[self._queue.backfill].by_reservation is not None:
            raise ValueError(f"backfill is {self._queue.backfill!r}, expected none or easy")
        if self._queue.backfill_order is not None:
            raise ValueError("backfill has an order, expected none or easy without parameters")
        intervals = _intervals(closed)
        self._limits = np.array(
            [
                *(jobs_per_user, procs_per_user, long, drain, _longest(intervals), len(intervals)),
                *np.ravel(intervals).tolist(),
            ]
        )

    @property
    def given(self) -> NDArray[np.float64]:
        """The numbers of the limits, then those of the priority."""
        return np.concatenate((self._limits, self._queue.given))

    @property
    def limits_users(self) -> bool:
        """Whether one user may hold a limited number of jobs or processors."""
        return bool(np.isfinite(self._limits[:2]).any())

    @property
    def half_life(self) -> float | None:
        """Half-life of consumption for the priority, s; None if consumption does not matter."""
        return self._queue.half_life

    def placed(self, owners: Owners, queues: Sequence[str]) -> tuple[Limited, Owners]:
        """Return this policy prepared for the owners of a run's jobs, and the users renumbered."""
        found = copy.copy(self)
        found._queue, owners = self._queue.placed(owners, queues)
        return found, owners

    @property
    def select(self) -> Kernel:
        """The compiled function of this priority and way of backfilling."""
        return self._kernel(pools=False)

    @property
    def pooled(self) -> Kernel:
        """The compiled function for jobs that request more than processors."""
        return self._kernel(pools=True)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The reasons of the way of backfilling."""
        return self._queue.reasons

    def decide(self, view: SiteView) -> Start:
        """Return the jobs to start now, the reasons, and the notes to keep."""
        return decided(select_of(self, len(view.pools) > 0), self.reasons, view, self.given)

    def _kernel(self, pools: bool) -> Kernel:
        return _limited_kernel(self._queue.score, self._queue.backfill, pools)


@functools.cache
def _limited_kernel(score: Callable[..., Any], backfill: str, pools: bool) -> Kernel:
    """Return the compiled function that serves the admitted part of a queue in the order of a score."""
    scored, serve = lean(score), BACKFILLS[backfill].served(pools)

    def select(view, chosen, why):
        own = with_numbers(view, FIRST + 2 * int(view.given[INTERVALS]))
        scores = np.empty(len(own.queue))
        for position in range(len(own.queue)):
            scores[position] = scored(own, own.queue[position])
        places = admitted(view, by_score(scores))
        count = serve(own, scores, places, chosen, why)
        to_queue_positions(places, chosen, count)
        return count

    return Kernel(select, SELECT)


def _intervals(text: str) -> list[tuple[float, float]]:
    """Return the intervals of closed hours of the week."""
    found = []
    last = 0.0
    for part in text.split():
        match = _INTERVAL.fullmatch(part)
        begin, end = (float(match[1]), float(match[2])) if match else (math.nan, math.nan)
        if not last <= begin < end <= WEEK_H:
            raise ValueError(
                f"closed: {part!r} in {text!r}, expected ascending intervals of hours from 0 to {WEEK_H:g}, as in 8-17"
            )
        last = end
        found.append((begin, end))
    if found == [(0.0, WEEK_H)]:
        raise ValueError(f"closed is {text!r}, expected an hour of the week in which long jobs may run")
    if len(found) > 1 and found[0][0] == 0 and found[-1][1] == WEEK_H:
        # Hours that are closed over the end of the week are one interval.
        found = [*found[1:-1], (found[-1][0], WEEK_H + found[0][1])]
    return found


def _longest(closed: list[tuple[float, float]]) -> float:
    """Return the longest open hours, s; infinity if no hours are closed."""
    if not closed:
        return math.inf
    begins = [*(begin for begin, _ in closed[1:]), closed[0][0] + WEEK_H]
    return max(begin - end for (_, end), begin in zip(closed, begins, strict=True)) * HOUR_S
