"""When the head of the queue can start at the latest: what EASY backfilling promises it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from windlass.order.site.view import SiteView


class Reservation(NamedTuple):
    """The head of the queue, when it can start, s, and how many processors it leaves over then."""

    job: int
    at: float
    spare: int


def reservation(view: SiteView) -> Reservation | None:
    """When the first of those who wait can start, if all who run do so for as long as they asked to.

    Parameters
    ----------
    view
        The site, after the ordering policy has started whom it would.

    Returns
    -------
    Reservation | None
        Infinity and 0 for a job that is wider than what is left of the site; None where nobody waits. Of jobs that are
        expected to end at the same instant, the narrowest that suffice are counted, as
        :class:`~windlass.order.site.policies.easy.Easy` does.

    Source: Lifka, "The ANL/IBM SP scheduling system", JSSPP 1995.

    Examples
    --------
    >>> from windlass.order.site.view import Running, Waiting
    >>> waiting = Waiting.of(job=[7], submit=[0], procs=[3], request=[60])
    >>> running = Running.of(job=[1, 2], procs=[2, 2], expected_end=[90, 50])
    >>> reservation(SiteView(5.0, processors=4, free=0, waiting=waiting, running=running))
    Reservation(job=7, at=90.0, spare=1)
    """
    waiting, running = view.waiting, view.running
    if not len(waiting.job):
        return None
    job, need = int(waiting.job[0]), int(waiting.procs[0]) + view.owed
    if need <= view.free:
        return Reservation(job, view.now, view.free - need)
    free = view.free + np.cumsum(running.procs)
    last = int(np.searchsorted(free, need))
    if last == len(free):
        return Reservation(job, np.inf, 0)
    # A job that is past its expected end may end at any time, and not before now.
    return Reservation(job, max(view.now, float(running.expected_end[last])), int(free[last]) - need)
