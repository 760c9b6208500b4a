"""Calls of a dispatch policy in Python, for which the loop stops."""

from __future__ import annotations

import copy

from windlass.dispatch import DispatchPolicy, Joining, Leaving
from windlass.dispatch.compiled import CompiledDispatch, choosing
from windlass.dispatch.state import JOINED, LEFT
from windlass.policy.registry import capability
from windlass.sim.status import POLICY_DUE
from windlass.sim.workers.loop import NOTIFY_CHANGED, NOTIFY_COMPLETED
from windlass.sim.workers.state import NONE, PolicyExchange, WorkersProgress, WorkersState


def _choose_none(lengths, ints, floats):
    return -1


#: Compiled functions of a policy in Python; the loop does not call them.
UNUSED = (
    choosing(_choose_none),
    CompiledDispatch.completing,
    CompiledDispatch.changing,
    CompiledDispatch.benchmarking,
    CompiledDispatch.binding,
)


class PythonPolicyCall:
    """A copy of a policy in Python, called at each arrival, completion and change.

    Parameters
    ----------
    policy
        The policy.
    state
        Tasks and workers. It stays valid while they grow, as only the log is replaced then.
    """

    def __init__(self, policy: DispatchPolicy, state: WorkersState) -> None:
        self._policy, self._state = copy.deepcopy(policy), state
        self._progress = WorkersProgress.of(state.progress)
        self._exchange = PolicyExchange.of(state.exchange)
        # Finding a capability takes microseconds, and workers may leave and join often.
        self._leaving, self._joining = capability(self._policy, Leaving), capability(self._policy, Joining)
        self._arrived = 0

    def answer(self, status: int) -> bool:
        """Make the call for which the loop stopped; return False if it stopped for another reason."""
        exchange, policy, state = self._exchange, self._policy, self._state
        if status == POLICY_DUE:
            while self._arrived < self._progress.arrived:
                policy.arrived(float(state.submit[self._arrived]))
                self._arrived += 1
            seen = state.seen_length[0] if len(state.seen_length) else state.known_length
            chosen = int(policy.choose(seen.copy()))
            # To the loop NONE is no answer, so an invalid choice takes its place.
            exchange.chosen = chosen if chosen != NONE else len(state.length)
        elif status == NOTIFY_COMPLETED:
            policy.completed(exchange.worker, exchange.work, exchange.seconds)
        elif status == NOTIFY_CHANGED:
            self._notify(exchange.event, exchange.worker)
        else:
            return False
        return True

    def _notify(self, event: int, worker: int) -> None:
        """Notify the policy that a worker left or joined, if it has the method; true rates are hidden from it."""
        if event == LEFT and self._leaving is not None:
            self._leaving.left(worker)
        elif event == JOINED and self._joining is not None:
            self._joining.joined(worker)
