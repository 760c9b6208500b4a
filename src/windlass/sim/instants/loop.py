"""The phases of an instant, for parts with compiled steps and parts in Python alike.

The loop calls the compiled steps of the parts that an instant concerns. It returns a request when a step is in Python,
when a compiled step returned another status than ``REACHED``, or when the caller has to check something. It notes the
step as done before it returns, so that the caller carries out the step and calls the loop again.

An instant concerns the parts that are due, those that watch a changed row, and with each part those that read it or
that it reads. All other parts stay at an earlier time. Nothing in them changes a watched row before their horizon, so
they can catch up later.
"""

from __future__ import annotations

import numpy as np
from numba import types

from windlass.jit import Kernel, inlined
from windlass.sim.instants.calls import ended_at, horizon_at, run_at, step_at
from windlass.sim.instants.state import ADVANCE, ALTER, BEGIN, CLOSE, DECIDE, SETTLE, opened
from windlass.sim.nodes import KERNELS as LEDGER_KERNELS
from windlass.sim.nodes import nodes_at, take_changed
from windlass.sim.part import ABSENT
from windlass.sim.status import ALL_DONE, REACHED

#: Requests to the caller: carry out a step of the part ``counts.part``, or what the name says.
(
    GO_ON,
    TO_ADVANCE,
    TO_ALTER,
    TO_SETTLE,
    TO_DECIDE,
    TO_CLOSE,
    #: All rows are settled, and the caller wanted no more.
    SETTLED,
    #: All work has ended.
    END,
    #: No part has another event.
    NOTHING_LEFT,
    #: Check for work that waits in vain.
    CHECK,
    #: Too many repetitions at one instant.
    STANDS_STILL,
    #: Check that rows to be vacated are.
    VACATED,
) = range(12)
#: The status of a request for a step of a part in Python.
IN_PYTHON = -1


@inlined
def _call(instants, part):
    """Let an instant concern a part, and the parts that are called with it."""
    if instants.parts[part].called != 0:
        return
    instants.parts[part].called = 1
    for at in range(instants.mate_first[part], instants.mate_first[part + 1]):
        instants.parts[instants.mate[at]].called = 1


@inlined
def _request(instants, what, part, status):
    counts = instants.counts[0]
    counts.part, counts.status = part, status
    return what


@inlined
def _answer(instants, what, part, status):
    """Return the request that follows a compiled step; GO_ON if the step is complete."""
    if status == REACHED:
        return GO_ON
    if status == ALL_DONE:
        if instants.parts[part].done != 0:
            return GO_ON
        instants.parts[part].done = 1
    return _request(instants, what, part, status)


@inlined
def _advance(instants, part):
    steps, until = instants.parts[part], instants.clock[0].until
    steps.advanced, steps.reached = 1, until
    if steps.run == ABSENT:
        return GO_ON
    if steps.run == 0:
        return _request(instants, TO_ADVANCE, part, IN_PYTHON)
    status = run_at(steps.run)(steps.address, until, steps.steps)
    if until == np.inf:
        # The part reports that its time is over.
        return _request(instants, TO_ADVANCE, part, status)
    return _answer(instants, TO_ADVANCE, part, status)


@inlined
def _alter(instants, part):
    steps = instants.parts[part]
    if steps.alter == ABSENT:
        return GO_ON
    if steps.alter == 0:
        return _request(instants, TO_ALTER, part, IN_PYTHON)
    status = step_at(steps.alter)(steps.address, instants.clock[0].now)
    return _answer(instants, TO_ALTER, part, status)


@inlined
def _settle(instants, part):
    steps = instants.parts[part]
    steps.unsettled = 0
    if steps.settle == ABSENT:
        return GO_ON
    if steps.settle == 0:
        return _request(instants, TO_SETTLE, part, IN_PYTHON)
    status = step_at(steps.settle)(steps.address, instants.clock[0].now)
    return _answer(instants, TO_SETTLE, part, status)


@inlined
def _decide(instants, part):
    steps, now = instants.parts[part], instants.clock[0].now
    steps.decided = 1
    if steps.decide == 0:
        return _request(instants, TO_DECIDE, part, IN_PYTHON)
    if steps.decide == ABSENT:
        # What arrives at this instant is an event like others.
        after = np.nextafter(now, np.inf)
        status = run_at(steps.run)(steps.address, after, steps.steps)
    else:
        status = step_at(steps.decide)(steps.address, now)
    return _answer(instants, TO_DECIDE, part, status)


@inlined
def _all_ended(instants):
    """Return whether all work has ended; call parts that may have ended since they were called last.

    The state of a part is known if it has advanced to this instant, or if it has an event still to come.
    """
    left = 0
    for part in range(len(instants.parts)):
        steps = instants.parts[part]
        if steps.ended == 0:
            if steps.horizon < np.inf or steps.reached >= instants.clock[0].now:
                return False
            left += 1
    if left == 0:
        return True
    for part in range(len(instants.parts)):
        if instants.parts[part].ended == 0:
            _call(instants, part)
    return False


