"""What to do while the first of a queue does not fit: nothing, or one of the ways of backfilling.

Each is a policy for a queue in the order in which it came; here it is given the queue in another order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from windlass.jit import Kernel, allocating, lean
from windlass.order.site.compiled import SELECT, CompiledPolicy, select_of
from windlass.order.site.lib.in_order import by_score, in_order, put_back
from windlass.order.site.lib.reservations import start_reserved, start_reserved_of_all
from windlass.order.site.policies.conservative import Conservative
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.fcfs import Fcfs


def _fits(kernel: Kernel) -> Any:
    """Serve the queue in order as a policy's function does that looks at nothing but the order."""
    select = allocating(kernel.python)

    @allocating
    def serve(view, scores, places, chosen, why):
        # Who was refused before may stand behind others by now.
        return select(in_order(view, places, 0), chosen, why)

    return serve


@allocating
def _reserves(view, scores, places, chosen, why):
    """Serve the queue by reservations, which move in the order of scores."""
    return start_reserved(in_order(view, places, view.refused), scores[places], chosen, why)


@allocating
def _reserves_of_all(view, scores, places, chosen, why):
    """The same where jobs wait for more than processors."""
    return start_reserved_of_all(in_order(view, places, view.refused), scores[places], chosen, why)


@dataclass(frozen=True, slots=True)
class Backfill:
    """A way of backfilling.

    Parameters
    ----------
    policy
        The policy that it is for a queue in the order of submission.
    by_reservation
        Compiled functions that serve a queue in another order by reservations, for jobs that wait for processors
        alone, and for more; None where the policy's own functions serve any order, as they keep nothing of a job.
    """

    policy: type[CompiledPolicy]
    by_reservation: tuple[Any, Any] | None = None

    def served(self, pools: bool) -> Any:
        """Return the compiled function that serves a queue in another order.

        Parameters
        ----------
        pools
            Whether jobs wait for more than processors.
        """
        if self.by_reservation is None:
            return _fits(select_of(self.policy, pools))
        return self.by_reservation[pools]


BACKFILLS = {
    "none": Backfill(Fcfs),
    "easy": Backfill(Easy),
    "conservative": Backfill(Conservative, (_reserves, _reserves_of_all)),
}


@functools.cache
def queue_kernel(score: Callable[..., Any], backfill: str, pools: bool = False) -> Kernel:
    """The compiled function of a queue in the order of a score, with a way of backfilling.

    Parameters
    ----------
    score
        A number for a row of a :class:`~windlass.order.site.compiled.CompiledView`; the least goes first. It is
        compiled, so it is one plain function of the view and the row.
    backfill
        One of ``BACKFILLS``.
    pools
        Whether jobs wait for more than processors.

    Examples
    --------
    >>> from windlass.order.site.priorities.sjf import Sjf
    >>> callable(queue_kernel(Sjf.score, "easy").ready())
    True
    """
    scored = lean(score)
    serve = BACKFILLS[backfill].served(pools)

    def select(view, chosen, why):
        scores = np.empty(len(view.queue))
        for position in range(len(view.queue)):
            scores[position] = scored(view, view.queue[position])
        places = by_score(scores)
        count = serve(view, scores, places, chosen, why)
        put_back(places, chosen, count)
        return count

    return Kernel(select, SELECT)
