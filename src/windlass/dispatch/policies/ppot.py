"""Proportional sampling and power of two choices with known rates."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import choosing
from windlass.dispatch.lib.rated import Rated, ready_to_sample, two_by_queue
from windlass.jit import Kernel


def _choose(lengths, ints, floats):
    return two_by_queue(lengths, ints) if ready_to_sample(ints, floats) else -1


class Ppot(Rated):
    """Draws two workers in proportion to their known rates and sends the task to the shorter queue.

    Queues count tasks, not seconds (SQ), so a fast worker is not filled until it is as slow as a slow one.
    The two draws may be the same worker, which then gets the task; on a tie the first gets it.

    Source: Rosella, Section IV-B and Figure 3.

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
    >>> policy = Ppot([1.0, 1.0, 2.0], np.random.default_rng(1))
    >>> counts = np.bincount([policy.choose(np.zeros(3, np.int64)) for _ in range(4000)])
    >>> (counts / 1000).round().tolist()
    [1.0, 1.0, 2.0]
    """

    name: ClassVar[str] = "ppot"
    probe_trips: ClassVar[float] = 1.0
    choosing: ClassVar[Kernel] = choosing(_choose)

    def __init__(self, rates: object, rng: np.random.Generator) -> None:
        super().__init__(rates, rng)
