"""Power of two choices."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import CompiledDispatch, choosing
from windlass.dispatch.state import PRESENT, below, draw, make_state, member
from windlass.jit import Kernel


def _choose(lengths, ints, floats):
    if ints[PRESENT] == 0:
        return -1
    first = member(ints, below(draw(ints), ints[PRESENT]))
    second = member(ints, below(draw(ints), ints[PRESENT]))
    return second if lengths[second] < lengths[first] else first


class Pot(CompiledDispatch):
    """Draws two workers uniformly and sends the task to the shorter queue, on a tie to the worker drawn first.

    The two draws may be the same worker, which then gets the task.

    Source: Mitzenmacher, "The power of two choices in randomized load balancing", IEEE TPDS 12(10), 2001.

    Parameters
    ----------
    workers
        Number of workers.
    rng
        Random generator.

    Examples
    --------
    >>> policy = Pot(2, np.random.default_rng(1))
    >>> sum(policy.choose(np.array([5, 0])) for _ in range(1000)) > 700
    True
    """

    name: ClassVar[str] = "pot"
    probe_trips: ClassVar[float] = 1.0
    choosing: ClassVar[Kernel] = choosing(_choose)

    def __init__(self, workers: int, rng: np.random.Generator) -> None:
        self.ints, self.floats = make_state(workers, rng)
