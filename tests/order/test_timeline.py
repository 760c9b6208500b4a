"""The blocked timeline of idle processors, compared with a plain list of steps."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from benchmarks.peers_order import ListedConservative, Profile, earliest, take
from hypothesis import example, given
from hypothesis import strategies as st

from tests.oracles.workloads import CHECK, busy
from windlass.experiment.workloads import lublin
from windlass.model import JobTable
from windlass.model.pools import Pools
from windlass.order.site.lib.floors import earliest_above, lower_floors, make_floors
from windlass.order.site.lib.sorting import sorted_places
from windlass.order.site.lib.timeline import (
    ROOM,
    Timeline,
    append_step,
    earliest_before,
    end_of,
    is_covered,
    make_timeline,
    take_from,
)
from windlass.order.site.policies.conservative import Conservative
from windlass.order.site.policies.queue import Queue
from windlass.sim import replay

PROCESSORS = 9
#: Start, processors, duration; as many as fill a few blocks.
takes = st.tuples(st.integers(0, 90), st.integers(-2, 3), st.integers(0, 130))
times = st.one_of(st.integers(0, 130), st.just(math.inf))
requests = st.tuples(st.integers(1, PROCESSORS), st.integers(0, 60), times, times)


def both(many: list[tuple[int, int, int]], steps: int) -> tuple[Timeline, Profile]:
    """The same processors taken from a timeline with `steps` initial steps, and from a profile."""
    line, room = make_timeline(steps, 2 * len(many)), 2 * len(many) + steps
    profile = Profile(np.empty(room), np.empty(room, np.int64), np.array([steps]))
    for step in range(steps):
        # Always at least 1: a minimum of 0 would be right by chance in an unset block.
        free = 1 + (5 * step) % PROCESSORS
        append_step(line, 2.0 * step, free)
        profile.times[step], profile.free[step] = 2.0 * step, free
    for start, procs, seconds in many:
        take_from(line, procs, float(start), end_of(float(start), float(seconds)))
        take(profile, procs, float(start), float(seconds))
    return line, profile


def steps_of(line: Timeline) -> tuple[list[float], list[int]]:
    """All its steps."""
    blocks = line.order[: line.blocks[0]]
    times = [line.times[block, : line.used[block]].tolist() for block in blocks]
    free = [(line.free[block, : line.used[block]] + line.shift[block]).tolist() for block in blocks]
    for block, values in zip(blocks, free, strict=True):
        assert (line.most[block], line.least[block]) == (max(values), min(values))
    return list(itertools.chain(*times)), list(itertools.chain(*free))


def first_fit(profile: Profile, procs: int, seconds: float, before: float, limit: float = math.inf) -> float:
    """What is free from ``before`` on does not count against a job, which starts before ``limit``."""
    steps = int(profile.steps[0])
    times, free = profile.times[:steps].tolist(), profile.free[:steps].tolist()
    for start in times:
        until = max(start + seconds, math.nextafter(start, math.inf))
        if start < min(before, limit) and all(
            has >= procs for at, has in zip(times, free, strict=True) if start <= at < min(until, before)
        ):
            return float(start)
    return before


@pytest.mark.matrix(0)
@CHECK
@given(
    many=st.lists(takes, max_size=3 * ROOM),
    steps=st.integers(1, 2 * ROOM),
    jobs=st.lists(requests, max_size=6),
)
@example(many=[], steps=8, jobs=[(5, 10, 4, math.inf)])
@example(many=[(0, 1, 130), (1, 2, 90)], steps=2 * ROOM, jobs=[(8, 2, math.inf, math.inf)])
@example(many=[(7, 1, 0)] * 3 + [(7, 2, 9)], steps=1, jobs=[(1, 0, math.inf, 9)])
@example(many=[(0, 3, 130)] * 3 + [(0, 0, 30)], steps=2 * ROOM, jobs=[])
def test_a_timeline_equals_a_list_of_steps(
    many: list[tuple[int, int, int]], steps: int, jobs: list[tuple[int, int, float, float]]
) -> None:
    line, profile = both(many, steps)
    count = int(profile.steps[0])
    assert steps_of(line) == (profile.times[:count].tolist(), profile.free[:count].tolist())
    listed = list(zip(profile.times[:count].tolist(), profile.free[:count].tolist(), strict=True))
    for start, _, seconds in many:
        end = end_of(float(start), float(seconds))
        covered = all(has >= 0 for at, has in listed if start <= at < end)
        assert is_covered(line, float(start), end) == covered
    for procs, seconds, before, limit in jobs:
        found = earliest_before(line, procs, float(seconds), float(before), float(limit))
        assert found == first_fit(profile, procs, float(seconds), before, limit)
        if before == limit == math.inf:
            assert found == earliest(profile, procs, float(seconds))


@pytest.mark.matrix(0)
@pytest.mark.parametrize("kill", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_long_queues_start_as_with_a_list_of_steps(seed: int, kill: bool) -> None:
    case = busy(seed, jobs=2000 if kill else 400, processors=24, whole=seed != 1)
    ours, listed = (replay(*case, policy, kill=kill) for policy in (Conservative(), ListedConservative()))
    assert ours.start.tolist() == listed.start.tolist()
    assert ours.why.tolist() == listed.why.tolist()


def at_once(seed: int, jobs: int, processors: int) -> JobTable:
    """Jobs of which most arrive together, so that all the others wait."""
    rng = np.random.default_rng([7, seed])
    submit = np.sort(np.where(rng.random(jobs) < 0.9, 0, rng.integers(0, 2000, jobs))).astype(np.float64)
    request = np.where(
        rng.random(jobs) < 0.5, rng.choice([0.0, 60.0, 3600.0], jobs), rng.exponential(900.0, jobs)
    )
    run = request * rng.choice([0.1, 0.5, 1.0, 1.1], jobs)
    procs = np.minimum(rng.geometric(0.2, jobs), processors)
    return JobTable.of(submit=submit, run=run, procs=procs, request=request)


@pytest.mark.matrix(0)
@pytest.mark.parametrize("kill", [True, False])
def test_more_jobs_than_need_floors_start_as_with_a_list_of_steps(kill: bool) -> None:
    jobs = at_once(1, 700 if kill else 550, 24)
    ours, listed = (replay(jobs, 24, policy, kill=kill) for policy in (Conservative(), ListedConservative()))
    assert int((ours.start > jobs.submit.max()).sum()) > (512 if kill else 0)
    assert ours.start.tolist() == listed.start.tolist()
    assert ours.why.tolist() == listed.why.tolist()


@pytest.mark.matrix(0)
@pytest.mark.parametrize("kill", [True, False])
def test_floors_do_not_change_a_queue_with_a_priority(kill: bool) -> None:
    """Jobs that request more than processors are reserved for on a plain profile, even if there is enough of it."""
    jobs = at_once(2, 650 if kill else 550, 24)
    plenty = Pools.of(("GPUs",), [1], np.zeros((1, len(jobs)), np.int64))
    policy = Queue("sjf", "conservative")
    ours, plain = (replay(jobs, 24, policy, kill=kill, pools=pools) for pools in (None, plenty))
    assert ours.start.tolist() == plain.start.tolist()


@pytest.mark.matrix(0)
@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("count", [1, 5000])
def test_no_job_fits_below_a_floor(count: int, ascending: bool) -> None:
    """Jobs of few kinds move forward as reservations do, and release processors from their reservation on."""
    rng, moved = np.random.default_rng([8, count, ascending]), 0
    for _ in range(8):
        line, floors = make_timeline(8 * ROOM, 200), make_floors(PROCESSORS, count)
        for step in range(8 * ROOM):
            append_step(line, 2.0 * step, int(rng.choice([0, 1, 4, 5], p=[0.3, 0.2, 0.2, 0.3])))
        befores = rng.integers(1, 400, 40).astype(float)
        for before in np.sort(befores) if ascending else befores:
            procs, duration = int(rng.integers(4, 6)), float(rng.integers(4, 9) / 2)
            found = earliest_above(floors, line, procs, duration, before, 300.0, ascending)
            assert found == earliest_before(line, procs, duration, before, 300.0)
            if found < before:
                moved += 1
                take_from(line, procs, found, end_of(found, duration))
                take_from(line, -procs, before, end_of(before, duration))
                if not ascending:
                    lower_floors(floors, before)
    assert moved > 60


def test_a_job_without_processors_fits_at_once() -> None:
    line, floors = make_timeline(8 * ROOM, 4), make_floors(PROCESSORS, 1)
    for step in range(8 * ROOM):
        append_step(line, float(step), 0)
    for procs, at in ((1, math.inf), (0, 0.0)):
        assert earliest_above(floors, line, procs, 5.0, math.inf, math.inf, True) == at


def test_releases_that_are_not_listed_count_as_earlier_ones() -> None:
    floors = make_floors(4, 2)
    for released in (10.0, 20.0, 30.0, 40.0, 50.0):
        lower_floors(floors, released)
    assert floors.releases[: floors.sizes[1]].tolist() == [10.0, 20.0, 30.0]
    assert floors.numbers[: floors.sizes[1]].tolist() == [1, 2, 5]
    lower_floors(floors, 15.0)
    assert floors.releases[: floors.sizes[1]].tolist() == [10.0, 15.0]


@pytest.mark.slow
@given(
    st.one_of(st.lists(st.floats(), max_size=99), st.lists(st.sampled_from([-1.5, 0.0, 2.0]), max_size=99))
)
@example([math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1e308, -1e308, -math.nan] * 9)
@example([math.inf] * 30)
def test_numbers_are_sorted_as_by_comparison(values: list[float]) -> None:
    numbers = np.array(values)
    assert sorted_places(numbers).tolist() == np.argsort(numbers, kind="stable").tolist()


@pytest.mark.slow
def test_many_numbers_are_sorted_as_few() -> None:
    """Spread over their range, crowded in a part of it, descending, and with equal numbers."""
    rng = np.random.default_rng(3)
    for numbers in (
        rng.uniform(1e6, 2e6, 2000),
        rng.choice([-math.inf, -2.5, 0.0, 1.0, 1e300, math.inf, math.nan], 2000),
        np.append(1e6 + 1e-6 * rng.random(2000), [-1e300, 1e300]),
        np.append(-np.arange(2000.0), 1e300),
        rng.lognormal(0.0, 9.0, 2000),
    ):
        assert sorted_places(numbers).tolist() == np.argsort(numbers, kind="stable").tolist()


@pytest.mark.matrix(0)
def test_lublin_jobs_start_as_with_a_list_of_steps() -> None:
    jobs = lublin(4000, 256, np.random.default_rng(3), load=0.9)
    starts = [replay(jobs, 256, policy).start.tolist() for policy in (Conservative(), ListedConservative())]
    assert starts[0] == starts[1]
