"""Prequal: hot-cold lexicographic choice among probed workers."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import choosing
from windlass.dispatch.lib.bandit import Bandit
from windlass.dispatch.state import (
    MEMBERS_AT,
    NOW,
    OWN_FLOAT,
    OWN_INT,
    PRESENT,
    RATES_AT,
    WORKERS,
    below,
    draw,
    member,
    own_ints,
)
from windlass.jit import Kernel, inlined
from windlass.model.values import number, whole

#: Probes in the pool; recent probes from which the quantile is computed; their values from 0, the last for all above.
POOL, RECENT, VALUES = 16, 128, 64
#: Fewer probes than this do not decide: the worker is then drawn uniformly.
FEWEST = 2

# Own numbers: probes in the pool, whether the oldest is removed next, position in the list of recent probes and their
# number, probes per task, and tasks per probe.
_HELD, _TURN, _NEXT, _SEEN, _PROBES, _REUSE = range(OWN_INT, OWN_INT + 6)
_AGE, _QUANTILE = range(OWN_FLOAT + 2, OWN_FLOAT + 4)
# Lists in ``ints``, from `own_ints` on: worker, tasks in flight, uses and time (ns) of each probe in the pool; recent
# values, and how often each occurs. Nothing that ``choose`` changes is in ``floats``, because the gate of admission
# undoes a choice by restoring ``ints``.
_WORKER, _FLIGHT, _USES, _TIME = range(0, 4 * POOL, POOL)
_LIST = 4 * POOL
_COUNTS = _LIST + RECENT
_INTS = _COUNTS + VALUES
_NS = 1e9


@inlined
def _drop(probe, ints):
    """Remove a probe from the pool; the last one takes its place."""
    ints[_HELD] -= 1
    last, own = ints[_HELD], own_ints(ints)
    for column in range(0, 4 * POOL, POOL):
        ints[own + column + probe] = ints[own + column + last]


@inlined
def _oldest(ints):
    """Return the oldest probe in the pool, on a tie the first."""
    times, oldest = own_ints(ints) + _TIME, 0
    for probe in range(1, ints[_HELD]):
        oldest = probe if ints[times + probe] < ints[times + oldest] else oldest
    return oldest


@inlined
def _latency(probe, ints, floats):
    """Return the estimated latency of a task that is sent to the worker of a probe, s."""
    own = own_ints(ints)
    rate = floats[ints[RATES_AT] + ints[own + _WORKER + probe]]
    return (ints[own + _FLIGHT + probe] + 1) / rate if rate > 0.0 else np.inf


@inlined
def _hot_above(ints, floats):
    """Return the number of tasks in flight above which a worker is hot: a quantile of recent probes."""
    counts, below_it = own_ints(ints) + _COUNTS, 0
    for value in range(VALUES):
        below_it += ints[counts + value]
        if below_it >= max(1.0, floats[_QUANTILE] * ints[_SEEN]):
            return value
    return VALUES


@inlined
def _better(probe, other, hot_above, ints, floats):
    """Return whether a probe precedes another: cold before hot, cold by latency, hot by tasks in flight."""
    flight = own_ints(ints) + _FLIGHT
    hot, other_hot = ints[flight + probe] > hot_above, ints[flight + other] > hot_above
    if hot != other_hot:
        return other_hot
    if hot:
        return ints[flight + probe] < ints[flight + other]
    return _latency(probe, ints, floats) < _latency(other, ints, floats)


@inlined
def _best(hot_above, ints, floats):
    """Return the probe that precedes all others, on a tie the first."""
    best = 0
    for probe in range(1, ints[_HELD]):
        best = probe if _better(probe, best, hot_above, ints, floats) else best
    return best


@inlined
def _worst(hot_above, ints, floats):
    """Return the probe that all others precede, on a tie the first."""
    worst = 0
    for probe in range(1, ints[_HELD]):
        worst = probe if _better(worst, probe, hot_above, ints, floats) else worst
    return worst


@inlined
def _remember(flight, ints):
    """Count a probe's tasks in flight among the recent ones."""
    own, value = own_ints(ints), min(flight, VALUES - 1)
    place = own + _LIST + ints[_NEXT]
    if ints[_SEEN] == RECENT:
        ints[own + _COUNTS + ints[place]] -= 1
    else:
        ints[_SEEN] += 1
    ints[place] = value
    ints[own + _COUNTS + value] += 1
    ints[_NEXT] = (ints[_NEXT] + 1) % RECENT


@inlined
def _probe(worker, flight, now, ints):
    """Put a worker's answer into the pool: in place of its earlier answer, or of the oldest one if the pool is full."""
    _remember(flight, ints)
    own, probe = own_ints(ints), 0
    while probe < ints[_HELD] and ints[own + _WORKER + probe] != worker:
        probe += 1
    if probe == POOL:
        probe = _oldest(ints)
    elif probe == ints[_HELD]:
        ints[_HELD] += 1
    ints[own + _WORKER + probe], ints[own + _FLIGHT + probe] = worker, flight
    ints[own + _USES + probe], ints[own + _TIME + probe] = 0, now


