"""Ties among many tasks and replicas, and daemon threads."""

import math
import threading

import numpy as np

from tests.engines.books import AREA, Quiet
from tests.engines.test_serve_parts import World
from windlass.engines.live.book import LiveBook
from windlass.engines.live.program import LiveProgram
from windlass.engines.streams.part import Passing, SegmentWorker, Task
from windlass.model.fleet import FleetJobs, StageSpec


def test_tasks_of_equal_size_start_in_order():
    jobs = FleetJobs.of([0.0, 0.0], [[StageSpec(2.0, here=(400, 0, 0), task_bytes=10.0)] for _ in range(2)])
    jobs.size[:] = np.random.default_rng(1).integers(1, 4, 800)
    executor = Quiet(AREA)
    book = LiveBook(AREA, jobs, LiveProgram(jobs), executor.workers, "true")
    book.input_site[:] = 0
    for row, first in ((0, 0), (1, 400)):
        tasks = range(first, first + 400)
        assert book.pick(row, 0, 400, False) == list(tasks)
        assert book.pick(row, 0, 400, True) == sorted(tasks, key=lambda task: -jobs.size[task])


def test_replicas_with_equal_expected_waits_are_tried_in_order():
    names = [f"r{at}" for at in range(200)]
    world = World(names)
    world.known(*names)
    world.policy._rates = np.ones(len(names))
    seen = dict(zip(names, np.random.default_rng(1).integers(1, 4, len(names)).tolist(), strict=True))
    world.policy.answer = 7
    rest = [name for name in names if name != "r7"]
    assert world.replicas.rank(seen, {}) == ["r7", *sorted(rest, key=seen.get)]


def test_an_ending_process_does_not_wait_for_an_open_part():
    before = set(threading.enumerate())
    part = SegmentWorker(Task(Passing(1, 0), 1.0, 1, math.inf, source=False, last=False), print)
    made = set(threading.enumerate()) - before
    part.close()
    assert [thread.daemon for thread in made] == [True, True]
    assert not made & set(threading.enumerate())
