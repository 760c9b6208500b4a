"""A view with a reordered queue, so that backfilling for the order of submission also serves other priorities."""

from windlass.jit import allocating
from windlass.order.site.compiled import CompiledView
from windlass.order.site.lib.sorting import sorted_places


@allocating
def in_order(view, places, refused):
    """Return a view with the queue reordered; its first ``refused`` jobs were refused before.

    ``places`` (q,) are positions of the old queue, in the new order.
    """
    return CompiledView(
        now=view.now,
        free=view.free,
        owed=view.owed,
        claimed=view.claimed,
        refused=refused,
        settled=0,
        freed_until=view.freed_until,
        queue=view.queue[places],
        running=view.running,
        submit=view.submit,
        procs=view.procs,
        request=view.request,
        expected_end=view.expected_end,
        note=view.note,
        processors=view.processors,
        owner=view.owner,
        used=view.used,
        given=view.given,
        pools=view.pools,
        needs=view.needs,
    )


@allocating
def to_queue_positions(places, chosen, count):
    """Convert chosen positions of the ordered queue to positions of the original queue."""
    for pick in range(count):
        chosen[pick] = places[chosen[pick]]


@allocating
def by_score(scores):
    """Return positions by score, lowest first; equal scores keep the order of submission."""
    return sorted_places(scores)
