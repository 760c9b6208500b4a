"""Drives the dispatch world's loop from Python: in long strides for a compiled policy, step by step for any other."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from windlass.dispatch import state as policy_state
from windlass.dispatch.compiled import CompiledDispatch, choosing
from windlass.model import InputError, PolicyError
from windlass.sim.workers import state as at
from windlass.sim.workers.loop import ASK, BAD, DONE, FULL, PAUSED, RUN, STUCK, TELL_CHANGED, TELL_COMPLETED
from windlass.sim.workers.state import NOBODY, World

_EVENTS_BETWEEN_REPORTS = 2_000_000


def _nobody(lengths, ints, floats):
    return -1


#: Fills the place of compiled functions where a policy in Python is asked instead.
UNUSED = (
    choosing(_nobody),
    CompiledDispatch.completing,
    CompiledDispatch.changing,
    CompiledDispatch.benchmarking,
)


def drive_compiled(world: World, policy: Any, progress: Callable[[int], None]) -> None:
    """Run until all tasks are done, asking a compiled policy from within the loop."""
    functions = [kernel.ready() for kernel in policy.functions()]
    run, status = RUN.ready(), PAUSED
    while status != DONE:
        before = int(world.tally[at.DONE])
        status = run(*functions, world, _EVENTS_BETWEEN_REPORTS)
        if status == FULL:
            world = _with_more_log(world)
        elif status == PAUSED and world.tally[at.DONE] == before and _over(world):
            status = STUCK
        _raise_for(status, world, policy)
        progress(int(world.tally[at.DONE]))


def drive_python(world: World, policy: Any, progress: Callable[[int], None]) -> None:
    """Run until all tasks are done, asking a policy in Python at each arrival and telling it of each completion."""
    policy = copy.deepcopy(policy)
    functions = [kernel.ready() for kernel in UNUSED]
    told, status = 0, PAUSED
    while status != DONE:
        status = RUN.ready()(*functions, world, _EVENTS_BETWEEN_REPORTS)
        subject = int(world.tally[at.SUBJECT])
        if status == ASK:
            while told < world.tally[at.ARRIVED]:
                policy.arrived(float(world.submit[told]))
                told += 1
            answer = policy.choose(world.seen.copy())
            # NOBODY is how the loop says that it has no answer yet.
            world.tally[at.ANSWER] = answer if answer != NOBODY else len(world.length)
        elif status == TELL_COMPLETED:
            policy.completed(subject, float(world.clock[at.WORK]), float(world.clock[at.SECONDS]))
        elif status == TELL_CHANGED:
            _tell(policy, int(world.tally[at.EVENT]), subject)
        elif status == FULL:
            world = _with_more_log(world)
        _raise_for(status, world, policy)
        progress(int(world.tally[at.DONE]))


def _tell(policy: Any, event: int, worker: int) -> None:
    """A policy need not care who comes and goes; if it does, it has these methods."""
    method = {policy_state.LEFT: "left", policy_state.JOINED: "joined"}.get(event)
    if method is not None and hasattr(policy, method):
        getattr(policy, method)(worker)


def _over(world: World) -> bool:
    """Whether nothing more arrives and nothing changes any more; benchmark tasks alone may go on for ever."""
    none_to_come = world.tally[at.ARRIVED] == len(world.submit)
    return bool(none_to_come and world.tally[at.CHANGE] == len(world.change_time))


def _with_more_log(world: World) -> World:
    """The same world with twice the room for what schedulers will see later."""
    order = (world.tally[at.LOG_FIRST] + np.arange(len(world.log_time))) % len(world.log_time)
    world.tally[at.LOG_FIRST] = 0
    return world._replace(
        log_time=np.concatenate((world.log_time[order], np.zeros_like(world.log_time))),
        log_item=np.concatenate((world.log_item[order], np.zeros_like(world.log_item))),
        log_value=np.concatenate((world.log_value[order], np.zeros_like(world.log_value))),
    )


def _raise_for(status: int, world: World, policy: Any) -> None:
    left = len(world.submit) - int(world.tally[at.DONE])
    if status == STUCK:
        raise InputError(
            f"changes: {left} tasks are left that no worker will run: all down, or theirs stands still"
        )
    if status == BAD:
        chosen = int(world.tally[at.SUBJECT])
        raise PolicyError(f"policy {policy.name!r} chose worker {chosen}, which is down or does not exist")
