"""Conservative backfilling."""

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from windlass.jit import Kernel
from windlass.order.site.compiled import SELECT, CompiledPolicy
from windlass.order.site.lib.reservations import start_reserved, start_reserved_of_all
from windlass.order.site.view import SiteView, Start


def _select(view, chosen, why):
    return start_reserved(view, view.note[:0], chosen, why)


def _select_of_all(view, chosen, why):
    return start_reserved_of_all(view, view.note[:0], chosen, why)


class Conservative(CompiledPolicy):
    """Conservative backfilling: every job gets a reservation at submission, and never starts later than that.

    The reservation is the earliest start that delays no job ahead of it. When a job ends before its request, all
    reservations move as early as the others allow, in order of their reservations. A job's note is its
    reservation, s. The promise holds if jobs are stopped at their requested time; a job that exceeds its request
    breaks it.

    Source: Mu'alem and Feitelson, "Utilization, predictability, workloads, and user runtime estimates in
    scheduling the IBM SP2 with backfilling", IEEE TPDS 12(6), 2001, section 2.

    Examples
    --------
    >>> from windlass.order.site.view import Running, SiteView, Waiting
    >>> waiting = Waiting.of(job=[1, 2, 3], submit=[0, 1, 2], procs=[4, 2, 2], request=[60, 99, 50])
    >>> running = Running.of(job=[0], procs=[2], expected_end=[55])
    >>> start = Conservative().decide(SiteView(5.0, processors=4, free=2, waiting=waiting, running=running))
    >>> start.jobs, start.notes.tolist()
    ((3,), [55.0, 115.0, 5.0])
    """

    name: ClassVar[str] = "conservative"
    reasons: ClassVar[tuple[str, ...]] = ("head of the queue", "backfilled, delays no reservation")
    select: ClassVar[Kernel] = Kernel(_select, SELECT, allocates=False)
    pooled: ClassVar[Kernel] = Kernel(_select_of_all, SELECT, allocates=False)

    def promised(self, view: SiteView, answer: Start) -> NDArray[np.float64]:
        """Return the latest start of each waiting job, s: its note."""
        return view.waiting.note.copy() if answer.notes is None else answer.notes.copy()
