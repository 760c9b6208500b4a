"""Join the idle queue (JIQ)."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import CompiledDispatch, choosing
from windlass.dispatch.state import PRESENT, below, draw, make_state, member
from windlass.jit import Kernel


def _choose(lengths, ints, floats):
    count = ints[PRESENT]
    if count == 0:
        return -1
    idle = 0
    for place in range(count):
        idle += lengths[member(ints, place)] == 0
    bits = draw(ints)
    if idle == 0:
        return member(ints, below(bits, count))
    left = below(bits, idle)
    for place in range(count):
        worker = member(ints, place)
        if lengths[worker] == 0:
            if left == 0:
                return worker
            left -= 1
    return -1


class Jiq(CompiledDispatch):
    """Sends each task to an idle worker, drawn uniformly; if none is idle, to any worker.

    In practice, idle workers report themselves, so that no probe precedes a task. Here it reads the queue lengths,
    which are as fresh as the scenario makes them. It ignores rates.

    Source: Lu, Xie, Kliot, Geller, Larus and Greenberg, "Join-Idle-Queue: a novel load balancing algorithm for
    dynamically scalable web services", Performance Evaluation 68(11), 2011.

    Parameters
    ----------
    workers
        Number of workers.
    rng
        Random generator.

    Examples
    --------
    >>> policy = Jiq(3, np.random.default_rng(1))
    >>> {policy.choose(np.array([2, 0, 0])) for _ in range(100)} == {1, 2}
    True
    """

    name: ClassVar[str] = "jiq"
    choosing: ClassVar[Kernel] = choosing(_choose)

    def __init__(self, workers: int, rng: np.random.Generator) -> None:
        self.ints, self.floats = make_state(workers, rng)
