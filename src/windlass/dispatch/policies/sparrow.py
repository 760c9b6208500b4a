"""Batch sampling with late binding (Sparrow)."""

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import CompiledDispatch, choosing
from windlass.dispatch.state import (
    COPIES,
    MEMBERS_AT,
    NOW,
    OWN_FLOAT,
    OWN_INT,
    PRESENT,
    WORKERS,
    below,
    draw,
    make_state,
)
from windlass.jit import Kernel
from windlass.model.values import whole

_DRAWN, _JOB_AT = OWN_INT, OWN_FLOAT


def _choose(lengths, ints, floats):
    count = ints[PRESENT]
    if count == 0:
        return -1
    # Tasks that arrive at one instant form a job: its probes are sent to distinct workers until all have one.
    if floats[_JOB_AT] != floats[NOW] or ints[_DRAWN] >= count:
        floats[_JOB_AT] = floats[NOW]
        ints[_DRAWN] = 0
    drawn = ints[_DRAWN]
    place = drawn + below(draw(ints), count - drawn)
    ints[_DRAWN] = drawn + 1
    # One step of the Fisher-Yates shuffle, on the list of present workers.
    worker, other = ints[MEMBERS_AT + place], ints[MEMBERS_AT + drawn]
    ints[MEMBERS_AT + place], ints[MEMBERS_AT + drawn] = other, worker
    places = MEMBERS_AT + ints[WORKERS]
    ints[places + other], ints[places + worker] = place, drawn
    return worker


class Sparrow(CompiledDispatch):
    """Places reservations on d workers per task; the first worker to reach one takes a task of the job.

    For a job of m tasks the engine calls ``choose`` d·m times, each time for the place of a reservation, and
    gets distinct workers as long as there are any left. A worker that reaches a reservation takes the job's
    next task, or drops the reservation if none is left. An engine without reservations may call it once per
    task: the worker is then random. The simulator has the time that reservations take to arrive
    (``probe_trip``) and the round trip in which a worker fetches its task (``fetch_delay``).

    Source: Ousterhout, Wendell, Zaharia and Stoica, "Sparrow: distributed, low latency scheduling", SOSP 2013.

    Parameters
    ----------
    workers
        Number of workers.
    rng
        Random generator.
    probes
        Reservations per task (d).

    Raises
    ------
    InputError
        A parameter is out of bounds.

    Examples
    --------
    >>> policy = Sparrow(4, np.random.default_rng(1))
    >>> policy.arrived(1.0)
    >>> sorted(policy.choose(np.zeros(4, np.int64)) for _ in range(4))
    [0, 1, 2, 3]
    """

    name: ClassVar[str] = "sparrow"
    probe_trips: ClassVar[float] = 0.5
    choosing: ClassVar[Kernel] = choosing(_choose)

    def __init__(self, workers: int, rng: np.random.Generator, probes: int = 2) -> None:
        self.ints, self.floats = make_state(workers, rng)
        self.ints[COPIES] = whole("probes", probes, 1)
        self.floats[_JOB_AT] = -1.0
