"""A bandit with upper confidence bounds (UCB)."""

import math
from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import choosing
from windlass.dispatch.lib.bandit import COMPLETIONS, CURIOSITY, Bandit, arm
from windlass.dispatch.state import ARRIVED, PRESENT, RATES_AT, below, draw, member
from windlass.jit import Kernel
from windlass.model.values import number


def _choose(lengths, ints, floats):
    count = ints[PRESENT]
    if count == 0:
        return -1
    place = below(draw(ints), count)
    rates = ints[RATES_AT]
    doubt = floats[CURIOSITY] * math.sqrt(math.log(max(ints[ARRIVED], 2)))
    best, least = member(ints, place), np.inf
    for _ in range(count):
        worker = member(ints, place)
        # The bound is relative, because the spread of a mean time grows with the mean.
        completions = max(floats[arm(ints, worker) + COMPLETIONS], 1.0)
        hoped = floats[rates + worker] * (1.0 + doubt / math.sqrt(completions))
        delay = (lengths[worker] + 1) / hoped
        best, least = (worker, delay) if delay < least else (best, least)
        place = place + 1 if place + 1 < count else 0
    return best


class Ucb(Bandit):
    """Sends each task where its delay is least by discounted upper confidence bounds of the rates.

    It reads all queues, like ``eps-greedy``. The bound of a rate is μ̂ (1 + c √(log t / N)), where N is the
    worker's number of completions, faded, and t the number of tasks so far.

    Source: Garivier and Moulines, "On upper-confidence bound policies for switching bandit problems", ALT 2011; as a
    baseline, Rosella, Section III-B.

    Parameters
    ----------
    workers
        Number of workers.
    rng
        Random generator.
    confidence
        c, at least 0.
    memory
        Approximate number of past completions of a worker that count, at least 1.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> policy = Ucb(2, np.random.default_rng(1))
    >>> policy.completed(0, work=1.0, seconds=1.0)
    >>> policy.completed(1, work=1.0, seconds=0.2)
    >>> policy.choose(np.array([0, 3]))
    1
    """

    name: ClassVar[str] = "ucb"
    choosing: ClassVar[Kernel] = choosing(_choose)

    def __init__(
        self, workers: int, rng: np.random.Generator, confidence: float = 0.1, memory: float = 50.0
    ) -> None:
        super().__init__(workers, rng, memory, curiosity=number("confidence", confidence, 0.0))
