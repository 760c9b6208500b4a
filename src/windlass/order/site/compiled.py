"""Policies written as one compiled function over arrays, for the simulator's loop and for live use alike.

The function is called once per instant at which something changed::

    count = select(now, free, queue, refused, procs, request, note, running, expected_end, chosen, why)

======================  ==========  =================================================================
``now``                 float64     the clock, s
``free``                int64       idle processors
``queue``               int64 (q,)  waiting jobs in order of submission, as rows of the columns below
``refused``             int64       leading queue entries refused before, with nothing freed since
``procs``, ``request``  (n,)        columns of the job table: processors; requested time, s
``note``                (n,)        one number per job that the policy may write; kept for it
``running``             int64 (r,)  rows of running jobs, by expected end
``expected_end``        (n,)        start + request of running jobs, s
``chosen``, ``why``     (q,)        out: queue positions to start, ascending or not, and reason codes
======================  ==========  =================================================================

It returns how many entries of ``chosen`` it wrote, and changes nothing but ``note``, ``chosen``, ``why``.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numba import types

from windlass.compiled import Kernel
from windlass.order.site.view import SiteView, Start

_ints, _floats = types.int64[::1], types.float64[::1]

SELECT = types.int64(
    types.float64, types.int64, _ints, types.int64, _ints, _floats, _floats, _ints, _floats, _ints, _ints
)


class CompiledPolicy:
    """Gives a policy its ``decide`` from its compiled ``select``."""

    select: ClassVar[Kernel]
    reasons: ClassVar[tuple[str, ...]]

    def decide(self, view: SiteView) -> Start:
        """Which waiting jobs to start now, why, and the notes to keep."""
        waiting, running = view.waiting, view.running
        count = len(waiting.job)
        queue = np.arange(count)
        note = np.concatenate((waiting.note, np.full(len(running.job), np.nan)))
        chosen, why = np.empty(count, np.int64), np.zeros(count, np.int64)
        picked = self.select.ready()(
            view.now,
            view.free,
            queue,
            view.refused,
            np.concatenate((waiting.procs, running.procs)),
            np.concatenate((waiting.request, np.zeros(len(running.job)))),
            note,
            np.arange(count, count + len(running.job)),
            np.concatenate((np.zeros(count), running.expected_end)),
            chosen,
            why,
        )
        return Start(
            jobs=tuple(waiting.job[chosen[:picked]].tolist()),
            why=tuple(self.reasons[code] for code in why[:picked]),
            notes=note[:count],
        )
