"""Workers in turn (round robin)."""

from typing import ClassVar

from windlass.dispatch.compiled import CompiledDispatch, choosing
from windlass.dispatch.state import OWN_INT, WORKERS, is_present, make_state
from windlass.jit import Kernel

_NEXT = OWN_INT


def _choose(lengths, ints, floats):
    count = ints[WORKERS]
    worker = ints[_NEXT]
    for _ in range(count):
        following = worker + 1 if worker + 1 < count else 0
        if is_present(ints, worker):
            ints[_NEXT] = following
            return worker
        worker = following
    return -1


class RoundRobin(CompiledDispatch):
    """Sends tasks to the workers in turn, skipping those that have left.

    Source: folklore.

    Parameters
    ----------
    workers
        Number of workers.

    Examples
    --------
    >>> policy = RoundRobin(3)
    >>> policy.left(1)
    >>> [policy.choose([0, 0, 0]) for _ in range(4)]
    [0, 2, 0, 2]
    """

    name: ClassVar[str] = "round-robin"
    choosing: ClassVar[Kernel] = choosing(_choose)

    def __init__(self, workers: int) -> None:
        self.ints, self.floats = make_state(workers, None)
