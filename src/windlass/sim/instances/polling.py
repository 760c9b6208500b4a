"""Between two decisions of a period the policy is asked at looks, where there is something to see.

Autoscalers of today look every ten seconds at who waits. A look at which nobody new waits, nothing is empty for longer
than it may be and no launch failed would find what the one before found: it is left out, so that a year does not take
three million questions.
"""

from __future__ import annotations

import numpy as np

from windlass.jit import inlined
from windlass.sim.instances.state import ASKED, EVERY, FIRST, LOOK, NOW, SEQUENCE, TOLD, WAITING


@inlined
def look_soon(run, now):
    """Something is to be seen at the next look; before the first decision there is none."""
    clock = run.queues.clock
    if clock[EVERY] < np.inf and now >= clock[FIRST]:
        steps = np.ceil((now - clock[FIRST]) / clock[EVERY])
        # Rounding must not send time back; and nobody is asked twice at one instant.
        at = max(now, clock[FIRST] + steps * clock[EVERY])
        clock[LOOK] = min(clock[LOOK], at + clock[EVERY] if at == clock[ASKED] else at)


@inlined
def look_for_newcomers(run, now):
    """Jobs joined the queue since the policy was asked, and some wait."""
    counts = run.queues.counts
    if counts[WAITING] > 0 and counts[SEQUENCE] > counts[TOLD]:
        look_soon(run, now)


@inlined
def looked(run):
    """The policy was asked."""
    queues = run.queues
    queues.counts[TOLD] = queues.counts[SEQUENCE]
    queues.clock[LOOK], queues.clock[ASKED] = np.inf, queues.clock[NOW]
