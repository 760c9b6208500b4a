"""Shortest expected delay (SED)."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import choosing
from windlass.dispatch.lib.rated import Rated, first_to_serve
from windlass.dispatch.state import PRESENT, below, draw, member
from windlass.jit import Kernel


def _choose(lengths, ints, floats):
    count = ints[PRESENT]
    if count == 0:
        return -1
    place = below(draw(ints), count)
    best = member(ints, place)
    for _ in range(1, count):
        place = place + 1 if place + 1 < count else 0
        worker = member(ints, place)
        best = worker if first_to_serve(worker, best, lengths, ints, floats) else best
    return best


class Sed(Rated):
    """Sends each task to the worker where it is expected to end first, knowing all queues and true rates: the oracle.

    The expected delay is (queue + 1) / rate. Ties go to the first from a random place on.

    Source: Banawan and Zahorjan, "Load sharing in heterogeneous queueing systems", INFOCOM 1989.

    Parameters
    ----------
    rates
        (n,) known rates of the workers, work/s; not negative, not all 0.
    rng
        Random generator.

    Raises
    ------
    InputError
        A rate is negative or not a number, or none is above 0.

    Examples
    --------
    >>> Sed([1.0, 4.0], np.random.default_rng(1)).choose(np.array([0, 2]))
    1
    """

    name: ClassVar[str] = "sed"
    choosing: ClassVar[Kernel] = choosing(_choose)

    def __init__(self, rates: object, rng: np.random.Generator) -> None:
        super().__init__(rates, rng)
