"""Ways of backfilling behind the first job of a queue that does not fit, for any order of the queue.

Each is implemented by a policy for a queue in order of submission, applied here to a reordered queue.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from windlass.jit import Kernel, allocating, lean
from windlass.order.site.compiled import SELECT, CompiledPolicy, select_of
from windlass.order.site.lib.in_order import by_score, in_order, to_queue_positions
from windlass.order.site.lib.pools import heads_of_all
from windlass.order.site.lib.reservations import start_reserved, start_reserved_of_all
from windlass.order.site.policies.conservative import Conservative
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.fcfs import Fcfs


@functools.cache
def _fits(kernel: Kernel) -> Any:
    """Return a function that serves the reordered queue with a policy that depends on nothing but the order.

    It is the same function for all scores, so that a process compiles it once.
    """
    select = allocating(kernel.python)

    @allocating
    def serve(view, scores, places, chosen, why):
        # A job refused at the last decision may be at any position of the new order.
        return select(in_order(view, places, 0), chosen, why)

    return serve


def _fits_by(kernel: Kernel, score: Any) -> Any:
    """Return a function that serves the reordered queue, and tries jobs behind its head in the order of a second score.

    The policy starts jobs at the front while they fit, and then scans all others in the order of the queue. So it is
    enough to reorder what lies behind the first job that does not fit.
    """
    in_given_order = _fits(kernel)

    @allocating
    def serve(view, scores, places, chosen, why):
        head = heads_of_all(in_order(view, places, 0), chosen, why)
        behind = places[head + 1 :].copy()
        second = np.empty(len(behind))
        for position in range(len(behind)):
            second[position] = score(view, view.queue[behind[position]])
        places[head + 1 :] = behind[by_score(second)]
        return in_given_order(view, scores, places, chosen, why)

    return serve


@allocating
def _reserves(view, scores, places, chosen, why):
    """Serve the queue by reservations, which move forward in the order of scores."""
    return start_reserved(in_order(view, places, view.refused), scores[places], chosen, why)


@allocating
def _reserves_of_all(view, scores, places, chosen, why):
    """Do the same as :func:`_reserves` for jobs that request more than processors."""
    return start_reserved_of_all(in_order(view, places, view.refused), scores[places], chosen, why)


@dataclass(frozen=True, slots=True)
class Backfill:
    """A way of backfilling.

    Parameters
    ----------
    policy
        The policy that implements it for a queue in order of submission.
    by_reservation
        Compiled functions that serve a reordered queue by reservations: for jobs that request processors only, and for
        jobs that request other resources as well. None if the policy's own functions serve any order, because they
        keep no state per job.
    takes_order
        Whether the jobs behind the blocked head may have an order of their own.
    """

    policy: type[CompiledPolicy]
    by_reservation: tuple[Any, Any] | None = None
    takes_order: bool = False

    def served(self, pools: bool, order: Any | None = None) -> Any:
        """Return the compiled function that serves a reordered queue.

        Parameters
        ----------
        pools
            Whether jobs request more than processors.
        order
            Compiled score by which jobs are tried behind the blocked head; None for the order of the queue.
        """
        if self.by_reservation is not None:
            return self.by_reservation[pools]
        kernel = select_of(self.policy, pools)
        return _fits(kernel) if order is None else _fits_by(kernel, order)


BACKFILLS = {
    "none": Backfill(Fcfs),
    "easy": Backfill(Easy, takes_order=True),
    "conservative": Backfill(Conservative, (_reserves, _reserves_of_all)),
}


@functools.cache
def queue_kernel(
    score: Callable[..., Any], backfill: str, pools: bool = False, order: Callable[..., Any] | None = None
) -> Kernel:
    """Return the compiled function that orders a queue by a score and backfills.

    Parameters
    ----------
    score
        A function of a :class:`~windlass.order.site.compiled.CompiledView` and a row that returns a number; the
        lowest goes first. Numba compiles it.
    backfill
        One of ``BACKFILLS``.
    pools
        Whether jobs request more than processors.
    order
        A second score, by which jobs are tried behind the first one that does not fit; None for the order of the
        queue. Only for ways of backfilling that take one.

    Examples
    --------
    >>> from windlass.order.site.priorities.sjf import Sjf
    >>> callable(queue_kernel(Sjf.score, "easy").ready())
    True
    """
    scored = lean(score)
    serve = BACKFILLS[backfill].served(pools, None if order is None else lean(order))

    def select(view, chosen, why):
        scores = np.empty(len(view.queue))
        for position in range(len(view.queue)):
            scores[position] = scored(view, view.queue[position])
        places = by_score(scores)
        count = serve(view, scores, places, chosen, why)
        to_queue_positions(places, chosen, count)
        return count

    return Kernel(select, SELECT)
