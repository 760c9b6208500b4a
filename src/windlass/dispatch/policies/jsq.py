"""Join the shortest queue (JSQ)."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import CompiledDispatch, choosing
from windlass.dispatch.state import PRESENT, below, draw, make_state, member
from windlass.jit import Kernel


def _choose(lengths, ints, floats):
    count = ints[PRESENT]
    if count == 0:
        return -1
    # Start at a random place, so that ties do not all go to the first worker.
    place = below(draw(ints), count)
    best = member(ints, place)
    for _ in range(1, count):
        place = place + 1 if place + 1 < count else 0
        worker = member(ints, place)
        best = worker if lengths[worker] < lengths[best] else best
    return best


class Jsq(CompiledDispatch):
    """Sends each task to the worker with the shortest of all queues.

    It reads every queue for every task, and ignores rates. Ties go to the first of the shortest queues from a
    random place on.

    Source: Winston, "Optimality of the shortest line discipline", J. Applied Probability 14(1), 1977.

    Parameters
    ----------
    workers
        Number of workers.
    rng
        Random generator.

    Examples
    --------
    >>> Jsq(3, np.random.default_rng(1)).choose(np.array([2, 1, 3]))
    1
    """

    name: ClassVar[str] = "jsq"
    choosing: ClassVar[Kernel] = choosing(_choose)

    def __init__(self, workers: int, rng: np.random.Generator) -> None:
        self.ints, self.floats = make_state(workers, rng)
