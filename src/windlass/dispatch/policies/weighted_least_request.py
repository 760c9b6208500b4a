"""Weighted least request."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import changing, choosing, completing
from windlass.dispatch.lib.bandit import Bandit, take_change, take_completion
from windlass.dispatch.lib.outstanding import count_return, forget_sent
from windlass.dispatch.lib.rated import sooner
from windlass.dispatch.state import PRESENT, RATES_AT, below, draw, member, own_ints
from windlass.jit import Kernel


def _choose(lengths, ints, floats):
    count = ints[PRESENT]
    if count == 0:
        return -1
    sent = own_ints(ints)
    place = below(draw(ints), count)
    best = member(ints, place)
    for _ in range(1, count):
        place = place + 1 if place + 1 < count else 0
        worker = member(ints, place)
        if sooner(worker, ints[sent + worker], best, ints[sent + best], ints[RATES_AT], floats):
            best = worker
    ints[sent + best] += 1
    return best


def _completed(worker, work, seconds, own, ints, floats):
    count_return(worker, own, ints)
    take_completion(worker, work, seconds, ints, floats)
    return 0


def _changed(kind, worker, rate, ints, floats):
    forget_sent(kind, worker, ints)
    take_change(kind, worker, ints, floats)
    return 0


class WeightedLeastRequest(Bandit):
    """Sends each task to the worker with the fewest outstanding tasks of this scheduler per learned rate.

    It minimises (outstanding + 1) / rate over all workers, and sends no probes. A load balancer takes the weights from
    its configuration; here they are the learned rates, which an operator would otherwise have to measure. A worker
    without completions counts as infinitely fast.

    Source: the weighted ``least_conn`` of NGINX and ``leastconn`` of HAProxy; Envoy's LEAST_REQUEST with weights.

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
    >>> policy = WeightedLeastRequest(2, np.random.default_rng(1))
    >>> policy.completed(0, work=1.0, seconds=1.0)
    >>> policy.completed(1, work=1.0, seconds=0.25)
    >>> [policy.choose([0, 0]) for _ in range(5)].count(1) in (3, 4)
    True
    """

    name: ClassVar[str] = "weighted-least-request"
    choosing: ClassVar[Kernel] = choosing(_choose)
    completing: ClassVar[Kernel] = completing(_completed)
    changing: ClassVar[Kernel] = changing(_changed)

    def __init__(self, workers: int, rng: np.random.Generator, memory: float = 50.0) -> None:
        super().__init__(workers, rng, memory, ints=workers)
