"""The agent's loop: it observes the machine step by step, calls the policy, and publishes the decision."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from windlass.admit import AdmitView
from windlass.admit.learned import Learned
from windlass.agent.guard import Guard
from windlass.agent.node import AgentNode, decide
from windlass.agent.signal_board import Board, StepSignal
from windlass.agent.stop import Stop
from windlass.engines.linux.telemetry.observer import Observation
from windlass.engines.linux.telemetry.recorder import Pace

#: A step this many times longer than intended is a gap.
_GAP = 5.0
#: Number of steps between two exports of learned state, equal to a block of the policies.
_LEARNED = 20


class NodeWatch:
    """Processes observations in one thread; any thread may read its board.

    Parameters
    ----------
    node
        The policy.
    guard
        Rejects while CPU Ready is high.
    board
        Receives the decision.
    every
        Intended length of a step, s.
    clock
        The board's clock, s.
    """

    def __init__(
        self, node: AgentNode, guard: Guard, board: Board, every: float, clock: Callable[[], float]
    ) -> None:
        self.node, self.guard, self.board = node, guard, board
        self._every, self._clock = every, clock
        self._steps = self._rejected = self._guarded = 0
        #: Learned state for other nodes; and the state received from others to start from.
        self.learned: Learned | None = node.learned()
        self.given: Learned | None = None

    def take(self, seen: Observation) -> None:
        """Decide upon a step, and publish the decision."""
        given, self.given = self.given, None
        if given is not None and self.node.is_new:
            self.node.start(given)
        if seen.seconds > _GAP * self._every:
            self.node.gap()
        # Rounding in the kernel may give a share slightly above 1.
        busy = min(1.0, seen.busy) if math.isfinite(seen.busy) else math.nan
        found = decide(self.node, AdmitView(seen.at, seen.metrics, busy, seen.ready))
        up = self.guard.up(seen.ready)
        reject = bool(found.reject) or up
        why = found.why
        if up and not found.reject:
            why = f"CPU Ready is {self.guard.mean:.3g}, the guard's limit {self.guard.limit:.3g}"
        self._steps += 1
        self._rejected += reject
        self._guarded += reject and not found.reject
        if self._steps % _LEARNED == 0:
            self.learned = self.node.learned()
        self.board.last = StepSignal(
            steps=self._steps,
            rejected=self._rejected,
            guarded=self._guarded,
            now=self._clock(),
            reject=reject,
            why=why,
            score=float(found.score),
            busy=busy,
            ready=seen.ready,
            room=self.guard.room,
            metrics=seen.metrics,
            projections=np.array(self.node.projections),
            singular=np.array(self.node.singular),
        )


def watch(
    observe: Callable[[], Observation],
    take: Callable[[Observation], None],
    every: float,
    clock: Callable[[], float],
    stop: Stop,
) -> None:
    """Observe until stopped; a step that would begin too late is skipped.

    Parameters
    ----------
    observe
        Measures this machine.
    take
        Called with each observation except the first, which has no rates.
    every
        Length of a step, s.
    clock
        Returns the time, s.
    stop
        Ends the loop.
    """
    pace, started = Pace(math.inf, every), clock()
    observe()
    while not stop.wait(pace.next(started, clock()) - clock()):
        take(observe())
