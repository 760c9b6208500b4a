"""A placement carried out, and what is told of one that cannot be."""

from __future__ import annotations

from numba import types

from windlass.compiled import Kernel
from windlass.model import PolicyError
from windlass.place.view import Placement
from windlass.sim.fleet.reads import begin_reading, can_read, task_at
from windlass.sim.fleet.state import FLEET_STATE

#: What is wrong with an answer.
RIGHT, NO_SLOT, NO_TASK, NO_LINK, BAD_SITE, LATE_MOVE = range(6)


def _commit(state, now, stages, starts, moves, largest_first):
    """Carry out starts and moves; what is wrong and in which row, checked as they are carried out."""
    n = len(state.sites)
    for number in range(len(moves) + len(starts)):
        is_move = number < len(moves)
        line = moves[number] if is_move else starts[number - len(moves)]
        if line[0] < 0 or line[0] >= len(stages):
            return NO_TASK, number
        which, source, site, tasks = stages[line[0]], line[1], line[2], line[3]
        stage = state.stages[which]
        shuffles = stage.shuffles != 0
        if site < 0 or site >= n or source >= n or (source < 0) != shuffles:
            return BAD_SITE, number
        if (
            tasks < 1
            or tasks > stage.waiting
            or (not shuffles and tasks > state.cells[stage.row, source].left)
        ):
            return NO_TASK, number
        if is_move and (shuffles or stage.begun > 0):
            return LATE_MOVE, number
        if not is_move and tasks > state.sites[site].free:
            return NO_SLOT, number
        if not is_move and stage.begun == 0:
            stage.largest = largest_first
        first = stage.first + stage.begun
        if not can_read(state, stage, first, tasks, source, site):
            return NO_LINK, number
        stage.waiting -= tasks
        if not shuffles:
            state.cells[stage.row, source].left -= tasks
        if not is_move:
            stage.begun += tasks
            stage.since = now
            state.sites[site].free -= tasks
            state.cells[stage.row, site].started += tasks
            state.cells[stage.row, site].running += tasks
            for place in range(first, first + tasks):
                task = state.tasks[task_at(state, stage, place)]
                task.site, task.source, task.begun = site, source, now
        begin_reading(state, now, which, site, tasks, first, is_move, source)
    return RIGHT, 0


COMMIT = Kernel(
    _commit,
    types.Tuple((types.int64, types.int64))(
        FLEET_STATE, types.float64, types.int64[::1], types.int64[:, ::1], types.int64[:, ::1], types.boolean
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
