"""The order of workers by learned speed, and the number of waiting tasks at which a slow worker is useful.

Places in addition to those of :mod:`windlass.dispatch.state` and :mod:`windlass.dispatch.lib.learner`:

==============  =====  ==============================================  =========================  ============
in ``ints``     place  what it is                                      written by                 read by
==============  =====  ==============================================  =========================  ============
``RESERVED``    15     workers reserved for the last task              ``choose``                 ``choose``
``TASK``        16     number of that task, from 1                     ``choose``                 ``choose``
``WAITING``     17     unassigned tasks, last known number             ``count_task``, ``bind``   ``count_task``
==============  =====  ==============================================  =========================  ============

================  =====  ============================================  =========================  ============
in ``floats``     place  what it is                                    written by                 read by
================  =====  ============================================  =========================  ============
``MEAN_WAITING``  14     moving average of ``WAITING``                 ``count_task``             ``enough``
``JOB_AT``        15     arrival of the last job, s                    ``count_task``             ``count_task``
``SO_FAR``        16     tasks of it that have arrived                 ``count_task``             ``count_task``
``PER_JOB``       17     moving average of tasks per job               ``count_task``, its class  ``rank``
================  =====  ============================================  =========================  ============

Lists: in ``ints``, from :func:`~windlass.dispatch.state.own_ints` on, the present workers, fastest first. In
``floats``, after the learner's lists, n believed speeds, work/s; then n numbers of tasks, see :func:`rank`.
"""

from __future__ import annotations

import math

from windlass.dispatch.lib.learner import MEAN_WORK, PART, SIZES, WINDOW, window_sums
from windlass.dispatch.lib.rated import sooner
from windlass.dispatch.state import (
    DIRTY,
    NOW,
    OWN_FLOAT,
    OWN_INT,
    PRESENT,
    RATES_AT,
    WORKERS,
    arrival_rate,
    below,
    draw,
    member,
    own_ints,
)
from windlass.jit import helper, inlined

RESERVED, TASK, WAITING = range(OWN_INT + 5, OWN_INT + 8)
MEAN_WAITING, JOB_AT, SO_FAR, PER_JOB = range(OWN_FLOAT + 11, OWN_FLOAT + 15)
#: Number of jobs that moving averages cover.
_JOBS = 50.0


@inlined
def speeds_at(ints):
    """Return where the believed speeds are in ``floats``."""
    return ints[RATES_AT] + ints[WORKERS] * (1 + WINDOW) + SIZES


@inlined
def count_task(ints, floats):
    """Record the arrival of a task, and the waiting tasks; tasks that arrive at one instant form one job."""
    if floats[NOW] == floats[JOB_AT]:
        floats[SO_FAR] += 1.0
    else:
        # Counted before its own tasks: what an arriving job finds is unbiased for the mean over time.
        floats[MEAN_WAITING] += (ints[WAITING] - floats[MEAN_WAITING]) / _JOBS
        if floats[SO_FAR] > 0.0:
            floats[PER_JOB] += (floats[SO_FAR] - floats[PER_JOB]) / _JOBS
        floats[JOB_AT], floats[SO_FAR] = floats[NOW], 1.0
    ints[WAITING] += 1


@helper
def believe(ints, floats):
    """Compute speeds from completions, each shrunk towards the mean of all by its share of random variation."""
    count, speeds = ints[PRESENT], speeds_at(ints)
    known, total, doubt = 0, 0.0, 0.0
    for place in range(count):
        work, seconds, completions = window_sums(ints, floats, member(ints, place))
        if work > 0.0 and seconds > 0.0:
            known += 1
            total += math.log(work / seconds)
            doubt += 1.0 / completions
    mean = total / known if known > 0 else 0.0
    spread = 0.0
    for place in range(count):
        work, seconds, completions = window_sums(ints, floats, member(ints, place))
        if work > 0.0 and seconds > 0.0:
            spread += (math.log(work / seconds) - mean) ** 2
    # The variance between workers, less that of sampling; task times are assumed to be exponential.
    real = max(0.0, spread / (known - 1) - doubt / known) if known > 1 else 0.0
    for place in range(count):
        worker = member(ints, place)
        work, seconds, completions = window_sums(ints, floats, worker)
        logarithm = mean
        if work > 0.0 and seconds > 0.0 and real > 0.0:
            logarithm += real / (real + 1.0 / completions) * (math.log(work / seconds) - mean)
        floats[speeds + worker] = math.exp(logarithm)


@helper
def rank(ints, floats):
    """Sort the present workers by speed, and compute the number of waiting tasks at which each is useful.

    A worker of speed μ is useful if more than (M − λ/m)/μ − k tasks wait, where the k faster workers have
    total speed M, and jobs of m tasks bring work at rate λ. With one task per job, an additional task in
    their queue delays all later tasks until the queue is empty, and it empties at rate M − λ; for a job of m
    tasks, only the last one counts. A worker that has been silent for too long is not counted among the
    faster ones.
    """
    believe(ints, floats)
    count, order, speeds = ints[PRESENT], own_ints(ints), speeds_at(ints)
    needs, rates = speeds + ints[WORKERS], ints[RATES_AT]
    for place in range(count):
        worker = member(ints, place)
        at = order + place
        while at > order and floats[speeds + ints[at - 1]] < floats[speeds + worker]:
            ints[at] = ints[at - 1]
            at -= 1
        ints[at] = worker
    arriving = arrival_rate(ints, floats) * floats[MEAN_WORK] / floats[PART]
    crowding = arriving / floats[PER_JOB]
    faster, together = 0, 0.0
    for place in range(count):
        worker = ints[order + place]
        floats[needs + worker] = max(0.0, (together - crowding) / floats[speeds + worker] - faster)
        if floats[rates + worker] > 0.0:
            faster += 1
            together += floats[speeds + worker]
    ints[DIRTY] = 0


@inlined
def enough(worker, waiting, ints, floats):
    """Return whether enough tasks wait for this worker, assuming that other schedulers have as many as its own mean."""
    others = (1.0 / floats[PART] - 1.0) * floats[MEAN_WAITING]
    return waiting + others > floats[speeds_at(ints) + ints[WORKERS] + worker]


@inlined
def soonest(lengths, ints, floats):
    """Return the worker where a task is expected to end first; ties go to the first from a random place on."""
    count, speeds = ints[PRESENT], speeds_at(ints)
    place = below(draw(ints), count)
    best = member(ints, place)
    for _ in range(1, count):
        place = place + 1 if place + 1 < count else 0
        worker = member(ints, place)
        best = worker if sooner(worker, lengths[worker], best, lengths[best], speeds, floats) else best
    return best
