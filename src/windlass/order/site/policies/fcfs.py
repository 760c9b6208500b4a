"""First come, first served."""

from typing import ClassVar

from windlass.jit import Kernel
from windlass.order.site.compiled import SELECT, CompiledPolicy
from windlass.order.site.lib.pools import heads_of_all


def _select(view, chosen, why):
    queue, procs, free = view.queue, view.procs, view.free
    if view.refused > 0:
        return 0
    count = 0
    while count < len(queue) and procs[queue[count]] <= free:
        free -= procs[queue[count]]
        chosen[count] = count
        why[count] = 0
        count += 1
    return count


def _select_of_all(view, chosen, why):
    return heads_of_all(view, chosen, why)


class Fcfs(CompiledPolicy):
    """First come, first served: jobs start in order of submission, and one that does not fit blocks the rest.

    The baseline: no job is overtaken, and more processors stay idle than under any other policy.

    Examples
    --------
    >>> from windlass.order.site.view import Running, SiteView, Waiting
    >>> waiting = Waiting.of(job=[1, 2, 3], submit=[0, 0, 0], procs=[2, 4, 1], request=[60, 60, 60])
    >>> Fcfs().decide(SiteView(0.0, processors=4, free=4, waiting=waiting, running=Running.of())).jobs
    (1,)
    """

    name: ClassVar[str] = "fcfs"
    reasons: ClassVar[tuple[str, ...]] = ("head of the queue",)
    select: ClassVar[Kernel] = Kernel(_select, SELECT, allocates=False)
    pooled: ClassVar[Kernel] = Kernel(_select_of_all, SELECT)
