"""Join the shortest queue."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import CompiledDispatch, choosing
from windlass.dispatch.state import PRESENT, below, draw, make_state, member
from windlass.jit import Kernel


def _choose(lengths, ints, floats):
    count = ints[PRESENT]
    if count == 0:
        return -1
    # From a random place on, so that ties do not all go to the first worker.
    place = below(draw(ints), count)
    best = member(ints, place)
    for _ in range(1, count):
        place = place + 1 if place + 1 < count else 0
        worker = member(ints, place)
        best = worker if lengths[worker] < lengths[best] else best
    return best


class Jsq(CompiledDispatch):
    """Each task to the shortest of all queues.

    It asks every worker for every task, and does not know who is fast. Among equally short queues it takes the
    first from a random place on.

    Source: Winston, "Optimality of the shortest line discipline", J. Applied Probability 14(1), 1977.

    Parameters
    ----------
    workers
        How many there are.
    rng
        Where chance comes from.

    Examples
    --------
    >>> Jsq(3, np.random.default_rng(1)).choose(np.array([2, 1, 3]))
    1
    """

    name: ClassVar[str] = "jsq"
    choosing: ClassVar[Kernel] = choosing(_choose)

    def __init__(self, workers: int, rng: np.random.Generator) -> None:
        self.ints, self.floats = make_state(workers, rng)
