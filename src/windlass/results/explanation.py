"""What one job waited for, decision by decision."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class StartExplanation:
    """A job that a decision started.

    Parameters
    ----------
    job, procs
        Its number, and its processors.
    before
        Whether it had come to the queue before the job that is explained.
    why
        The policy's reason.
    """

    job: int
    procs: int
    before: bool
    why: str


@dataclass(frozen=True, slots=True)
class Moment:
    """One decision while the job waited.

    Parameters
    ----------
    at
        When, s.
    place
        How many who had come before it waited still, before the decision.
    idle, left
        Idle processors before and after the decision.
    running
        How many jobs ran before the decision.
    ended
        Jobs that have ended since the decision before; none at the first one.
    started
        Whom the decision started.
    promise
        When the job was promised to start at the latest, s; NaN where it was promised nothing.
    short
        Of which resources less stayed idle after the decision than the job asked for, where it waits on; nothing where
        jobs wait for processors alone.
    """

    at: float
    place: int
    idle: int
    left: int
    running: int
    ended: tuple[int, ...]
    started: tuple[StartExplanation, ...]
    promise: float = math.nan
    short: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Waited:
    """A job, and all decisions from its submission to its start.

    Parameters
    ----------
    job, procs
        Its number, and the processors that it asked for.
    processors
        Of the site.
    submit, start, request
        s.
    expected
        How long the policy expected it to run, s; the request, where nothing better is known.
    why
        The policy's reason to start it.
    moments
        In order; the last one starts it.
    beside
        What it asked for beside processors, of what there was, in words; nothing where jobs wait for processors alone.

    Examples
    --------
    >>> started = (StartExplanation(7, 3, True, "fits"),)
    >>> moment = Moment(at=5.0, place=0, idle=4, left=1, running=0, ended=(), started=started)
    >>> Waited(7, 3, 4, submit=5.0, start=5.0, request=60.0, expected=60.0, why="fits", moments=(moment,)).wait
    0.0
    """

    job: int
    procs: int
    processors: int
    submit: float
    start: float
    request: float
    expected: float
    why: str
    moments: tuple[Moment, ...]
    beside: tuple[str, ...] = ()

    @property
    def wait(self) -> float:
        """From submission to start, s."""
        return self.start - self.submit
