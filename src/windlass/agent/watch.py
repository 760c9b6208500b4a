"""Observes a machine step by step, has the policy decide, and shows what stands."""

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

#: A step that was so many times as long as it should be is a gap.
_GAP = 5.0
#: What was learned is looked at anew after so many steps: a block of the policies.
_LEARNED = 20


class NodeWatch:
    """Takes in observations; one thread does so, and any may look at its board.

    Parameters
    ----------
    node
        Decides.
    guard
        Rejects while tasks wait.
    board
        Where it is shown.
    every
        How long a step should be, s.
    clock
        As of the board, s.
    """

    def __init__(
        self, node: AgentNode, guard: Guard, board: Board, every: float, clock: Callable[[], float]
    ) -> None:
        self.node, self.guard, self.board = node, guard, board
        self._every, self._clock = every, clock
        self._steps = self._rejected = self._guarded = 0
        #: What it has learned, for others; and what it is given to begin from.
        self.learned: Learned | None = node.learned()
        self.given: Learned | None = None

    def take(self, seen: Observation) -> None:
        """Decide upon a step, and show it."""
        given, self.given = self.given, None
        if given is not None and self.node.is_new:
            self.node.start(given)
        if seen.seconds > _GAP * self._every:
            self.node.gap()
        # Unknown is unknown; a share of a little above 1 is the kernel's rounding.
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
    """Observe until told to stop; a step that would begin too late is left out.

    Parameters
    ----------
    observe
        Measures this machine.
    take
        Is given each step but the first, which has no rates.
    every
        Seconds of a step.
    clock
        Says the time, s.
    stop
        Ends this.
    """
    pace, started = Pace(math.inf, every), clock()
    observe()
    while not stop.wait(pace.next(started, clock()) - clock()):
        take(observe())
