"""The base of policies that learn rates with exponential forgetting: bandits, and balancers with learned weights.

Places in addition to those of :mod:`windlass.dispatch.state`:

=============  =====  ================================================  ==========  =============
in ``floats``  place  what it is                                        written by  read by
=============  =====  ================================================  ==========  =============
``FADING``     3      weight of a past completion after the next one    its class   ``completed``
``CURIOSITY``  4      chance of any worker, or weight of uncertainty    its class   ``choose``
=============  =====  ================================================  ==========  =============

=================  =====  ====================  =============  =============
at an :func:`arm`  place  what it is            written by     read by
=================  =====  ====================  =============  =============
``WORK``           0      work done, faded      ``completed``  ``completed``
``SECONDS``        1      busy time, faded, s   ``completed``  ``completed``
``COMPLETIONS``    2      completions, faded    ``completed``  ucb
``PER_WORKER``     3      numbers per worker
=================  =====  ====================  =============  =============

Lists in ``floats``: n rates, work/s, infinite until known; then n arms.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from windlass.dispatch.compiled import CompiledDispatch, changing, completing
from windlass.dispatch.state import (
    JOINED,
    LISTENS,
    OWN_FLOAT,
    RATES_AT,
    VALUES_AT,
    WORKERS,
    change_members,
    make_state,
)
from windlass.jit import Kernel, inlined
from windlass.model.values import number

FADING, CURIOSITY = OWN_FLOAT, OWN_FLOAT + 1
WORK, SECONDS, COMPLETIONS, PER_WORKER = range(4)


@inlined
def arm(ints, worker):
    """Return where a worker's faded work, seconds and completions are in ``floats``."""
    return ints[RATES_AT] + ints[WORKERS] + PER_WORKER * worker


@inlined
def take_completion(worker, work, seconds, ints, floats):
    """Count a completion, and update the worker's rate."""
    place = arm(ints, worker)
    floats[place + WORK] = floats[FADING] * floats[place + WORK] + work
    floats[place + SECONDS] = floats[FADING] * floats[place + SECONDS] + seconds
    floats[place + COMPLETIONS] = floats[FADING] * floats[place + COMPLETIONS] + 1.0
    if floats[place + SECONDS] > 0.0:
        floats[ints[RATES_AT] + worker] = floats[place + WORK] / floats[place + SECONDS]


@inlined
def take_change(kind, worker, ints, floats):
    """Record that a worker left or joined; a worker that joins is unknown again."""
    if kind == JOINED:
        place = arm(ints, worker)
        floats[place + WORK] = floats[place + SECONDS] = floats[place + COMPLETIONS] = 0.0
        floats[ints[RATES_AT] + worker] = np.inf
    change_members(kind, worker, ints)


def _completed(worker, work, seconds, own, ints, floats):
    take_completion(worker, work, seconds, ints, floats)
    return 0


def _changed(kind, worker, rate, ints, floats):
    take_change(kind, worker, ints, floats)
    return 0


class Bandit(CompiledDispatch):
    """A bandit over workers; the loss of a worker is the expected delay of the task, (queue + 1) / learned rate.

    A worker without completions has an infinite rate, so each worker is tried once.
    """

    completing: ClassVar[Kernel] = completing(_completed)
    changing: ClassVar[Kernel] = changing(_changed)

    def __init__(
        self,
        workers: int,
        rng: np.random.Generator,
        memory: float,
        *,
        curiosity: float = 0.0,
        ints: int = 0,
    ) -> None:
        self.ints, self.floats = make_state(workers, rng, ints=ints, floats=(1 + PER_WORKER) * workers)
        self.ints[RATES_AT] = VALUES_AT
        self.ints[LISTENS] = 1
        self.floats[VALUES_AT : VALUES_AT + workers] = np.inf
        self.floats[FADING] = 1.0 - 1.0 / number("memory", memory, 1.0)
        self.floats[CURIOSITY] = curiosity
