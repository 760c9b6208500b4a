"""What a dispatch policy in Python is asked and told, where the loop stops for it."""

from __future__ import annotations

import copy

from windlass.dispatch import DispatchPolicy
from windlass.dispatch.compiled import CompiledDispatch, choosing
from windlass.dispatch.state import JOINED, LEFT
from windlass.policy.registry import optional
from windlass.sim.status import ASK
from windlass.sim.workers import slots
from windlass.sim.workers.loop import TELL_CHANGED, TELL_COMPLETED
from windlass.sim.workers.state import NOBODY, WorkersState


def _nobody(lengths, ints, floats):
    return -1


#: Fills the place of compiled functions where a policy in Python is asked instead.
UNUSED = (
    choosing(_nobody),
    CompiledDispatch.completing,
    CompiledDispatch.changing,
    CompiledDispatch.benchmarking,
    CompiledDispatch.binding,
)


class Asked:
    """A policy in Python, of which a copy is asked at each arrival and told of each completion.

    Parameters
    ----------
    policy
        The policy.
    """

    def __init__(self, policy: DispatchPolicy) -> None:
        self._policy = copy.deepcopy(policy)
        self._arrived = 0

    def answer(self, status: int, state: WorkersState) -> bool:
        """Do what the loop stopped for; False where that was something else."""
        counts, clock, policy = state.counts, state.clock, self._policy
        subject = int(counts[slots.SUBJECT])
        if status == ASK:
            while self._arrived < counts[slots.TASKS_ARRIVED]:
                policy.arrived(float(state.submit[self._arrived]))
                self._arrived += 1
            chosen = policy.choose(state.seen.copy())
            # NOBODY is how the loop says that it has no answer yet.
            counts[slots.ANSWER] = chosen if chosen != NOBODY else len(state.length)
        elif status == TELL_COMPLETED:
            policy.completed(subject, float(clock[slots.WORK]), float(clock[slots.SECONDS]))
        elif status == TELL_CHANGED:
            _tell(policy, int(counts[slots.EVENT]), subject)
        else:
            return False
        return True


def _tell(policy: DispatchPolicy, event: int, worker: int) -> None:
    """A policy need not care who comes and goes; if it does, it has these methods. Of true rates it is not told."""
    method = {LEFT: "left", JOINED: "joined"}.get(event)
    told = None if method is None else optional(policy, method)
    if told is not None:
        told(worker)
