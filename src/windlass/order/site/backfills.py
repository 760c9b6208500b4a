"""What to do while the first of a queue does not fit: nothing, or one of the ways of backfilling.

Each is a policy for a queue in the order in which it came; here it is given the queue in another order.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from windlass.compiled import Kernel, allocating, lean
from windlass.order.site.compiled import SELECT, CompiledPolicy
from windlass.order.site.lib.in_order import by_score, in_order, put_back
from windlass.order.site.lib.reservations import start_reserved
from windlass.order.site.policies.conservative import Conservative
from windlass.order.site.policies.easy import Easy
from windlass.order.site.policies.fcfs import Fcfs

#: The policy that stands behind each way of backfilling.
BACKFILLS: dict[str, type[CompiledPolicy]] = {"none": Fcfs, "easy": Easy, "conservative": Conservative}


def _fits(policy: type[CompiledPolicy]) -> Any:
    """Serve the queue in order as a policy does that looks at nothing but the order."""
    select = allocating(policy.select.python)

    @allocating
    def serve(view, scores, places, chosen, why):
        # Who was refused before may stand behind others by now.
        return select(in_order(view, places, 0), chosen, why)

    return serve


@allocating
def _reserves(view, scores, places, chosen, why):
    """Serve the queue by reservations, which move in the order of scores."""
    return start_reserved(in_order(view, places, view.refused), scores[places], chosen, why)


@functools.cache
def queue_kernel(score: Callable[..., Any], backfill: str) -> Kernel:
    """The compiled function of a queue in the order of a score, with a way of backfilling.

    Parameters
    ----------
    score
        A number for a row of a :class:`~windlass.order.site.compiled.CompiledView`; the least goes first. It is
        compiled, so it is one plain function of the view and the row.
    backfill
        One of ``BACKFILLS``.

    Examples
    --------
    >>> from windlass.order.site.priorities.sjf import Sjf
    >>> callable(queue_kernel(Sjf.score, "easy").ready())
    True
    """
    scored = lean(score)
    serve = _reserves if backfill == "conservative" else _fits(BACKFILLS[backfill])

    def select(view, chosen, why):
        scores = np.empty(len(view.queue))
        for position in range(len(view.queue)):
            scores[position] = scored(view, view.queue[position])
        places = by_score(scores)
        count = serve(view, scores, places, chosen, why)
        put_back(places, chosen, count)
        return count

    return Kernel(select, SELECT)
