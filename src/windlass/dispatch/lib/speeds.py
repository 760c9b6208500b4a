"""Speeds of workers, learned from the logarithms of the durations of their tasks.

A task of work w on a worker of speed μ takes w/μ seconds. If tasks of all workers come from one distribution of sizes,
known or not, the mean of log(work / seconds) is the logarithm of the speed plus a constant that all workers share. A
mean of logarithms has a finite variance where a mean duration has none, as with sizes of a Pareto distribution, and the
variance is measured: it is 0 for sizes that are fixed or known, so that one completion is then enough. One common
factor makes the speeds agree with the work and the busy time in the windows of the learner.

A mean covers the last completions of a worker, or those since its speed changed: the cumulative sums of Page raise an
alarm when completions deviate from the mean in one direction, and the earlier completions are then forgotten. A policy
chooses how many completions a mean covers, and how soon an alarm is raised. An engine may report that a task takes long
before it has ended.

Places in addition to those of :mod:`windlass.dispatch.state` and :mod:`windlass.dispatch.lib.learner`:

================  =====  ============================================  ==========  ===========
in ``floats``     place  what it is                                    written by  read by
================  =====  ============================================  ==========  ===========
``VARIANCE``      19     of the logarithms of one worker               ``take``    ``believe``
``SEEN``          20     completions that it was measured from         ``take``    ``take``
``MEMORY``        21     the most completions that a mean covers       its class   ``take``
``ALARM``         22     sum of deviations that raises an alarm, and   its class   ``take``
                         the fewest completions before one
================  =====  ============================================  ==========  ===========

A list of ``PER_WORKER`` numbers for each worker, which only this module reads and writes, begins at :func:`logs_at`,
after the lists of :mod:`windlass.dispatch.lib.ranking`.

Source: Windlass. The cumulative sums are those of E. S. Page, "Continuous inspection schemes", Biometrika 41, 1954.
"""

from __future__ import annotations

import math

from windlass.dispatch.lib.learner import MEAN_WORK, SIZES, WINDOW, window_sums
from windlass.dispatch.state import OWN_FLOAT, PRESENT, RATES_AT, WORKERS, member
from windlass.jit import helper, inlined

VARIANCE, SEEN, MEMORY, ALARM = range(OWN_FLOAT + 16, OWN_FLOAT + 20)
#: Numbers per worker: mean logarithm, completions that it covers, the two cumulative sums, and seconds without work.
_MEAN, _COUNT, _ABOVE, _BELOW, _SILENT = range(5)
PER_WORKER = 5
#: Completions that averages over all workers cover.
_ALL = 1000.0
#: Deviations in standard deviations: the part that no sum counts, and the most that one completion counts. After an
#: alarm the mean restarts as if from this many completions.
_SLACK, _MOST, _KEPT = 0.5, 2.0, 2.0
#: A worker that is silent for as long as this many mean tasks would take counts as half as fast.
_PATIENCE = 8.0
#: The least standard deviation: speeds that differ by less are not a change.
_LEAST = 0.02


@inlined
def speeds_at(ints):
    """Return where the believed speeds are in ``floats``."""
    return ints[RATES_AT] + ints[WORKERS] * (1 + WINDOW) + SIZES


@inlined
def logs_at(ints):
    """Return where the numbers of worker 0 are in ``floats``: after its speeds and the lists of the ranking."""
    return speeds_at(ints) + 3 * ints[WORKERS]


@helper
def forget(worker, ints, floats):
    """Clear everything learned of a worker's speed."""
    own = logs_at(ints) + PER_WORKER * worker
    for item in range(PER_WORKER):
        floats[own + item] = 0.0


@helper
def _has_changed(own, deviation, floats):
    """Count a deviation from the mean in the two sums; return whether one raises an alarm."""
    floats[own + _ABOVE] = max(0.0, floats[own + _ABOVE] + deviation - _SLACK)
    floats[own + _BELOW] = max(0.0, floats[own + _BELOW] - deviation - _SLACK)
    known = min(floats[own + _COUNT], floats[SEEN]) >= floats[ALARM]
    return known and max(floats[own + _ABOVE], floats[own + _BELOW]) > floats[ALARM]


@helper
def take(worker, work, seconds, ints, floats):
    """Record a completion, or with a work of 0 that the worker is busy for so long with a task that has not ended."""
    own = logs_at(ints) + PER_WORKER * worker
    floats[own + _SILENT] += seconds
    if work <= 0.0 or floats[own + _SILENT] <= 0.0:
        return
    seconds = floats[own + _SILENT]
    floats[own + _SILENT] = 0.0
    difference = math.log(work / seconds) - floats[own + _MEAN]
    count = floats[own + _COUNT]
    if count > 0.0:
        spread = max(math.sqrt(floats[VARIANCE]), _LEAST)
        if _has_changed(own, min(max(difference / spread, -_MOST), _MOST), floats):
            floats[own + _ABOVE] = floats[own + _BELOW] = 0.0
            count = _KEPT
        else:
            floats[SEEN] += 1.0
            squared = difference * difference * count / (count + 1.0)
            floats[VARIANCE] += (squared - floats[VARIANCE]) / min(floats[SEEN], _ALL)
    count = min(count + 1.0, floats[MEMORY])
    floats[own + _COUNT] = count
    floats[own + _MEAN] += difference / count


@helper
def believe(ints, floats):
    """Compute the speeds, work/s, each shrunk towards the mean of all by its share of random variation."""
    present, speeds, logs = ints[PRESENT], speeds_at(ints), logs_at(ints)
    known, total, doubt, done, expected = 0, 0.0, 0.0, 0.0, 0.0
    for place in range(present):
        worker = member(ints, place)
        own = logs + PER_WORKER * worker
        if floats[own + _COUNT] > 0.0:
            known += 1
            total += floats[own + _MEAN]
            doubt += floats[VARIANCE] / floats[own + _COUNT]
            work, seconds, _ = window_sums(ints, floats, worker)
            done += work
            expected += seconds * math.exp(floats[own + _MEAN])
    mean = total / known if known > 0 else 0.0
    spread = 0.0
    for place in range(present):
        own = logs + PER_WORKER * member(ints, place)
        if floats[own + _COUNT] > 0.0:
            spread += (floats[own + _MEAN] - mean) ** 2
    # The variance between workers, less that of sampling.
    real = max(0.0, spread / (known - 1) - doubt / known) if known > 1 else 0.0
    scale = done / expected if done > 0.0 and expected > 0.0 else 1.0
    for place in range(present):
        worker = member(ints, place)
        own = logs + PER_WORKER * worker
        logarithm = mean
        if floats[own + _COUNT] > 0.0 and real > 0.0:
            sampling = floats[VARIANCE] / floats[own + _COUNT]
            logarithm += real / (real + sampling) * (floats[own + _MEAN] - mean)
        speed = scale * math.exp(logarithm)
        late = floats[own + _SILENT] * speed / floats[MEAN_WORK]
        floats[speeds + worker] = speed / (1.0 + late / _PATIENCE)
