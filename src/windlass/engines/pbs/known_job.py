"""A job as last reported to the engine, and the changes that a poll found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import Enum

from windlass.engines.batch.system import Event, Submitted
from windlass.engines.pbs.models import PbsJob


class Reported(Enum):
    """What the engine knows about a job: nothing, that it waits, or that it holds processors."""

    NOTHING = "nothing"
    WAITS = "waits"
    HOLDS = "holds"


@dataclass(slots=True)
class KnownPbsJob:
    """A job as last listed, and as last reported to the engine.

    Parameters
    ----------
    job
        As last listed.
    number
        The engine's number of it.
    at
        Its submit time as reported, s.
    reported
        What the engine knows.
    released
        When this driver released it, s; NaN if it did not.
    runs
        How often it had been started before it last held processors.
    turn
        The running number of its release; 0 for none.
    began
        Whether its start was reported.
    refusals
        Refusals in a row.
    times
        How often in a row it was held again because it did not start.
    aside
        When it is tried again, s; NaN if it is not set aside.
    obstacle
        Why it cannot start unless something is changed; empty if it can.
    withheld
        Whether an operator held it after a release.
    queued
        The last event of its submission.
    """

    job: PbsJob
    number: int
    at: float
    reported: Reported = Reported.NOTHING
    released: float = math.nan
    runs: int = 0
    turn: int = 0
    began: bool = False
    refusals: int = 0
    times: int = 0
    aside: float = math.nan
    obstacle: str = ""
    withheld: bool = False
    queued: Submitted | None = None


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
