"""Join the fastest idle queue (JFIQ), with learned rates."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import choosing
from windlass.dispatch.lib.bandit import Bandit
from windlass.dispatch.state import PRESENT, RATES_AT, below, draw, member
from windlass.jit import Kernel


def _choose(lengths, ints, floats):
    count = ints[PRESENT]
    if count == 0:
        return -1
    rates = ints[RATES_AT]
    place = below(draw(ints), count)
    best = member(ints, place)
    for _ in range(1, count):
        place = place + 1 if place + 1 < count else 0
        worker = member(ints, place)
        faster = lengths[best] > 0 or floats[rates + worker] > floats[rates + best]
        best = worker if lengths[worker] == 0 and faster else best
    return best


class FastestIdle(Bandit):
    """Sends each task to the fastest idle worker by learned rates; if none is idle, to any worker.

    A worker without completions counts as the fastest. Queues of busy workers do not matter, so it needs no probes if
    idle workers report themselves.

    Source: Weng, Zhou and Srikant, "Optimal load balancing with locality constraints", POMACS 4(3), 2020; rates are
    assumed known there.

    Parameters
    ----------
    workers
        Number of workers.
    rng
        Random generator.
    memory
        Approximate number of past completions of a worker that count, at least 1.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> policy = FastestIdle(3, np.random.default_rng(1))
    >>> for worker, seconds in enumerate((1.0, 0.5, 0.2)):
    ...     policy.completed(worker, work=1.0, seconds=seconds)
    >>> policy.choose(np.array([0, 0, 0])), policy.choose(np.array([0, 0, 1]))
    (2, 1)
    """

    name: ClassVar[str] = "fastest-idle"
    choosing: ClassVar[Kernel] = choosing(_choose)

    def __init__(self, workers: int, rng: np.random.Generator, memory: float = 50.0) -> None:
        super().__init__(workers, rng, memory)
