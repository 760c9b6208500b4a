"""The least loaded of d sampled workers, LL(d), with learned rates."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import choosing
from windlass.dispatch.lib.bandit import Bandit
from windlass.dispatch.lib.rated import first_to_serve
from windlass.dispatch.state import OWN_INT, PRESENT, below, draw, member
from windlass.jit import Kernel
from windlass.model.values import whole

_PROBES = OWN_INT


def _choose(lengths, ints, floats):
    count = ints[PRESENT]
    if count == 0:
        return -1
    best = member(ints, below(draw(ints), count))
    for _ in range(1, ints[_PROBES]):
        worker = member(ints, below(draw(ints), count))
        if first_to_serve(worker, best, lengths, ints, floats):
            best = worker
    return best


class Ll(Bandit):
    """Draws workers uniformly and sends the task where it is expected to end first by learned rates.

    The load of a worker is (queue + 1) / rate. The draws are with replacement; on a tie, the worker drawn first gets
    the task. A worker without completions counts as infinitely fast.

    Source: LL(d) in Hellemans and Van Houdt, "On the power-of-d-choices with least loaded server selection", POMACS
    2(2), 2018.

    Parameters
    ----------
    workers
        Number of workers.
    rng
        Random generator.
    probes
        Workers drawn per task, at least 1.
    memory
        Approximate number of past completions of a worker that count, at least 1.

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> policy = Ll(2, np.random.default_rng(1), probes=8)
    >>> policy.completed(0, work=1.0, seconds=1.0)
    >>> policy.completed(1, work=1.0, seconds=0.2)
    >>> 900 < sum(policy.choose(np.array([0, 3])) for _ in range(1000)) <= 1000
    True
    """

    name: ClassVar[str] = "ll"
    probe_trips: ClassVar[float] = 1.0
    choosing: ClassVar[Kernel] = choosing(_choose)

    def __init__(self, workers: int, rng: np.random.Generator, probes: int = 2, memory: float = 50.0) -> None:
        super().__init__(workers, rng, memory)
        self.ints[_PROBES] = whole("probes", probes, 1)
