"""The wide-area world's two compiled steps: go on until a decision is due, and carry an answer out."""

from __future__ import annotations

import numpy as np
from numba import types

from windlass.compiled import Kernel
from windlass.model import PolicyError
from windlass.place.view import Placement
from windlass.sim.events.heap import next_time, pop
from windlass.sim.fleet import state as at
from windlass.sim.fleet.state import WORLD, add_flow, carried_by, end_reading, end_task, look, make_ready

#: How :func:`_advance` ended: a decision is due, all jobs ended, nothing will ever happen again, logs are full.
DUE, DONE, STUCK, FULL = range(4)
#: What is wrong with an answer.
RIGHT, NO_SLOT, NO_TASK, NO_LINK, BAD_SITE, LATE_MOVE = range(6)


def _advance(world):
    """Go on until a decision is due; the instant and how it ended."""
    n = len(world.slots)
    numbers, clocks = world.numbers, world.clocks
    while True:
        if numbers[at.LOGS]:
            spare = len(world.flow_log) - numbers[at.LOGGED]
            if spare < numbers[at.FLOWS] + 1 or len(world.rate_log) - numbers[at.RATES] < n * n:
                return clocks[at.LOOKED], FULL
        if numbers[at.FLOWS_NEW]:
            clocks[at.LOOK] = clocks[at.LOOKED] + clocks[at.LOOK_EVERY]
        submits = numbers[at.SUBMITTED] < len(world.submit)
        submit = world.submit[numbers[at.SUBMITTED]] if submits else np.inf
        changes = numbers[at.CHANGED] < len(world.change_time) and numbers[at.ENDED] < len(world.submit)
        change = world.change_time[numbers[at.CHANGED]] if changes else np.inf
        now = min(submit, change, next_time(world.heap), clocks[at.LOOK], clocks[at.WAKE])
        if numbers[at.WANTED]:
            due = max(clocks[at.DECIDED] + clocks[at.DECIDE_EVERY], clocks[at.NOW])
            if due <= now:
                clocks[at.NOW] = due
                return due, DUE
        if now == np.inf:
            return now, DONE if numbers[at.ENDED] == len(world.submit) else STUCK
        now = max(now, clocks[at.NOW])
        clocks[at.NOW] = now
        if clocks[at.WAKE] <= now:
            clocks[at.WAKE] = np.inf
            numbers[at.WANTED] = 1
        while numbers[at.CHANGED] < len(world.change_time) and world.change_time[numbers[at.CHANGED]] <= now:
            row = numbers[at.CHANGED]
            site = world.change_ints[0, row]
            world.free[site] += world.change_ints[1, row] - world.slots[site]
            world.slots[site] = world.change_ints[1, row]
            world.links[0, site], world.links[1, site] = (
                world.change_links[0, row],
                world.change_links[1, row],
            )
            numbers[at.CHANGED] += 1
            numbers[at.WANTED] = numbers[at.RESOURCES] = 1
            if numbers[at.FLOWS] > 0:
                clocks[at.LOOK] = now
        while next_time(world.heap) <= now:
            _, place, task = pop(world.heap)
            end_task(world, now, place // n, place % n, task)
        if clocks[at.LOOK] <= now:
            look(world, now)
        while numbers[at.SUBMITTED] < len(world.submit) and world.submit[numbers[at.SUBMITTED]] <= now:
            job = numbers[at.SUBMITTED]
            stage = np.searchsorted(world.job, job)
            while stage < len(world.job) and world.job[stage] == job:
                if not world.shuffles[stage]:
                    make_ready(world, now, stage)
                stage += 1
            numbers[at.SUBMITTED] += 1


def _commit(world, now, stages, starts, moves, largest_first):
    """Carry out starts and moves; what is wrong and in which row, checked as they are carried out."""
    n = len(world.slots)
    for row in range(len(moves) + len(starts)):
        is_move = row < len(moves)
        line = moves[row] if is_move else starts[row - len(moves)]
        if line[0] < 0 or line[0] >= len(stages):
            return NO_TASK, row
        stage, source, site, tasks = stages[line[0]], line[1], line[2], line[3]
        shuffles = world.shuffles[stage] != 0
        if site < 0 or site >= n or source >= n or (source < 0) != shuffles:
            return BAD_SITE, row
        if tasks < 1 or tasks > world.waiting[stage] or (not shuffles and tasks > world.here[stage, source]):
            return NO_TASK, row
        if is_move and (shuffles or world.begun[stage] > 0):
            return LATE_MOVE, row
        if not is_move and tasks > world.free[site]:
            return NO_SLOT, row
        batch = world.free_batches[world.numbers[at.BATCHES]]
        world.numbers[at.BATCHES] += 1
        world.waiting[stage] -= tasks
        if not shuffles:
            world.here[stage, source] -= tasks
        world.batch[0, batch], world.batch[1, batch], world.batch[2, batch] = stage, site, tasks
        world.batch[3, batch], world.batch[4, batch], world.batch[5, batch] = 0, 0, is_move
        if not is_move:
            if world.begun[stage] == 0:
                world.largest[stage] = largest_first
            world.batch[4, batch] = world.first[stage] + world.begun[stage]
            world.begun[stage] += tasks
            world.free[site] -= tasks
            world.started[stage, site] += tasks
            world.running[stage, site] += tasks
            world.since[stage] = now
            for position in range(world.batch[4, batch], world.batch[4, batch] + tasks):
                task = world.order[world.largest[stage], position]
                world.where[0, task], world.where[1, task] = site, source
                world.times[0, task] = now
        for x in range(n):
            if x == site or (not shuffles and x != source):
                continue
            carried = carried_by(world, stage, batch, x)
            if carried > 0.0:
                if world.links[0, x] <= 0.0 or world.links[1, site] <= 0.0 or world.pair[x, site] <= 0.0:
                    return NO_LINK, row
                add_flow(world, now, x, site, batch, carried, tasks)
        if world.batch[3, batch] == 0:
            end_reading(world, now, batch)
    return RIGHT, 0


ADVANCE = Kernel(_advance, types.Tuple((types.float64, types.int64))(WORLD), allocates=False)
COMMIT = Kernel(
    _commit,
    types.Tuple((types.int64, types.int64))(
        WORLD, types.float64, types.int64[::1], types.int64[:, ::1], types.int64[:, ::1], types.boolean
    ),
    allocates=False,
)


def refused(answer: Placement, wrong: int, row: int) -> PolicyError:
    """What to tell of an answer that cannot be carried out: what is wrong (see :func:`_commit`), in which row."""
    moves = len(answer.moves)
    line = (answer.moves[row] if row < moves else answer.starts[row - moves]).tolist()
    problem = {
        NO_SLOT: "there are not so many free slots",
        NO_TASK: "there are not so many waiting tasks",
        NO_LINK: "there is no link on the way",
        BAD_SITE: "there is no such site, or no such read",
        LATE_MOVE: "the stage has begun, or reads from all sites",
    }[wrong]
    return PolicyError(f"answered (stage row, source, site, tasks) {line}: {problem}")
