"""A job as last reported to the engine, and the changes that a poll found."""

from __future__ import annotations

from dataclasses import dataclass, field

from windlass.engines.batch.known_jobs import KnownJob
from windlass.engines.batch.system import Event
from windlass.engines.pbs.models import PbsJob


@dataclass(slots=True)
class KnownPbsJob(KnownJob[PbsJob]):
    """A job as last listed, and as last reported to the engine.

    Parameters
    ----------
    runs
        How often it had been started before it last held processors.
    times
        How often in a row it was held again because it did not start.
    """

    runs: int = 0
    times: int = 0


@dataclass(frozen=True, slots=True)
class PbsChanges:
    """The result of a poll.

    Parameters
    ----------
    events
        Events for the engine, in order.
    hold
        Jobs that must be held again, with the reason of each.
    withheld
        Jobs that an operator held after their release.
    freed
        Waiting jobs that an operator released.
    stuck
        Jobs that cannot start unless something is changed, with the reason.
    """

    events: list[Event] = field(default_factory=list)
    hold: dict[str, str] = field(default_factory=dict)
    withheld: list[str] = field(default_factory=list)
    freed: list[str] = field(default_factory=list)
    stuck: dict[str, str] = field(default_factory=dict)
