"""Fewest outstanding requests."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import CompiledDispatch, changing, choosing, completing
from windlass.dispatch.lib.outstanding import count_return, forget_sent
from windlass.dispatch.state import (
    LISTENS,
    PRESENT,
    below,
    change_members,
    draw,
    make_state,
    member,
    own_ints,
)
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
        best = worker if ints[sent + worker] < ints[sent + best] else best
    ints[sent + best] += 1
    return best


def _completed(worker, work, seconds, own, ints, floats):
    count_return(worker, own, ints)
    return 0


def _changed(kind, worker, rate, ints, floats):
    forget_sent(kind, worker, ints)
    change_members(kind, worker, ints)
    return 0


class LeastOutstanding(CompiledDispatch):
    """Sends each task to the worker with the fewest tasks that this scheduler sent and that have not returned.

    It sends no probes: with one scheduler and no delay it equals ``jsq``, with several each sees only its own
    tasks.

    Source: the ``least_conn`` family of load balancers (NGINX, HAProxy, Envoy's LEAST_REQUEST over all hosts).

    Parameters
    ----------
    workers
        Number of workers.
    rng
        Random generator.

    Examples
    --------
    >>> policy = LeastOutstanding(2, np.random.default_rng(1))
    >>> sorted(policy.choose([0, 0]) for _ in range(2))
    [0, 1]
    >>> policy.completed(1, work=1.0, seconds=0.5)
    >>> policy.choose([0, 0])
    1
    """

    name: ClassVar[str] = "least-outstanding"
    choosing: ClassVar[Kernel] = choosing(_choose)
    completing: ClassVar[Kernel] = completing(_completed)
    changing: ClassVar[Kernel] = changing(_changed)

    def __init__(self, workers: int, rng: np.random.Generator) -> None:
        self.ints, self.floats = make_state(workers, rng, ints=workers)
        self.ints[LISTENS] = 1
