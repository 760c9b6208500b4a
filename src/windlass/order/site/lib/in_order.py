"""A queue in an order of its own: what backfills the queue as it came backfills this one."""

import numpy as np

from windlass.jit import allocating
from windlass.order.site.compiled import CompiledView


@allocating
def in_order(view, places, refused):
    """The same site with its queue in another order, and so many of the first refused before.

    ``places`` are (q,) the positions of the queue, in that order.
    """
    return CompiledView(
        view.now,
        view.free,
        view.owed,
        refused,
        view.queue[places],
        view.running,
        view.submit,
        view.procs,
        view.request,
        view.expected_end,
        view.note,
        view.processors,
        view.owner,
        view.used,
        view.given,
        view.pools,
        view.needs,
    )


@allocating
def put_back(places, chosen, count):
    """Chosen positions of the ordered queue become positions of the queue as it came."""
    for pick in range(count):
        chosen[pick] = places[chosen[pick]]


@allocating
def by_score(scores):
    """Positions by score, the least first; those of one score as they came."""
    return np.argsort(scores, kind="mergesort")
