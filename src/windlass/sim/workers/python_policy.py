"""What a dispatch policy in Python is asked and told, where the loop stops for it."""

from __future__ import annotations

import copy

from windlass.dispatch import DispatchPolicy, Joining, Leaving
from windlass.dispatch.compiled import CompiledDispatch, choosing
from windlass.dispatch.state import JOINED, LEFT
from windlass.policy.registry import capability
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


class PythonPolicyCall:
    """A policy in Python, of which a copy is asked at each arrival and told of each completion.

    Parameters
    ----------
    policy
        The policy.
    """

    def __init__(self, policy: DispatchPolicy) -> None:
        self._policy = copy.deepcopy(policy)
        # A look takes microseconds, and workers may come and go often: once is enough.
        self._leaving, self._joining = capability(self._policy, Leaving), capability(self._policy, Joining)
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
            self._tell(int(counts[slots.EVENT]), subject)
        else:
            return False
        return True

    def _tell(self, event: int, worker: int) -> None:
        """Inform the policy of a worker that left or joined, where it follows such; true rates are kept from it."""
        if event == LEFT and self._leaving is not None:
            self._leaving.left(worker)
        elif event == JOINED and self._joining is not None:
            self._joining.joined(worker)
