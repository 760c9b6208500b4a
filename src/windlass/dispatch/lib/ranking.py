"""The order of workers by learned speed, and the number of waiting tasks at which a slow worker is useful.

Places in addition to those of :mod:`windlass.dispatch.state` and :mod:`windlass.dispatch.lib.learner`:

==============  =====  ==============================================  =========================  ============
in ``ints``     place  what it is                                      written by                 read by
==============  =====  ==============================================  =========================  ============
``RESERVED``    15     workers reserved for the last task              ``choose``                 ``choose``
``TASK``        16     number of that task, from 1                     ``choose``                 ``choose``
==============  =====  ==============================================  =========================  ============

================  =====  ============================================  =========================  ============
in ``floats``     place  what it is                                    written by                 read by
================  =====  ============================================  =========================  ============
``JOB_AT``        14     arrival of the last job, s                    ``count_task``             ``count_task``
``SO_FAR``        15     tasks of it that have arrived                 ``count_task``             ``count_task``
``PER_JOB``       16     moving average of tasks per job               ``count_task``, its class  ``rank``
================  =====  ============================================  =========================  ============

Lists: in ``ints``, from :func:`~windlass.dispatch.state.own_ints` on, the present workers, fastest first. In
``floats``, after the learner's lists, n believed speeds, work/s; then n numbers of tasks, see :func:`rank`; then the
list of :mod:`windlass.dispatch.lib.speeds`.
"""

from __future__ import annotations

import math

from windlass.dispatch.lib.learner import MEAN_WORK, PART
from windlass.dispatch.lib.rated import sooner
from windlass.dispatch.lib.speeds import believe, speeds_at
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

RESERVED, TASK = range(OWN_INT + 5, OWN_INT + 7)
JOB_AT, SO_FAR, PER_JOB = range(OWN_FLOAT + 11, OWN_FLOAT + 14)
#: Number of jobs that the mean number of tasks covers.
_JOBS = 50.0
#: Logarithms of r this near 0 count as 0; the exponent from which on 1 is nothing against a power of e.
_EVEN, _STEEP = 1e-6, 50.0
#: Newton's method: the most steps, and the step that is small enough.
_STEPS, _CLOSE = 30, 1e-6


@inlined
def count_task(ints, floats):
    """Record the arrival of a task; tasks that arrive at one instant form one job."""
    if floats[NOW] == floats[JOB_AT]:
        floats[SO_FAR] += 1.0
    else:
        if floats[SO_FAR] > 0.0:
            floats[PER_JOB] += (floats[SO_FAR] - floats[PER_JOB]) / _JOBS
        floats[JOB_AT], floats[SO_FAR] = floats[NOW], 1.0


@inlined
def _is_better(one, other, saved, together, arriving):
    """Return whether to hand a task over at ``one`` waiting tasks and not at ``other``, which is one less."""
    drained = together - arriving
    if drained == 0.0:
        return saved / one + one / (2.0 * together) < saved / other + other / (2.0 * together)
    logarithm = math.log(together / arriving)
    first, second = one - saved * drained, other - saved * drained
    if logarithm * one > _STEEP:
        # 1 is nothing against a power of r as large as this.
        return first > second * (together / arriving)
    # The least b if r > 1, and the largest one if r < 1: both have the least c.
    return first * math.expm1(logarithm * other) > second * math.expm1(logarithm * one)


@helper
def least_waiting(saved, together, arriving):
    """Return the least number of waiting tasks at which a slow worker should take one of them.

    If the slow worker takes none, a task waits for faster workers of total speed M = ``together``, and each task that
    arrives meanwhile, λ = ``arriving`` per second, waits behind it. ``saved`` is how much longer the slow worker would
    take than the faster ones, s. The task can still be handed over later, once more tasks wait. So the sum of delays
    that it causes with w tasks waiting, itself included, is c(0) = 0 and (λ + M) c(w) = 1 + λ c(w + 1) + M c(w − 1)
    below some w = x where it is handed over, c(x) = ``saved``. The solutions are w / (M − λ) + b (rʷ − 1) with
    r = M / λ, and the best x has the least b: x = D + (1 − r⁻ˣ) / log r with D = ``saved`` (M − λ), or the better one
    of the two whole numbers next to it. Without arrivals, that is the least x ≥ D.
    """
    if saved <= 0.0 or together <= 0.0 or arriving == math.inf:
        return 0.0
    if arriving <= 0.0:
        return math.ceil(saved * together)
    logarithm = math.log(together / arriving)
    # The solution for M = λ, and the first guess for others.
    x = max(1.0, math.sqrt(2.0 * saved * together))
    if abs(logarithm) > _EVEN:
        x = min(x, max(1.0, _STEEP / abs(logarithm)))
        for _ in range(_STEPS):
            slope = -math.expm1(-logarithm * x)
            if slope == 0.0:
                break
            step = (x - saved * (together - arriving) - slope / logarithm) / slope
            x = max(0.5 * x, x - step)
            if abs(step) < _CLOSE:
                break
    lower = max(1.0, math.floor(x))
    return lower + 1.0 if _is_better(lower + 1.0, lower, saved, together, arriving) else lower


@helper
def rank(ints, floats):
    """Sort the present workers by speed, and compute the least number of waiting tasks at which each is useful.

    The k faster workers have total speed M. A task that waits is expected to run for k/M on one of them, and for 1/μ
    on a worker of speed μ; see :func:`least_waiting`. Jobs of m tasks count as one arrival for m tasks, since only the
    last task of a job counts. A worker that has been silent for too long is not counted among the faster ones.
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
    arriving = arrival_rate(ints, floats) * floats[MEAN_WORK] / (floats[PART] * floats[PER_JOB])
    faster, together = 0, 0.0
    for place in range(count):
        worker = ints[order + place]
        saved = 1.0 / floats[speeds + worker] - faster / together if together > 0.0 else 0.0
        floats[needs + worker] = least_waiting(saved, together, arriving)
        if floats[rates + worker] > 0.0:
            faster += 1
            together += floats[speeds + worker]
    ints[DIRTY] = 0


@inlined
def enough(worker, waiting, ints, floats):
    """Return whether enough tasks wait, at all schedulers, for this worker to take one."""
    return waiting > floats[speeds_at(ints) + ints[WORKERS] + worker] - 0.5


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