@inlined
def _begin(instants):
    """Choose the next instant, and the parts that it concerns."""
    counts, clock = instants.counts[0], instants.clock[0]
    parts = len(instants.parts)
    if _all_ended(instants):
        return END
    counts.behind = 0
    until = np.inf
    for part in range(parts):
        steps = instants.parts[part]
        if steps.called != 0:
            counts.behind = 1
        until = min(until, steps.horizon)
    if counts.behind != 0 and until < np.inf:
        until = clock.now
    if counts.instants == 0 and nodes_at(instants.ledger).counts[0].changed > 0:
        # Cores that a part holds from the beginning change the speed of others from the start of time on.
        until = min(until, 0.0)
    if parts == 1:
        until = np.inf
    check = (counts.instants + 1) % counts.check_every == 0
    for part in range(parts):
        steps = instants.parts[part]
        due = steps.horizon <= until or steps.always != 0
        if due or (check and steps.ended == 0):
            _call(instants, part)
        steps.advanced = steps.decided = steps.unsettled = 0
    clock.until = until
    counts.phase, counts.turn = ADVANCE, 0
    return GO_ON


@inlined
def _advance_called(instants):
    counts, clock = instants.counts[0], instants.clock[0]
    for part in range(len(instants.parts)):
        if instants.parts[part].called != 0 and instants.parts[part].advanced == 0:
            request = _advance(instants, part)
            if request != GO_ON:
                return request
    now = clock.until
    if now == np.inf:
        return NOTHING_LEFT
    counts.repeats = counts.repeats + 1 if now == clock.now else 0
    clock.now = now
    counts.rounds, counts.turn, counts.phase = 0, 0, ALTER
    if counts.repeats > counts.many:
        return STANDS_STILL
    if counts.behind != 0:
        return GO_ON
    counts.instants += 1
    return CHECK if counts.instants % counts.check_every == 0 else GO_ON


@inlined
def _alter_called(instants):
    counts = instants.counts[0]
    while counts.turn < len(instants.parts):
        part = counts.turn
        counts.turn += 1
        if instants.parts[part].called != 0:
            request = _alter(instants, part)
            if request != GO_ON:
                return request
    counts.turn, counts.rounds, counts.phase = 0, 0, SETTLE
    return GO_ON


@inlined
def _catch_up(instants, part):
    """Bring a part that a change concerns to this instant; if its turn has passed, it decides first."""
    if instants.parts[part].advanced == 0:
        request = _advance(instants, part)
        if request != GO_ON:
            return request
    if part < instants.counts[0].turn and instants.parts[part].decided == 0:
        return _decide(instants, part)
    return GO_ON


@inlined
def _settle_changed(instants):
    """Let the parts that watch changed rows settle, until no row changes."""
    counts, nodes = instants.counts[0], nodes_at(instants.ledger)
    while True:
        for part in range(len(instants.parts)):
            while instants.parts[part].unsettled != 0:
                request = _catch_up(instants, part)
                if request != GO_ON:
                    return request
                request = _settle(instants, part)
                if request != GO_ON:
                    return request
        if nodes.counts[0].changed == 0:
            break
        counts.rounds += 1
        if counts.rounds > counts.many:
            return STANDS_STILL
        take_changed(nodes)
        for part in range(len(instants.parts)):
            if instants.parts[part].always != 0:
                instants.parts[part].unsettled = 1
        for at in range(nodes.counts[0].to_settle):
            site = nodes.site[nodes.to_settle[at]]
            for place in range(instants.watch_first[site], instants.watch_first[site + 1]):
                part = instants.watcher[place]
                instants.parts[part].unsettled = 1
                _call(instants, part)
    counts.rounds, counts.phase = 0, DECIDE
    return VACATED if nodes.counts[0].vacating != 0 else GO_ON


@inlined
def _decide_next(instants):
    """Let the next part decide whose turn it is."""
    counts = instants.counts[0]
    while counts.turn < len(instants.parts):
        part = counts.turn
        if instants.parts[part].called == 0 or instants.parts[part].decided != 0:
            counts.turn += 1
            continue
        if instants.parts[part].advanced == 0:
            return _advance(instants, part)
        counts.turn, counts.phase = part + 1, SETTLE
        return _decide(instants, part)
    counts.turn, counts.phase = 0, CLOSE
    return GO_ON


@inlined
def _close(instants):
    """Note when each called part is due again, and whether its work has ended."""
    counts = instants.counts[0]
    for part in range(len(instants.parts)):
        steps = instants.parts[part]
        if steps.called == 0:
            continue
        steps.called = 0
        if steps.look == 0:
            return _request(instants, TO_CLOSE, part, IN_PYTHON)
        horizon = horizon_at(steps.look)(steps.address)
        if np.isnan(horizon):
            return _request(instants, TO_CLOSE, part, IN_PYTHON)
        steps.horizon, steps.ended = horizon, 1
        if steps.finish != ABSENT:
            steps.ended = ended_at(steps.finish)(steps.address)
    counts.phase = BEGIN
    return GO_ON


def _go_on(address, only_settle):
    """Advance the parts; return a request.

    With ``only_settle``, stop as soon as all parts have settled after the caller carried out an answer.
    """
    instants = opened(address)
    counts = instants.counts[0]
    if only_settle != 0:
        counts.phase = SETTLE
    while True:
        phase = counts.phase
        if phase == BEGIN:
            request = _begin(instants)
        elif phase == ADVANCE:
            request = _advance_called(instants)
        elif phase == ALTER:
            request = _alter_called(instants)
        elif phase == SETTLE:
            request = _settle_changed(instants)
        elif phase == DECIDE:
            if only_settle != 0:
                return SETTLED
            request = _decide_next(instants)
        else:
            request = _close(instants)
        if request != GO_ON:
            return request


GO = Kernel(_go_on, types.int64(types.int64, types.int64), allocates=False)
#: What every simulation calls: the ledger and the coordination.
KERNELS = (*LEDGER_KERNELS, GO)
