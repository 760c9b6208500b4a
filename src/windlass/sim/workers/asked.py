"""Drives the loop of small tasks from Python: in long strides for a compiled policy, step by step for any other."""

from __future__ import annotations

import copy
from collections.abc import Callable

import numpy as np

from windlass.dispatch import DispatchPolicy
from windlass.dispatch.compiled import CompiledDispatch, choosing
from windlass.dispatch.state import JOINED, LEFT
from windlass.model import InputError, PolicyError
from windlass.registry import optional
from windlass.sim.status import ALL_DONE, PAUSED, STUCK
from windlass.sim.workers import places
from windlass.sim.workers.loop import ASK, BAD_CHOICE, LOG_FULL, RUN, TELL_CHANGED, TELL_COMPLETED
from windlass.sim.workers.state import NOBODY, WorkersState

_STEPS_BETWEEN_REPORTS = 2_000_000


def _nobody(lengths, ints, floats):
    return -1


#: Fills the place of compiled functions where a policy in Python is asked instead.
UNUSED = (
    choosing(_nobody),
    CompiledDispatch.completing,
    CompiledDispatch.changing,
    CompiledDispatch.benchmarking,
)


def drive_compiled(state: WorkersState, policy: CompiledDispatch, progress: Callable[[int], None]) -> None:
    """Run until all tasks are done, asking a compiled policy from within the loop."""
    functions = [kernel.ready() for kernel in policy.functions()]
    run, status = RUN.ready(), PAUSED
    while status != ALL_DONE:
        before = int(state.counts[places.TASKS_DONE])
        status = run(*functions, state, _STEPS_BETWEEN_REPORTS)
        if status == LOG_FULL:
            state = _with_more_log(state)
        elif status == PAUSED and state.counts[places.TASKS_DONE] == before and _over(state):
            status = STUCK
        _raise_for(status, state, policy)
        progress(int(state.counts[places.TASKS_DONE]))


def drive_python(state: WorkersState, policy: DispatchPolicy, progress: Callable[[int], None]) -> None:
    """Run until all tasks are done, asking a policy in Python at each arrival and telling it of each completion."""
    policy = copy.deepcopy(policy)
    functions = [kernel.ready() for kernel in UNUSED]
    told, status = 0, PAUSED
    while status != ALL_DONE:
        status = RUN.ready()(*functions, state, _STEPS_BETWEEN_REPORTS)
        subject = int(state.counts[places.SUBJECT])
        if status == ASK:
            while told < state.counts[places.TASKS_ARRIVED]:
                policy.arrived(float(state.submit[told]))
                told += 1
            answer = policy.choose(state.seen.copy())
            # NOBODY is how the loop says that it has no answer yet.
            state.counts[places.ANSWER] = answer if answer != NOBODY else len(state.length)
        elif status == TELL_COMPLETED:
            policy.completed(subject, float(state.clock[places.WORK]), float(state.clock[places.SECONDS]))
        elif status == TELL_CHANGED:
            _tell(policy, int(state.counts[places.EVENT]), subject)
        elif status == LOG_FULL:
            state = _with_more_log(state)
        _raise_for(status, state, policy)
        progress(int(state.counts[places.TASKS_DONE]))


def _tell(policy: DispatchPolicy, event: int, worker: int) -> None:
    """A policy need not care who comes and goes; if it does, it has these methods. Of true rates it is not told."""
    method = {LEFT: "left", JOINED: "joined"}.get(event)
    told = None if method is None else optional(policy, method)
    if told is not None:
        told(worker)


def _over(state: WorkersState) -> bool:
    """Whether nothing more arrives and nothing changes any more; benchmark tasks alone may go on for ever."""
    none_to_come = state.counts[places.TASKS_ARRIVED] == len(state.submit)
    return bool(none_to_come and state.counts[places.NEXT_CHANGE] == len(state.change_time))


def _with_more_log(state: WorkersState) -> WorkersState:
    """The same state with twice the room for what schedulers will see later."""
    order = (state.counts[places.LOG_FIRST] + np.arange(len(state.log_time))) % len(state.log_time)
    state.counts[places.LOG_FIRST] = 0
    return state._replace(
        log_time=np.concatenate((state.log_time[order], np.zeros_like(state.log_time))),
        log_item=np.concatenate((state.log_item[order], np.zeros_like(state.log_item))),
        log_value=np.concatenate((state.log_value[order], np.zeros_like(state.log_value))),
    )


def _raise_for(status: int, state: WorkersState, policy: DispatchPolicy) -> None:
    undone = len(state.submit) - int(state.counts[places.TASKS_DONE])
    if status == STUCK:
        raise InputError(
            f"timetable: {undone} tasks are left that no worker will run: all down, or theirs stands still"
        )
    if status == BAD_CHOICE:
        chosen = int(state.counts[places.SUBJECT])
        raise PolicyError(f"policy {policy.name!r} chose worker {chosen}, which is down or does not exist")
