"""Proportional sampling and the less loaded of two workers with known rates."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import choosing
from windlass.dispatch.lib.rated import Rated, ready_to_sample, two_by_wait
from windlass.jit import Kernel


def _choose(lengths, ints, floats):
    return two_by_wait(lengths, ints, floats) if ready_to_sample(ints, floats) else -1


class PpotLl(Rated):
    """Draws two workers in proportion to their known rates and sends the task where it is expected to end first.

    Loads count seconds (LL): (queue + 1) / rate. Fast workers are filled until they are as slow as the slow
    ones.

    Source: Rosella, Section IV-B, Example 3.

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
    >>> policy = PpotLl([1.0, 9.0], np.random.default_rng(1))
    >>> sum(policy.choose(np.array([0, 5])) for _ in range(1000)) > 900
    True
    """

    name: ClassVar[str] = "ppot-ll"
    probe_trips: ClassVar[float] = 1.0
    choosing: ClassVar[Kernel] = choosing(_choose)

    def __init__(self, rates: object, rng: np.random.Generator) -> None:
        super().__init__(rates, rng)
