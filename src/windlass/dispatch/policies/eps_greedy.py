"""An ε-greedy bandit."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import choosing
from windlass.dispatch.lib.bandit import CURIOSITY, Bandit
from windlass.dispatch.state import PRESENT, RATES_AT, below, draw, member, unit
from windlass.jit import Kernel
from windlass.model.values import number


def _choose(lengths, ints, floats):
    count = ints[PRESENT]
    if count == 0:
        return -1
    place = below(draw(ints), count)
    best = member(ints, place)
    if unit(draw(ints)) <= floats[CURIOSITY]:
        return best
    rates = ints[RATES_AT]
    least = (lengths[best] + 1) / floats[rates + best]
    for _ in range(1, count):
        place = place + 1 if place + 1 < count else 0
        worker = member(ints, place)
        delay = (lengths[worker] + 1) / floats[rates + worker]
        best, least = (worker, delay) if delay < least else (best, least)
    return best


class EpsGreedy(Bandit):
    """Sends a task to any worker with probability ε, else to the one with the least expected delay by learned rates.

    It reads all queues, which takes one probe per worker for each task; Rosella takes two per task. A bandit that knew
    only rates would send nearly all tasks to the fastest worker.

    Source: Sutton and Barto, "Reinforcement Learning", 2nd ed., Section 2.2; as a baseline, Rosella, Section
    III-B.

    Parameters
    ----------
    workers
        Number of workers.
    rng
        Random generator.
    epsilon
        Share of tasks sent to any worker; 0 to 1.
    memory
        Approximate number of past completions of a worker that count, at least 1.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> policy = EpsGreedy(2, np.random.default_rng(1), epsilon=0.1)
    >>> policy.completed(0, work=1.0, seconds=1.0)
    >>> policy.completed(1, work=1.0, seconds=0.2)
    >>> 900 < sum(policy.choose(np.array([0, 3])) for _ in range(1000)) < 1000
    True
    """

    name: ClassVar[str] = "eps-greedy"
    choosing: ClassVar[Kernel] = choosing(_choose)

    def __init__(
        self, workers: int, rng: np.random.Generator, epsilon: float = 0.05, memory: float = 50.0
    ) -> None:
        super().__init__(workers, rng, memory, curiosity=number("epsilon", epsilon, 0.0, 1.0))