@inlined
def _from_pool(ints, floats):
    """Return the worker of the best probe; count the use, and remove the oldest or the worst probe in turn."""
    own, hot_above = own_ints(ints), _hot_above(ints, floats)
    best = _best(hot_above, ints, floats)
    worker = ints[own + _WORKER + best]
    ints[own + _FLIGHT + best] += 1
    ints[own + _USES + best] += 1
    if ints[own + _USES + best] >= ints[_REUSE]:
        _drop(best, ints)
    ints[_TURN] = 1 - ints[_TURN]
    _drop(_oldest(ints) if ints[_TURN] == 1 else _worst(hot_above, ints, floats), ints)
    return worker


@inlined
def _drop_useless(now, ints, floats):
    """Remove answers that are too old, and those of workers that are gone."""
    own, probe = own_ints(ints), 0
    while probe < ints[_HELD]:
        gone = ints[MEMBERS_AT + ints[WORKERS] + ints[own + _WORKER + probe]] < 0
        if gone or now - ints[own + _TIME + probe] > floats[_AGE] * _NS:
            _drop(probe, ints)
        else:
            probe += 1


def _choose(lengths, ints, floats):
    count = ints[PRESENT]
    if count == 0:
        return -1
    now = np.int64(floats[NOW] * _NS)
    _drop_useless(now, ints, floats)
    enough = ints[_HELD] >= FEWEST
    chosen = _from_pool(ints, floats) if enough else member(ints, below(draw(ints), count))
    # These answers serve the tasks that follow.
    for _ in range(ints[_PROBES]):
        worker = member(ints, below(draw(ints), count))
        _probe(worker, lengths[worker], now, ints)
    return chosen


class Prequal(Bandit):
    """Sends each task to the best of some workers that were probed before, by tasks in flight and by latency.

    Each task sends ``probes`` probes to workers drawn uniformly. The answers go into a pool of 16 and serve later
    tasks, so that no task waits for a probe. A worker is *hot* if it has more tasks in flight than a quantile of the
    recent answers. The task goes to the cold worker with the least estimated latency, or to the hot worker with the
    fewest tasks in flight if all are hot. With fewer than two answers in the pool, a worker is drawn uniformly.

    An answer leaves the pool after ``max_age``, after a number of uses that depends on the pool and the number of
    workers, or to make room; each task also removes the oldest or the worst answer in turn. A use adds one task in
    flight to the answer.

    A server of Prequal reports the median latency of its recent requests at its present load. Here the estimate is
    (tasks in flight + 1) / learned rate. It is exact in the mean for a worker that serves its queue in order. A second
    answer of a worker replaces its first.

    Source: Wydrowski, Kleinberg, Rumble and Archer, "Load is not what you should balance: introducing Prequal", NSDI
    2024.

    Parameters
    ----------
    workers
        Number of workers.
    rng
        Random generator.
    probes
        Probes per task, at least 1.
    hot
        Quantile of recent answers above which a worker is hot; 0 to 1. The default is the paper's 2^(−1/4).
    max_age
        Answers older than this are not used, s.
    memory
        Approximate number of past completions of a worker that count, at least 1.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> policy = Prequal(2, np.random.default_rng(1), probes=8)
    >>> for worker, seconds in enumerate((1.0, 0.1)):
    ...     policy.completed(worker, work=1.0, seconds=seconds)
    >>> chosen = [policy.choose(np.array([0, 0])) for _ in range(100)]
    >>> chosen.count(1) > 90
    True
    """

    name: ClassVar[str] = "prequal"
    probe_trips: ClassVar[float] = 0.0
    choosing: ClassVar[Kernel] = choosing(_choose)

    def __init__(
        self,
        workers: int,
        rng: np.random.Generator,
        probes: int = 3,
        hot: float = 2.0**-0.25,
        max_age: float = 1.0,
        memory: float = 50.0,
    ) -> None:
        super().__init__(workers, rng, memory, ints=_INTS)
        self.ints[_PROBES] = whole("probes", probes, 1)
        self.ints[_REUSE] = uses_of(workers, probes)
        self.floats[_QUANTILE] = number("hot", hot, 0.0, 1.0)
        self.floats[_AGE] = number("max_age", max_age, 0.0)


def uses_of(workers: int, probes: int) -> int:
    """Return how many tasks an answer serves: the paper's bound with δ = 1, rounded; no bound with few workers.

    >>> uses_of(1000, 3), uses_of(32, 3), uses_of(8, 3) > 1000
    (1, 4, True)
    """
    added = (1.0 - POOL / workers) * probes - 1.0
    return 2**31 if added <= 0.0 else max(1, math.floor(2.0 / added + 0.5))
