"""The steps of telemetry, compiled: an instant at which no step ends costs no call of Python."""

from __future__ import annotations

import numpy as np

from windlass.admit.site import NO_LIMIT
from windlass.jit import Kernel, inlined
from windlass.sim.instants.calls import AT_INSTANT, ENDED, HORIZON, RUN_UNTIL, ended_at
from windlass.sim.status import FULL, POLICY_DUE, REACHED
from windlass.sim.telemetry import binding as answers
from windlass.sim.telemetry import cores, pressure
from windlass.sim.telemetry.state import opened


@inlined
def _has_ended(run):
    """Return whether all tasks have ended."""
    settings = run.settings[0]
    return ended_at(settings.ended)(settings.workers) != 0


@inlined
def _next_step(run):
    """Return when the step ends: a product, because a sum would drift from the multiples of the step."""
    return (run.progress[0].steps + 1) * run.settings[0].every


@inlined
def _record(run, tasks, present):
    """Append the channels of a step; those of an absent node are not a number."""
    step = run.progress[0].steps
    for node in range(len(present)):
        if not present[node]:
            tasks.busy[node] = tasks.queue[node] = tasks.ready[node] = np.nan
            tasks.memory[node] = tasks.network[node] = np.nan
        row = run.channels[step, node]
        row[0], row[1], row[2] = tasks.busy[node], tasks.queue[node], tasks.ready[node]
        row[3], row[4] = tasks.memory[node], tasks.network[node]


@inlined
def _measure(run, tasks, now):
    """Measure each node at the end of a step, and append what it measured."""
    sums, binding = cores.opened(run.settings[0].meter), answers.opened(run.settings[0].binding)
    state, counts = answers.workers_of(binding), tasks.counts[0]
    cores.end_step(sums, now)
    for node in range(len(sums.present)):
        tasks.held[node], tasks.cores[node] = sums.step_held[node], sums.step_cores[node]
        tasks.up[node] = sums.step_up[node]
    answers.place_waiting(binding, state, tasks.unfinished, counts.unfinished)
    received = state.start if answers.binds_late(binding) else state.submit
    pressure.measure(
        tasks, run.progress[0].steps * run.settings[0].every, now,
        received, state.start, state.end, state.worker, state.progress[0].arrived, binding.at,
    )  # fmt: skip
    _record(run, tasks, sums.present)


@inlined
def _carry_out(run, binding, state, now):
    """Count the tasks of the last step, let the nodes answer, and append both; return SENDING or REACHED."""
    step = run.progress[0].steps - 1
    answers.count_tasks(binding, state)
    for kind in range(len(binding.tasks)):
        run.counts[step, kind] = binding.tasks[kind]
    status = answers.set_limits(binding, state, now)
    for node in range(len(binding.rejects)):
        run.rejects[step, node] = binding.rejects[node]
    return status


@inlined
def _call_policy(run, tasks, binding):
    """Let the policy of the loop decide if there is a node; an absent one has no limit."""
    present, some = cores.opened(run.settings[0].meter).present, False
    for node in range(len(present)):
        some |= present[node]
    if some:
        run.decide(run.settings[0].policy, tasks.busy, tasks.ready, present, binding.limits)
    for node in range(len(present)):
        if not present[node]:
            binding.limits[node] = NO_LIMIT


def _decide(address, now):
    """Measure the nodes if a step ends, and let them answer.

    Returns FULL if there is no room for the step, POLICY_DUE if a policy outside of the loop must answer, or SENDING or
    REACHED after an answer.
    """
    run = opened(address)
    progress = run.progress[0]
    if progress.over != 0 or now < _next_step(run):
        return REACHED
    tasks, binding = pressure.opened(run.settings[0].tasks), answers.opened(run.settings[0].binding)
    state = answers.workers_of(binding)
    room = pressure.has_room(tasks, state.progress[0].arrived) and answers.can_count(binding, state)
    if not room or progress.steps == len(run.channels):
        return FULL
    _measure(run, tasks, now)
    progress.steps += 1
    if run.settings[0].policy == 0:
        return POLICY_DUE
    _call_policy(run, tasks, binding)
    return _carry_out(run, binding, state, now)


def _act(address, now):
    """Carry out the answers; return FULL, SENDING or REACHED."""
    run = opened(address)
    binding = answers.opened(run.settings[0].binding)
    state = answers.workers_of(binding)
    if not answers.can_count(binding, state):
        return FULL
    return _carry_out(run, binding, state, now)


def _settle(address, now):
    """Account for the cores that nodes and other parts have had until now."""
    cores.note_cores(cores.opened(opened(address).settings[0].meter), now)
    return REACHED


def _horizon(address):
    """Return the end of this step; infinity once all tasks have ended."""
    run = opened(address)
    # The last task may be refused after the nodes have decided, in the same instant.
    run.progress[0].over = _has_ended(run)
    return np.inf if run.progress[0].over != 0 else _next_step(run)


def _run(address, until, steps):
    """Reach a time: between the ends of steps nothing happens."""
    return REACHED


def _ended(address):
    """Return that a simulation does not wait for telemetry."""
    return 1


DECIDE, ACT, SETTLE = (Kernel(each, AT_INSTANT, allocates=False) for each in (_decide, _act, _settle))
NEXT, OVER = Kernel(_horizon, HORIZON, allocates=False), Kernel(_ended, ENDED, allocates=False)
RUN = Kernel(_run, RUN_UNTIL, allocates=False)
KERNELS = (DECIDE, ACT, SETTLE, NEXT, OVER, RUN)
