"""The order of workers by learned speed, and the number of waiting tasks at which a slow worker is useful.

Places in addition to those of :mod:`windlass.dispatch.state` and :mod:`windlass.dispatch.lib.learner`:

==============  =====  ==============================================  =========================  ============
in ``ints``     place  what it is                                      written by                 read by
==============  =====  ==============================================  =========================  ============
``TASK``        15     number of the last task that was counted        ``choose``                 ``choose``
==============  =====  ==============================================  =========================  ============

================  =====  ============================================  =========================  ============
in ``floats``     place  what it is                                    written by                 read by
================  =====  ============================================  =========================  ============
``JOB_AT``        14     arrival of the last job, s                    ``count_task``             ``count_task``
``SO_FAR``        15     tasks of it that have arrived                 ``count_task``             ``count_task``
``PER_JOB``       16     moving average of tasks per job               ``count_task``, its class  ``rank``
``FETCH``         17     how long a worker waits for a task, s         ``bind``                   ``rank``
``DRAINED``       18     speed of all workers less arriving work       ``rank``                   ``place_of``
================  =====  ============================================  =========================  ============

Lists: in ``ints``, from :func:`~windlass.dispatch.state.own_ints` on, the present workers, fastest first. In
``floats``, after the learner's lists, n believed speeds, work/s; then twice n numbers of tasks, see :func:`rank`; then
the list of :mod:`windlass.dispatch.lib.speeds`.
"""

from __future__ import annotations

import math

import numpy as np

from windlass.dispatch.lib.ahead import least_drain, pays
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

TASK = OWN_INT + 5
JOB_AT, SO_FAR, PER_JOB, FETCH, DRAINED = range(OWN_FLOAT + 11, OWN_FLOAT + 16)
#: Number of jobs that the mean number of tasks covers.
_JOBS = 50.0
#: The share of tasks that are fetched after they have waited; and the factor of numbers of tasks from which on a worker
#: requests one ahead. Both were chosen on drawn settings: sizes vary more than exponential ones, or jobs have several
#: tasks.
_FETCHED, _CAUTION = 0.5, 2.0
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
    """Sort the present workers by speed; compute the least numbers of waiting tasks for which each takes one.

    The k faster workers have total speed M. A task that waits is expected to run for k/M on one of them, and for 1/μ
    on a worker of speed μ; see :func:`least_waiting`. Only the last task of a job counts, so that a job of m tasks
    delays others less than m jobs do: it counts as √m arrivals, a compromise between 1 and m that was chosen on drawn
    settings. A worker that has been silent for too long is not counted among the faster ones. For a task that a worker
    requests ahead, see :mod:`windlass.dispatch.lib.ahead`.
    """
    believe(ints, floats)
    count, order, speeds = ints[PRESENT], own_ints(ints), speeds_at(ints)
    needs, rates = speeds + ints[WORKERS], ints[RATES_AT]
    needs_ahead = needs + ints[WORKERS]
    for place in range(count):
        worker = member(ints, place)
        at = order + place
        while at > order and floats[speeds + ints[at - 1]] < floats[speeds + worker]:
            ints[at] = ints[at - 1]
            at -= 1
        ints[at] = worker
    offered = arrival_rate(ints, floats) * floats[MEAN_WORK] / floats[PART]
    arriving = offered / math.sqrt(floats[PER_JOB])
    faster, together = 0, 0.0
    for place in range(count):
        worker = ints[order + place]
        saved = 0.0
        if together > 0.0:
            # A task that waits is fetched later, unless it is requested ahead.
            fetch = _FETCHED * floats[FETCH] / floats[MEAN_WORK]
            saved = 1.0 / floats[speeds + worker] - faster / together - fetch
        floats[needs + worker] = least_waiting(saved, together, arriving)
        if floats[rates + worker] > 0.0:
            faster += 1
            together += floats[speeds + worker]
    floats[DRAINED] = max(0.0, together - offered)
    if floats[FETCH] > 0.0:
        for place in range(count):
            worker = member(ints, place)
            speed = floats[speeds + worker]
            drain = (
                _CAUTION * math.sqrt(floats[PER_JOB]) * least_drain(floats[FETCH] * speed / floats[MEAN_WORK])
            )
            floats[needs_ahead + worker] = max(floats[needs + worker], drain * floats[DRAINED] / speed)
    ints[DIRTY] = 0


@inlined
def place_of(worker, waiting, held, ints, floats):
    """Return which of the waiting tasks, of all schedulers, a worker with ``held`` tasks takes; 0 for none.

    The fastest worker takes the first. A slower one takes the first that it is useful for: those before it start sooner
    on faster workers.
    """
    speeds, count = speeds_at(ints), ints[WORKERS]
    needs, speed = floats[speeds + count + worker], floats[speeds + worker]
    least = needs if held == 0 else floats[speeds + 2 * count + worker]
    if waiting < least:
        return np.int64(0)
    if held > 1:
        drain = waiting * speed / floats[DRAINED] if floats[DRAINED] > 0.0 else math.inf
        if not pays(held, drain, floats[FETCH] * speed / floats[MEAN_WORK]):
            return np.int64(0)
    return np.int64(max(1.0, needs))


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
