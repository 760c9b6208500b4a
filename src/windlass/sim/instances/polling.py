"""Polls: calls of the policy between two periodic decisions.

Autoscalers such as the Kubernetes cluster autoscaler check the queue every ten seconds. A poll at which no new job
waits, no instance has been empty for longer than allowed and no launch has failed would give the previous answer. Such
polls are skipped; a year at one poll in ten seconds would need three million calls.
"""

from __future__ import annotations

import numpy as np

from windlass.jit import inlined


@inlined
def poll_soon(run, now):
    """Schedule the next poll, because something has changed; polls begin with the first decision."""
    clock = run.queues.clock[0]
    if clock.poll_period < np.inf and now >= clock.first_decision:
        steps = np.ceil((now - clock.first_decision) / clock.poll_period)
        # Rounding must not put the poll into the past, and one instant has at most one decision.
        at = max(now, clock.first_decision + steps * clock.poll_period)
        clock.next_poll = min(clock.next_poll, at + clock.poll_period if at == clock.last_decision else at)


@inlined
def poll_for_arrivals(run, now):
    """Schedule a poll if jobs wait and the queue has grown since the last decision."""
    counts = run.queues.counts[0]
    if counts.waiting > 0 and counts.next_sequence > counts.decision_sequence:
        poll_soon(run, now)


@inlined
def note_decision(run):
    """Record that the policy has decided."""
    counts, clock = run.queues.counts[0], run.queues.clock[0]
    counts.decision_sequence = counts.next_sequence
    clock.next_poll, clock.last_decision = np.inf, clock.now
