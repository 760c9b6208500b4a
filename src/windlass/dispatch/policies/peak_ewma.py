"""Power of two choices by the peak-sensitive moving average of latencies (peak EWMA)."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import CompiledDispatch, changing, choosing, completing
from windlass.dispatch.lib.outstanding import count_return, forget_sent
from windlass.dispatch.state import (
    JOINED,
    LISTENS,
    NOW,
    OWN_FLOAT,
    PRESENT,
    VALUES_AT,
    WORKERS,
    below,
    change_members,
    draw,
    make_state,
    member,
    own_ints,
)
from windlass.jit import Kernel, inlined
from windlass.model.values import number

#: The load of a worker that has tasks and no completion yet: more than that of any other.
_UNKNOWN = 1e300
_DECAY = OWN_FLOAT


@inlined
def _kept(worker, ints, floats):
    """Return the share of a worker's average that is left since its last completion."""
    last = floats[VALUES_AT + ints[WORKERS] + worker]
    return np.exp(-max(floats[NOW] - last, 0.0) / floats[_DECAY])


@inlined
def _observe(worker, seconds, ints, floats):
    """Take a latency into a worker's average: at once if it is a peak, otherwise by the time since the last one."""
    cost, kept = VALUES_AT + worker, _kept(worker, ints, floats)
    before = floats[cost] * kept
    floats[cost] = seconds if seconds > before else before + seconds * (1.0 - kept)
    floats[VALUES_AT + ints[WORKERS] + worker] = floats[NOW]


@inlined
def _load(worker, ints, floats):
    """Return (outstanding tasks + 1) times the average, which decays while nothing completes."""
    sent, cost = ints[own_ints(ints) + worker], floats[VALUES_AT + worker]
    return _UNKNOWN if cost == 0.0 and sent > 0 else cost * _kept(worker, ints, floats) * (sent + 1)


def _choose(lengths, ints, floats):
    count = ints[PRESENT]
    if count == 0:
        return -1
    place = below(draw(ints), count)
    best = member(ints, place)
    if count > 1:
        # Another one: the places after the first are moved down by one.
        second = below(draw(ints), count - 1)
        other = member(ints, second + 1 if second >= place else second)
        if _load(other, ints, floats) < _load(best, ints, floats):
            best = other
    ints[own_ints(ints) + best] += 1
    return best


def _completed(worker, work, seconds, own, ints, floats):
    count_return(worker, own, ints)
    if own == 1:
        _observe(worker, seconds, ints, floats)
    return 0


def _changed(kind, worker, rate, ints, floats):
    forget_sent(kind, worker, ints)
    if kind == JOINED:
        floats[VALUES_AT + worker] = 0.0
    change_members(kind, worker, ints)
    return 0


class PeakEwma(CompiledDispatch):
    """Draws two workers and sends the task to the one with less load: average latency times outstanding tasks.

    The load of a worker is (own outstanding tasks + 1) times a moving average of its latencies. A latency above the
    average becomes the average at once; a lower one counts by the time since the last, with a decay time. The average
    also decays while nothing completes, so that a worker is tried again after a slow task. A worker without completions
    gets one task, and no second one before that has ended. No probes are sent.

    A client measures the time to the answer. Here the latency is the time that the worker was busy with the task,
    without the wait in its queue, which the outstanding tasks count already.

    Source: the balancer of Finagle and of Linkerd, "Peak EWMA" with power of two choices.

    Parameters
    ----------
    workers
        Number of workers.
    rng
        Random generator.
    decay
        Decay time of the average, s, above 0. Finagle's is 10 s, for requests of milliseconds.

    Raises
    ------
    InputError
        ``decay`` is out of bounds.

    Examples
    --------
    >>> policy = PeakEwma(2, np.random.default_rng(1))
    >>> for worker, seconds in enumerate((1.0, 0.1)):
    ...     policy.completed(worker, work=1.0, seconds=seconds)
    >>> [policy.choose([0, 0]) for _ in range(3)]
    [1, 1, 1]
    """

    name: ClassVar[str] = "peak-ewma"
    choosing: ClassVar[Kernel] = choosing(_choose)
    completing: ClassVar[Kernel] = completing(_completed)
    changing: ClassVar[Kernel] = changing(_changed)

    def __init__(self, workers: int, rng: np.random.Generator, decay: float = 10.0) -> None:
        self.ints, self.floats = make_state(workers, rng, ints=workers, floats=2 * workers)
        self.floats[_DECAY] = number("decay", decay, 0.0, open_below=True)
        self.ints[LISTENS] = 1

    @property
    def latencies(self) -> np.ndarray:
        """The average latency of each worker when it last completed a task, s; 0 before its first, shape (workers,)."""
        return self.floats[VALUES_AT : VALUES_AT + self.workers].copy()
