"""A job as last reported to the engine, and the changes that a poll found."""

from __future__ import annotations

from dataclasses import dataclass, field

from windlass.engines.backoff import NO_FAILURES, RetryState
from windlass.engines.batch.holds.site import HeldJob
from windlass.engines.batch.polled_jobs import PolledJob
from windlass.engines.batch.system import Event


@dataclass(slots=True)
class KnownHeldJob(PolledJob[HeldJob]):
    """A job as last listed, and as last reported to the engine.

    Parameters
    ----------
    runs
        How often it had been started before it last held processors.
    times
        How often in a row it was held again because it did not start.
    holds
        Refused attempts in a row to hold it again.
    """

    runs: int = 0
    times: int = 0
    holds: RetryState = NO_FAILURES


@dataclass(frozen=True, slots=True)
class HoldChanges:
    """The result of a poll.

    Parameters
    ----------
    events
        Events for the engine, in order.
    hold
        Jobs that must be held again, with the reason of each.
    withheld
        Jobs that others held after their release.
    freed
        Waiting jobs that others released.
    stuck
        Jobs that cannot start unless something is changed, with the reason.
    """

    events: list[Event] = field(default_factory=list)
    hold: dict[str, str] = field(default_factory=dict)
    withheld: list[str] = field(default_factory=list)
    freed: list[str] = field(default_factory=list)
    stuck: dict[str, str] = field(default_factory=dict)
