"""Uniformly random workers."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import CompiledDispatch, choosing
from windlass.dispatch.state import PRESENT, below, draw, make_state, member
from windlass.jit import Kernel


def _choose(lengths, ints, floats):
    if ints[PRESENT] == 0:
        return -1
    return member(ints, below(draw(ints), ints[PRESENT]))


class Uniform(CompiledDispatch):
    """Sends each task to a worker drawn uniformly at random.

    Source: the uniform algorithm, Rosella, Section III-A.

    Parameters
    ----------
    workers
        Number of workers.
    rng
        Random generator.

    Examples
    --------
    >>> policy = Uniform(4, np.random.default_rng(1))
    >>> [policy.choose(np.zeros(4, np.int64)) for _ in range(6)]
    [0, 0, 2, 1, 2, 3]
    """

    name: ClassVar[str] = "uniform"
    choosing: ClassVar[Kernel] = choosing(_choose)

    def __init__(self, workers: int, rng: np.random.Generator) -> None:
        self.ints, self.floats = make_state(workers, rng)
