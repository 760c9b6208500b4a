"""Execution of a placement, after the same checks as in :meth:`~windlass.place.view.Placement.check`.

The checks are compiled here. They read the simulator's state, which also has links between pairs of sites.
"""

from __future__ import annotations

from numba import types

from windlass.jit import Kernel, inlined, lean
from windlass.place.view import BAD_SITE, LATE_MOVE, NO_LINK, NO_SLOT, NO_TASK, RIGHT
from windlass.sim.fleet.cores import hold_cores, note_start
from windlass.sim.fleet.reads import begin_reading, can_read, task_at
from windlass.sim.fleet.state import FLEET_RUN
from windlass.sim.handle import opening

_opened = opening(FLEET_RUN)


@inlined
def _line(starts, moves, number):
    """Return whether a line of an answer is a move, and the line; moves come first."""
    is_move = number < len(moves)
    return is_move, moves[number] if is_move else starts[number - len(moves)]


@lean
def _wrong_with(state, stages, line, is_move, largest_first):
    """Return what is wrong with a line, if the lines before it are carried out; ``RIGHT`` if nothing is."""
    n = len(state.sites)
    if line[0] < 0 or line[0] >= len(stages):
        return NO_TASK
    source, site, tasks = line[1], line[2], line[3]
    stage = state.stages[stages[line[0]]]
    shuffles = stage.shuffles != 0
    if site < 0 or site >= n or source >= n or (source < 0) != shuffles:
        return BAD_SITE
    if tasks < 1 or tasks > stage.waiting or (not shuffles and tasks > state.cells[stage.row, source].left):
        return NO_TASK
    if is_move and (shuffles or stage.begun > 0):
        return LATE_MOVE
    if not is_move and tasks > state.sites[site].free:
        return NO_SLOT
    if not is_move and stage.begun == 0:
        stage.largest = largest_first
    if not can_read(state, stage, stage.first + stage.begun, tasks, source, site):
        return NO_LINK
    return RIGHT


@inlined
def _claim(state, stages, line, is_move, tasks):
    """Subtract a line's tasks and slots from the free ones; a negative number of `tasks` adds them again."""
    stage = state.stages[stages[line[0]]]
    stage.waiting -= tasks
    if stage.shuffles == 0:
        state.cells[stage.row, line[1]].left -= tasks
    if not is_move:
        stage.begun += tasks
        state.sites[line[2]].free -= tasks


@lean
def _refusal(state, stages, starts, moves, largest_first):
    """Return what is wrong with an answer and in which row; the state is unchanged afterwards."""
    wrong, checked, total = RIGHT, 0, len(moves) + len(starts)
    while checked < total and wrong == RIGHT:
        is_move, line = _line(starts, moves, checked)
        wrong = _wrong_with(state, stages, line, is_move, largest_first)
        if wrong == RIGHT:
            _claim(state, stages, line, is_move, line[3])
            checked += 1
    for number in range(checked):
        is_move, line = _line(starts, moves, number)
        _claim(state, stages, line, is_move, -line[3])
    return wrong, checked


def _commit(address, now, stages, starts, moves, largest_first):
    """Carry out all starts and moves, or none if one is wrong; return what is wrong, and in which row."""
    whole = _opened(address)
    state = whole.state
    wrong, row = _refusal(state, stages, starts, moves, largest_first)
    if wrong != RIGHT:
        return wrong, row
    for number in range(len(moves) + len(starts)):
        is_move, line = _line(starts, moves, number)
        which, source, site, tasks = stages[line[0]], line[1], line[2], line[3]
        stage = state.stages[which]
        first = stage.first + stage.begun
        _claim(state, stages, line, is_move, tasks)
        if not is_move:
            stage.since = now
            state.cells[stage.row, site].started += tasks
            state.cells[stage.row, site].running += tasks
            for place in range(first, first + tasks):
                task_number = task_at(state, stage, place)
                task = state.tasks[task_number]
                task.site, task.source, task.begun = site, source, now
                note_start(state, task_number)
        begin_reading(state, now, which, site, tasks, first, is_move, source)
    if state.run[0].begins != 0:
        hold_cores(state, whole.nodes)
    return RIGHT, 0


COMMIT = Kernel(
    _commit,
    types.Tuple((types.int64, types.int64))(
        types.int64, types.float64, types.int64[::1], types.int64[:, ::1], types.int64[:, ::1], types.boolean
    ),
    allocates=False,
)
