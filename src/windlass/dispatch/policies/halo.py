"""Proportional sampling with initial rates."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import CompiledDispatch, choosing
from windlass.dispatch.lib.alias import sample
from windlass.dispatch.lib.rated import Rated, ready_to_sample
from windlass.jit import Kernel


def _choose(lengths, ints, floats):
    return sample(ints) if ready_to_sample(ints, floats) else -1


class Halo(Rated):
    """Sends each task to a worker drawn in proportion to its initial rate, which is never updated.

    Source: Gandhi, Zhang and Mittal, "HALO: heterogeneity-aware load balancing", MASCOTS 2015, as described
    by Rosella, Section III-A. HALO also computes shares that minimise the mean response time; this is its
    proportional form.

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
    >>> policy = Halo([1.0, 3.0], np.random.default_rng(1))
    >>> policy.set_rate(0, 30.0)
    >>> round(sum(policy.choose(np.zeros(2, np.int64)) for _ in range(4000)) / 1000)
    3
    """

    name: ClassVar[str] = "halo"
    choosing: ClassVar[Kernel] = choosing(_choose)
    changing: ClassVar[Kernel] = CompiledDispatch.changing
    follows: ClassVar[bool] = False

    def __init__(self, rates: object, rng: np.random.Generator) -> None:
        super().__init__(rates, rng)
