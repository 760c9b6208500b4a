"""Shortest job first, by requested time."""

from typing import ClassVar

from windlass.jit import Kernel
from windlass.order.site.compiled import SELECT, CompiledPolicy
from windlass.order.site.lib.in_order import by_score, in_order, to_queue_positions
from windlass.order.site.lib.pools import heads_of_all


def _select(view, chosen, why):
    queue, procs, request, free = view.queue, view.procs, view.request, view.free
    last_request, last = -1.0, -1
    count = 0
    while count < len(queue):
        # The next job in the order (request, position) after the one chosen last.
        best = -1
        for position in range(len(queue)):
            wanted = request[queue[position]]
            after = wanted > last_request or (wanted == last_request and position > last)
            if after and (best < 0 or wanted < request[queue[best]]):
                best = position
        if procs[queue[best]] > free:
            break
        last_request, last = request[queue[best]], best
        free -= procs[queue[best]]
        chosen[count] = best
        why[count] = 0
        count += 1
    return count


def _select_of_all(view, chosen, why):
    places = by_score(view.request[view.queue])
    count = heads_of_all(in_order(view, places, 0), chosen, why)
    to_queue_positions(places, chosen, count)
    return count


class Sjf(CompiledPolicy):
    """Shortest job first by requested time; the shortest waiting job blocks the rest until it fits.

    Ties go to the job submitted first. It keeps the mean wait short and starves long jobs, so it is the baseline for
    the cost of fairness. It does not backfill.

    Examples
    --------
    >>> from windlass.order.site.view import Running, SiteView, Waiting
    >>> waiting = Waiting.of(job=[1, 2, 3], submit=[0, 0, 0], procs=[1, 1, 1], request=[90, 60, 30])
    >>> Sjf().decide(SiteView(0.0, processors=2, free=2, waiting=waiting, running=Running.of())).jobs
    (3, 2)
    """

    name: ClassVar[str] = "sjf"
    reasons: ClassVar[tuple[str, ...]] = ("shortest request waiting",)
    select: ClassVar[Kernel] = Kernel(_select, SELECT, allocates=False)
    pooled: ClassVar[Kernel] = Kernel(_select_of_all, SELECT)
