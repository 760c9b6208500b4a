"""When tasks should not wait for workers to fetch them, and are sent to workers at once instead.

A task that waits is bound late, which is better than to predict where it would end first: such a prediction errs by
the sizes of the tasks ahead. A task that is sent costs no fetch. If all sizes are equal, the prediction has almost no
error. If a job has several tasks as well, it ends with its last one, so that each fetch makes it longer.

Let a fetch take a share φ of a mean task on a mean worker, let a job have m tasks, and let σ be the standard deviation
of the logarithms of sizes. Tasks are sent at once if (√m − 1) φ ≥ 0.1 + σ. As σ is measured, it is also large after
workers have changed their speeds, when predictions err as well.

Soon after a fast worker and a slow one have exchanged their speeds, both are believed to be fast, and φ is too large.
Tasks that are sent then wait for the one that is slow now, as at the begin, when σ is not known. Therefore this must
have been so for as long as 32 mean tasks take on a mean worker.

Places in addition to those of :mod:`windlass.dispatch.lib.ranking`:

===========  =====  ====================================================  ======================  ===================
in ``ints``  place  what it is                                            written by              read by
===========  =====  ====================================================  ======================  ===================
``SENDS``    16     1 if tasks are sent at once, else 0                   ``decide``              ``choose``
``TO_SEND``  17     1 from when a worker is chosen for a task until it    ``choose``, ``bind``    ``bind``
                    is sent
===========  =====  ====================================================  ======================  ===================

=============  =====  ==================================================  ======================  ===================
in ``floats``  place  what it is                                          written by              read by
=============  =====  ==================================================  ======================  ===================
``SINCE``      23     when fetches last cost less, s                      ``decide``              ``decide``
=============  =====  ==================================================  ======================  ===================

Source: Windlass; the rule and its numbers were chosen on drawn settings.
"""

from __future__ import annotations

import math

from windlass.dispatch.lib.learner import MEAN_WORK, SIZES, SIZES_SEEN, recent_size
from windlass.dispatch.lib.speeds import ALARM, MEMORY, VARIANCE
from windlass.dispatch.state import NOW, OWN_FLOAT, OWN_INT
from windlass.jit import helper

SENDS, TO_SEND = range(OWN_INT + 6, OWN_INT + 8)
SINCE = OWN_FLOAT + 20
#: The least (√m − 1) φ at which tasks of equal sizes are sent.
_LEAST = 0.1
#: How long fetches must have cost more, in mean tasks on a mean worker.
_STEADY = 32.0
#: Completions that a mean speed covers, and the alarm of a change, for tasks that wait and for tasks that are sent. A
#: task that was sent waits at a worker that has become slow, so that changes have to be noticed sooner.
WAITING, SENT = (200.0, 8.0), (40.0, 4.0)


@helper
def spread_of_sizes(ints, floats):
    """Return the standard deviation of the logarithms of sizes; of known sizes, that of recent ones over their mean."""
    count = min(ints[SIZES_SEEN], SIZES)
    total = squares = 0.0
    for place in range(count):
        size = recent_size(ints, floats, place)
        total += size
        squares += size * size
    known = max(0.0, count * squares / (total * total) - 1.0) if total > 0.0 else 0.0
    return math.sqrt(floats[VARIANCE] + known)


@helper
def decide(fetch, together, count, per_job, ints, floats):
    """Decide whether tasks are sent at once.

    Parameters
    ----------
    fetch
        How long a worker waits for a task, s.
    together, count
        The speed of all workers, work/s, and their number.
    per_job
        Mean number of tasks per job.
    ints, floats
        The policy's state.
    """
    pace = together / (count * floats[MEAN_WORK]) if count > 0 else 0.0
    cost = (math.sqrt(per_job) - 1.0) * fetch * pace
    if cost < _LEAST or cost < _LEAST + spread_of_sizes(ints, floats):
        floats[SINCE] = floats[NOW]
    sends = (floats[NOW] - floats[SINCE]) * pace >= _STEADY
    ints[SENDS] = sends
    floats[MEMORY] = SENT[0] if sends else WAITING[0]
    floats[ALARM] = SENT[1] if sends else WAITING[1]
