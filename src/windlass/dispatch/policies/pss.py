"""Proportional sampling with known rates."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import choosing
from windlass.dispatch.lib.alias import sample
from windlass.dispatch.lib.rated import Rated, ready_to_sample
from windlass.jit import Kernel


def _choose(lengths, ints, floats):
    return sample(ints) if ready_to_sample(ints, floats) else -1


class Pss(Rated):
    """Sends each task to a worker drawn in proportion to its known rate.

    It uses the true rates as they change; ``halo`` uses only the initial ones.

    Source: proportional sampling schedule, Rosella, Section IV-B.

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
    >>> policy = Pss([1.0, 3.0], np.random.default_rng(1))
    >>> round(sum(policy.choose(np.zeros(2, np.int64)) for _ in range(4000)) / 1000)
    3
    """

    name: ClassVar[str] = "pss"
    choosing: ClassVar[Kernel] = choosing(_choose)

    def __init__(self, rates: object, rng: np.random.Generator) -> None:
        super().__init__(rates, rng)
