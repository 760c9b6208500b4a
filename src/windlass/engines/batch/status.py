"""The present state of a driver, for its metrics."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from windlass.engines.loop_health import LoopHealth


@dataclass(slots=True)
class Contact:
    """Whether the batch system answers.

    Parameters
    ----------
    away
        True from the first request without an answer until one has an answer.
    lost
        Total time without an answer, s.
    outages
        How often it stopped to answer.
    health
        Whether the driver polls it.
    """

    away: bool = False
    lost: float = 0.0
    outages: int = 0
    health: LoopHealth = field(default_factory=LoopHealth, compare=False)


@dataclass(slots=True)
class DriverStatus:
    """Counters and current values of a driver; only its own thread writes them.

    Parameters
    ----------
    decisions, started, refusals
        Decisions of the order policy, jobs that they started, and releases that were refused.
    waiting, running
        Jobs of Windlass that wait, without those that cannot start, and that run.
    stuck
        Jobs of Windlass that cannot start unless a user or an administrator acts.
    processors
        Processors of nodes that are up.
    capacity_falls
        How often these became fewer.
    polls, poll_seconds
        Polls of the batch system, and the time that they took, s.
    last_poll_seconds
        The time that the last one took, s.
    lag
        The time from the poll that a decision is based on until its jobs were released, s, at the last decision.
    polled
        Unix time of the last poll, s; NaN before the first.
    left_held
        Jobs that could not be given back at the end.
    inherited
        True while jobs may be held that another driver has handed over, until this one gives them back at its end.
    contact
        Whether the batch system answers.
    """

    decisions: int = 0
    started: int = 0
    refusals: int = 0
    waiting: int = 0
    running: int = 0
    stuck: int = 0
    processors: int = 0
    capacity_falls: int = 0
    polls: int = 0
    poll_seconds: float = 0.0
    last_poll_seconds: float = 0.0
    lag: float = 0.0
    polled: float = math.nan
    left_held: int = 0
    inherited: bool = False
    contact: Contact = field(default_factory=Contact)
