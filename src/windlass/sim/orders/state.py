"""State of the world of jobs over many sites, and what happens to it: a job arrives, a task starts or ends."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numpy.typing import NDArray

from windlass.compiled import inlined
from windlass.sim.events.heap import HEAP, Heap, make_heap, push

#: Entries of ``World.count``: jobs submitted; rows of the waiting table in use; sub-jobs with tasks left to start;
#: orders given (1, or one per site); jobs done; decisions asked for, and over them the waiting jobs and sub-jobs;
#: whether sub-jobs are told in seconds; whether Python decides, and whether it has.
(
    SUBMITTED,
    ROWS,
    SUBJOBS,
    ORDERS,
    DONE,
    DECISIONS,
    JOBS_TOLD,
    SUBJOBS_TOLD,
    BY_SECONDS,
    PYTHON,
    ANSWERED,
) = range(11)
#: Entries of ``World.clock``: now, s; seconds and number of all finished tasks.
NOW, ALL_SECONDS, ALL_TASKS = range(3)


class World(NamedTuple):
    """State of the world: J jobs, S sub-jobs, T tasks, m sites, and a table with room for some waiting jobs.

    Parameters
    ----------
    heap
        Ends of running tasks: kind is the site, item the task.
    submit, first
        (J,) s; (J + 1,) where each job's sub-jobs begin.
    site, task0
        (S,) of each sub-job; (S + 1,) where its tasks begin, which are in the order of their start.
    duration, started, task_job
        (T,) s; s, NaN until then; whose it is.
    slots, free
        (m,) all, and the idle ones.
    unfinished, start, end
        (J,) tasks; s, NaN until then.
    job_seconds, job_tasks, error
        (J,) seconds and number of the job's finished tasks; by what its expected seconds are off, a factor.
    row_job, left_of_row
        (rows,) of each waiting job, by arrival: which it is, its tasks left to start.
    left, sized, coming
        (rows, m) tasks left to start; the same as policies are told; the next of them.
    order, position
        (m, rows) rows in the order given, for each site or for all; (m,) how far each site has come in it.
    seen
        (rows,) room to check an order in.
    """

    heap: Heap
    submit: NDArray[np.float64]
    first: NDArray[np.int64]
    site: NDArray[np.int64]
    task0: NDArray[np.int64]
    duration: NDArray[np.float64]
    started: NDArray[np.float64]
    task_job: NDArray[np.int64]
    slots: NDArray[np.float64]
    free: NDArray[np.int64]
    unfinished: NDArray[np.int64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    job_seconds: NDArray[np.float64]
    job_tasks: NDArray[np.float64]
    error: NDArray[np.float64]
    row_job: NDArray[np.int64]
    left_of_row: NDArray[np.int64]
    left: NDArray[np.float64]
    sized: NDArray[np.float64]
    coming: NDArray[np.int64]
    order: NDArray[np.int64]
    position: NDArray[np.int64]
    seen: NDArray[np.int64]
    count: NDArray[np.int64]  # type: ignore[assignment]  # hides the tuple's own, which nobody calls
    clock: NDArray[np.float64]


_i, _f = types.int64[::1], types.float64[::1]
_it, _ft = types.int64[:, ::1], types.float64[:, ::1]
WORLD = types.NamedTuple(
    (
        HEAP,
        _f,
        _i,
        _i,
        _i,
        _f,
        _f,
        _i,
        _f,
        _i,
        _i,
        _f,
        _f,
        _f,
        _f,
        _f,
        _i,
        _i,
        _ft,
        _ft,
        _it,
        _it,
        _i,
        _i,
        _i,
        _f,
    ),
    World,
)


def make_world(
    submit: NDArray[np.float64],
    first: NDArray[np.int64],
    site: NDArray[np.int64],
    task0: NDArray[np.int64],
    duration: NDArray[np.float64],
    slots: NDArray[np.int64],
    error: NDArray[np.float64],
    *,
    by_seconds: bool,
    python: bool,
    rows: int = 64,
) -> World:
    """A world in which nothing has happened yet.

    >>> zero, one = np.array([0]), np.array([0, 1])
    >>> world = make_world(np.zeros(1), one, zero, one, np.ones(1), np.array([2]), np.ones(1),
    ...     by_seconds=False, python=False)
    >>> world.free.tolist(), world.unfinished.tolist()
    ([2], [1])
    """
    jobs, sites = len(submit), len(slots)
    per_job = task0[first[1:]] - task0[first[:-1]]
    count = np.zeros(11, np.int64)
    count[BY_SECONDS], count[PYTHON] = by_seconds, python
    started = np.full(len(duration), np.nan)
    start, end = np.full((2, jobs), np.nan)
    job_seconds, job_tasks = np.zeros((2, jobs))
    return World(
        make_heap(int(min(slots.sum(), len(duration))) + 1),
        submit,
        first,
        site,
        task0,
        duration,
        started,
        np.repeat(np.arange(jobs), per_job),
        slots.astype(np.float64),
        slots.astype(np.int64),
        per_job.copy(),
        start,
        end,
        job_seconds,
        job_tasks,
        error,
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
        np.zeros((rows, sites)),
        np.zeros((rows, sites)),
        np.zeros((rows, sites), np.int64),
        np.zeros((sites, rows), np.int64),
        np.zeros(sites, np.int64),
        np.zeros(rows, np.int64),
        count,
        np.zeros(3),
    )


def enlarged(world: World, rows: int) -> World:
    """The same world with room for so many waiting jobs; its order must be given anew."""
    used, sites = world.count[ROWS], len(world.slots)

    def longer(table: NDArray[Any]) -> NDArray[Any]:
        new = np.zeros((rows, *table.shape[1:]), table.dtype)
        new[:used] = table[:used]
        return new

    order = np.zeros((sites, rows), np.int64)
    order[:, :used] = world.order[:, :used]
    return world._replace(
        order=order,
        row_job=longer(world.row_job),
        left_of_row=longer(world.left_of_row),
        left=longer(world.left),
        sized=longer(world.sized),
        coming=longer(world.coming),
        seen=longer(world.seen),
    )


@inlined
def enter(world, job):
    """A job arrives: its sub-jobs become the last row of the waiting table."""
    row = world.count[ROWS]
    world.count[ROWS] += 1
    world.row_job[row] = job
    total = 0
    for site in range(len(world.slots)):
        world.left[row, site] = 0.0
    for sub in range(world.first[job], world.first[job + 1]):
        site = world.site[sub]
        tasks = world.task0[sub + 1] - world.task0[sub]
        world.left[row, site] = tasks
        world.coming[row, site] = world.task0[sub]
        total += tasks
    world.left_of_row[row] = total
    world.count[SUBJOBS] += world.first[job + 1] - world.first[job]


@inlined
def finish(world, task, site, now):
    """A task ends; whether its job departs with it."""
    world.free[site] += 1
    job = world.task_job[task]
    seconds = world.duration[task]
    world.job_seconds[job] += seconds
    world.job_tasks[job] += 1.0
    world.clock[ALL_SECONDS] += seconds
    world.clock[ALL_TASKS] += 1.0
    world.unfinished[job] -= 1
    departs = world.unfinished[job] == 0
    if departs:
        world.end[job] = now
        world.count[DONE] += 1
    return departs


@inlined
def close_ranks(world):
    """Drop rows with nothing left to start; the others keep their order."""
    target = 0
    for row in range(world.count[ROWS]):
        if world.left_of_row[row] > 0:
            if target < row:
                world.row_job[target] = world.row_job[row]
                world.left_of_row[target] = world.left_of_row[row]
                for site in range(len(world.slots)):
                    world.left[target, site] = world.left[row, site]
                    world.coming[target, site] = world.coming[row, site]
            target += 1
    world.count[ROWS] = target


@inlined
def expected_seconds(world, job):
    """What a task of this job is expected to take, s: the mean of its finished ones, or else of all finished ones."""
    seconds = 1.0
    if world.job_tasks[job] > 0.0:
        seconds = world.job_seconds[job] / world.job_tasks[job]
    elif world.clock[ALL_TASKS] > 0.0:
        seconds = world.clock[ALL_SECONDS] / world.clock[ALL_TASKS]
    return seconds * world.error[job]


@inlined
def size_up(world):
    """Write what policies are told of waiting jobs."""
    for row in range(world.count[ROWS]):
        each = 1.0
        if world.count[BY_SECONDS] != 0:
            each = expected_seconds(world, world.row_job[row])
        for site in range(len(world.slots)):
            world.sized[row, site] = world.left[row, site] * each


@inlined
def serve(world, site, now):
    """Start tasks on the idle slots of a site: of the first job in its order that has some left there."""
    row_of_order = site if world.count[ORDERS] > 1 else 0
    rows = world.count[ROWS]
    while world.free[site] > 0:
        place = world.position[site]
        while place < rows and world.left[world.order[row_of_order, place], site] == 0.0:
            place += 1
        world.position[site] = place
        if place >= rows:
            break
        row = world.order[row_of_order, place]
        task = world.coming[row, site]
        world.coming[row, site] = task + 1
        world.left[row, site] -= 1.0
        if world.left[row, site] == 0.0:
            world.count[SUBJOBS] -= 1
        world.left_of_row[row] -= 1
        job = world.row_job[row]
        if np.isnan(world.start[job]):
            world.start[job] = now
        world.started[task] = now
        world.free[site] -= 1
        push(world.heap, now + world.duration[task], site, task)
