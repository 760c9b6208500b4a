"""Jobs of a batch system as last listed and as last reported to the engine: what all watches have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any, Generic, TypeVar

from windlass.engines.backoff import NO_FAILURES, Backoff, RetryState
from windlass.engines.batch.system import Cancelled, Event, Submitted

_Row = TypeVar("_Row")

#: Delays before a job that did not start, or that the system did not release several times, is tried again, s.
ASIDE = Backoff(5.0, 300.0)
#: Releases that the system refused in a row and that are repeated without a delay; the next one sets the job aside.
_REFUSALS_AT_ONCE = 3


def refused_release(releases: RetryState, now: float) -> RetryState:
    """Return the record after one more refused release; the job is set aside if the next attempt is due later."""
    return releases.failed(now, ASIDE, at_once=_REFUSALS_AT_ONCE)


class Reported(Enum):
    """What the engine knows about a job: nothing, that it waits, or that it holds processors."""

    NOTHING = "nothing"
    WAITS = "waits"
    HOLDS = "holds"


@dataclass(slots=True)
class PolledJob(Generic[_Row]):
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
    turn
        The running number of that release; 0 for none.
    began
        Whether its start was reported.
    releases
        Refused releases in a row.
    aside
        When it is tried again, s; NaN if it is not set aside.
    obstacle
        Why it cannot start unless something is changed; empty if it can.
    withheld
        Whether it was held by others after a release.
    queued
        The last event of its submission.
    """

    job: _Row
    number: int
    at: float
    reported: Reported = Reported.NOTHING
    released: float = math.nan
    turn: int = 0
    began: bool = False
    releases: RetryState = NO_FAILURES
    aside: float = math.nan
    obstacle: str = ""
    withheld: bool = False
    queued: Submitted | None = None


_Known = TypeVar("_Known", bound=PolledJob[Any])


class PolledJobs(Generic[_Known]):
    """Jobs by the system's identifier and by the engine's number; base of a system's watch.

    The times of a system are whole seconds. Events are therefore placed between the two polls around them: a start at
    the earliest possible instant, an end or a submission at the latest.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}
        self._by_number: dict[int, str] = {}
        self._polled, self._last, self._turns = -math.inf, 0, 0

    def find(self, number: int) -> _Known | None:
        """Return a job by the engine's number; None if there is none."""
        return self._known.get(self._by_number.get(number, ""))

    def count(self, reported: Reported) -> int:
        """Return the number of jobs of the queue of which the engine knows this."""
        return sum(each.reported is reported and self._is_ours(each) for each in self._known.values())

    def waiting(self) -> int:
        """Return the number of jobs that wait for a release, including those that are set aside for a while."""
        return sum(
            each.reported is Reported.WAITS or (not math.isnan(each.aside) and self._is_held(each))
            for each in self._known.values()
        )

    def released(self, number: int, at: float) -> None:
        """Note that a job was released at ``at`` (s): it holds processors from then on."""
        each = self._known[self._by_number[number]]
        self._turns += 1
        each.released, each.turn, each.releases = at, self._turns, NO_FAILURES
        each.reported, each.began = Reported.HOLDS, False
        self._note_release(each)

    def refused(self, number: int, now: float) -> list[Event]:
        """Note that a release was refused; return the event that sets the job aside after several refusals."""
        each = self._known[self._by_number[number]]
        each.releases = refused_release(each.releases, now)
        if each.releases.due < now:
            return []
        each.aside = each.releases.due
        each.reported = Reported.NOTHING
        return [Cancelled(number, now)]

    def _is_ours(self, each: _Known) -> bool:
        """Return whether a job is one of the queue's."""
        return True

    def _is_held(self, each: _Known) -> bool:
        """Return whether a job was last listed as held for Windlass."""
        raise NotImplementedError

    def _note_release(self, each: _Known) -> None:
        """Note what identifies a release of this job."""

    def _arrival(self, submitted: float, now: float) -> float:
        """Return the submit time of a job that is listed for the first time, s."""
        return self._latest(submitted, now) if math.isfinite(self._polled) else min(submitted, now)

    def _start(self, each: _Known, start: float, now: float) -> float:
        """Return when a job started, s, from the system's time of it, which may be NaN."""
        at = now if math.isnan(start) else max(self._earliest(start, now), min(each.at, now))
        return at if math.isnan(each.released) else min(max(at, each.released), now)

    def _earliest(self, second: float, now: float) -> float:
        return min(max(second, self._polled), now)

    def _latest(self, second: float, now: float) -> float:
        return min(max(second + 1.0, self._polled), now)
