"""With times in half seconds nearly all events tie; their order equals the plain world."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from naive import Naive
from test_decentralised import SEED, Chance
from test_oracle import make

from windlass.dispatch import simulate
from windlass.dispatch.state import COPIES
from windlass.model.timetable import FAIL, RETURN, SET_SPEED, WorkerTimetable
from windlass.sim.workers import log, setup

#: Work over these is exact.
_SPEEDS = (0.0, 0.5, 1.0, 1.0, 2.0, 4.0)
_NAMES = ("jsq", "pot", "sed", "ppot", "least-outstanding", "eps-greedy", "sparrow", "rosella", "pull")


def drawn_timetable(rng, workers, until):
    """Speeds, failures and returns, some of them of workers that are down or up already; all go on in the end."""
    count = int(rng.integers(0, 16))
    kinds = rng.choice([SET_SPEED, FAIL, RETURN], count)
    times, values = rng.integers(0, 2 * until, count) / 2, rng.choice(_SPEEDS, count)
    last = WorkerTimetable.speeds(
        np.full(workers, until), np.arange(workers), rng.choice(_SPEEDS[1:], workers)
    )
    back = np.arange(workers)
    for_all = WorkerTimetable(np.full(workers, until), np.full(workers, RETURN), back, np.zeros(workers))
    return WorkerTimetable(times, kinds, rng.integers(0, workers, count), values) + last + for_all


@pytest.mark.matrix
@pytest.mark.parametrize("name", _NAMES)
@pytest.mark.parametrize("seed", range(8))
def test_ties_are_broken_as_in_the_plain_world(name, seed, monkeypatch):
    rng = np.random.default_rng([seed, _NAMES.index(name)])
    workers, per_job = int(rng.integers(1, 6)), int(rng.choice([1, 1, 3]))
    jobs, schedulers = 40, int(rng.choice([1, 1, 2, 3]))
    delay, lane = float(rng.choice([0.0, 0.5, 4.0])), int(rng.choice([1, 2, 8]))
    speeds = rng.choice(_SPEEDS, workers)
    speeds[rng.integers(workers)] = 2.0
    submit = np.cumsum(rng.choice([0.0, 0.0, 0.5, 1.0, 3.0], jobs))
    work = rng.choice([0.5, 1.0, 2.0, 4.0], jobs * per_job)
    timetable = drawn_timetable(rng, workers, int(submit[-1]) + 4)
    known = bool(rng.integers(2))
    # Few entries, so that the log grows repeatedly.
    monkeypatch.setattr(setup, "_FIRST_LOG", log._ROOM + 1)
    policy = make(name, speeds)
    done = simulate(
        policy,
        speeds,
        tasks=len(work),
        seed=SEED,
        arrivals=submit,
        service=work,
        tasks_per_job=per_job,
        timetable=timetable,
        schedulers=schedulers,
        probe_delay=delay,
        sizes_known=known,
        lane=lane,
        samples=15,
        record=True,
    )
    chance = Chance(policy, schedulers, submit, work, per_job)
    several = [copy.deepcopy(policy) for _ in range(schedulers)]
    for each, ints, floats in zip(several, chance.ints, chance.floats, strict=True):
        each.ints, each.floats, each.copies = ints, floats, int(ints[COPIES])
    submit = np.repeat(submit, per_job)
    Naive(several, speeds, submit, work, timetable, per_job, chance.sender, delay, known, lane).check(done)
