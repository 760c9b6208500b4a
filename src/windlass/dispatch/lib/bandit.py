"""What the two bandits share: per worker, work and busy time of past completions, old ones fading."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from windlass.compiled import Kernel, inlined
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
from windlass.model.values import number

#: Places in ``floats``: how much a past completion still counts after the next, and what sets the policy's curiosity.
FADING, CURIOSITY = OWN_FLOAT, OWN_FLOAT + 1
_PER_WORKER = 3


@inlined
def arm(ints, worker):
    """Where in ``floats`` a worker's faded work, seconds and completions are."""
    return ints[RATES_AT] + ints[WORKERS] + _PER_WORKER * worker


def _completed(worker, work, seconds, own, ints, floats):
    place = arm(ints, worker)
    floats[place] = floats[FADING] * floats[place] + work
    floats[place + 1] = floats[FADING] * floats[place + 1] + seconds
    floats[place + 2] = floats[FADING] * floats[place + 2] + 1.0
    if floats[place + 1] > 0.0:
        floats[ints[RATES_AT] + worker] = floats[place] / floats[place + 1]
    return 0


def _changed(kind, worker, rate, ints, floats):
    if kind == JOINED:
        place = arm(ints, worker)
        floats[place] = floats[place + 1] = floats[place + 2] = 0.0
        floats[ints[RATES_AT] + worker] = np.inf
    change_members(kind, worker, ints)
    return 0


class Bandit(CompiledDispatch):
    """Arms are workers, and the loss of one is the expected delay of the task, (queue + 1) / learned rate.

    A worker not tried yet has an infinite rate, so that each is tried once.
    """

    completing: ClassVar[Kernel] = completing(_completed)
    changing: ClassVar[Kernel] = changing(_changed)

    def __init__(self, workers: int, rng: np.random.Generator, curiosity: float, memory: float) -> None:
        self.ints, self.floats = make_state(workers, rng, floats=(1 + _PER_WORKER) * workers)
        self.ints[RATES_AT] = VALUES_AT
        self.ints[LISTENS] = 1
        self.floats[VALUES_AT : VALUES_AT + workers] = np.inf
        self.floats[FADING] = 1.0 - 1.0 / number("memory", memory, 1.0)
        self.floats[CURIOSITY] = curiosity
