"""What to do while the first of a queue does not fit: nothing, or one of the ways of backfilling.

Each is a policy for a queue in the order in which it came; here it is given the queue in another order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from windlass.jit import Kernel, allocating, lean
from windlass.order.site.compiled import SELECT, CompiledPolicy, select_of
from windlass.order.site.lib.in_order import by_score, in_order, put_back
from windlass.order.site.lib.reservations import start_reserved, start_reserved_of_all
from windlass.order.site.policies.conservative import Conservative
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.fcfs import Fcfs

#: The policy that stands behind each way of backfilling.
BACKFILLS: dict[str, type[CompiledPolicy]] = {"none": Fcfs, "easy": Easy, "conservative": Conservative}


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


def _served(backfill: str, pools: bool) -> Any:
    if backfill == "conservative":
        return _reserves_of_all if pools else _reserves
    return _fits(select_of(BACKFILLS[backfill], pools))


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
    serve = _served(backfill, pools)

    def select(view, chosen, why):
        scores = np.empty(len(view.queue))
        for position in range(len(view.queue)):
            scores[position] = scored(view, view.queue[position])
        places = by_score(scores)
        count = serve(view, scores, places, chosen, why)
        put_back(places, chosen, count)
        return count

    return Kernel(select, SELECT)
