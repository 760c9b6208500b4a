"""A job as last reported to the engine, and the changes that a poll found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from windlass.engines.backoff import NO_FAILURES, RetryState
from windlass.engines.batch.polled_jobs import ASIDE, refused_release
from windlass.engines.batch.system import Event, Submitted
from windlass.engines.slurm.models import JobRow, Phase
from windlass.engines.slurm.reasons import ASIDE_FOR_GOOD, LAUNCH_FAILED, is_final, launch_failed


@dataclass(slots=True)
class KnownJob:
    """A job as last reported to the engine."""

    row: JobRow
    at: float
    phase: Phase
    #: True if the engine may start it.
    ours: bool
    #: When it was released, s; NaN while it is held.
    released: float = math.nan
    #: The running number of its release; 0 for none.
    turn: int = 0
    #: Until when it is set aside, s; NaN if it is not. And how many times in a row.
    aside: float = math.nan
    times: int = 0
    #: Why it cannot start unless it or the cluster is changed; empty if it can.
    blocked: str = ""
    #: Its request when Slurm could not start it: a changed job is tried again at once.
    refused: tuple[object, ...] | None = None
    #: True if the last poll listed it without a hold, though no driver released it.
    doubtful: bool = False
    #: The processors that were reported last.
    procs: int = 0
    #: Its suspended time reported so far, s.
    paused: float = 0.0
    #: Releases that Slurm refused in a row.
    releases: RetryState = NO_FAILURES

    def set_aside(self, now: float) -> str:
        """Set it aside until it is tried again; return a reason to report, empty if it is reported as blocked."""
        self.times, self.released = self.times + 1, math.nan
        reason = self.row.reason
        if is_final(reason):
            self.blocked, self.refused = reason, _request(self.row)
            self.aside = now + ASIDE_FOR_GOOD.delay(self.times)
            return ""
        self.aside = now + ASIDE.delay(self.times)
        return f"Slurm cannot start it yet: {reason}"

    def refuse(self, now: float) -> bool:
        """Note that Slurm refused to release it; set it aside after several refusals, and return whether it is."""
        self.releases = refused_release(self.releases, now)
        if self.releases.due >= now:
            self.aside = self.releases.due
        return not math.isnan(self.aside)

    def misfits(self, why: str) -> bool:
        """Set it aside if it requests too much, for the reason ``why``; return whether it does."""
        self.blocked = why
        if why:
            self.aside = -math.inf
        return bool(why)

    def returns(self, now: float) -> bool:
        """Return whether a job that was set aside may be tried again."""
        row = self.row
        changed = self.refused is not None and self.refused != _request(row)
        return row.held and not row.barred and (now >= self.aside or changed)

    def back(self) -> Submitted:
        """Queue it again."""
        self.aside, self.blocked, self.refused = math.nan, "", None
        return self.submitted()

    def submitted(self) -> Submitted:
        """Return the event of its submission."""
        self.procs = self.row.procs
        return Submitted(self.row.job, self.at, self.row.procs, self.row.limit, self.row.owner)

    @property
    def obstacle(self) -> str:
        """Why it cannot start unless a user or an administrator acts; empty if it can, or does not wait."""
        if self.phase is not Phase.WAITS or not self.ours:
            return ""
        return LAUNCH_FAILED if launch_failed(self.row) else self.blocked


def _request(row: JobRow) -> tuple[object, ...]:
    return row.procs, row.limit, row.memory, row.partition, row.dependency


@dataclass(frozen=True, slots=True)
class QueueChanges:
    """The result of a poll.

    Parameters
    ----------
    events
        Events for the engine, in order.
    hold
        Jobs that wait without a hold and must be held again, with the reason; empty for a job in ``stuck``.
    withheld
        Jobs that a user held after their release: only the user may release them.
    stuck
        All jobs that cannot start unless a user or an administrator acts, with the reason.
    """

    events: list[Event] = field(default_factory=list)
    hold: dict[int, str] = field(default_factory=dict)
    withheld: list[int] = field(default_factory=list)
    stuck: dict[int, str] = field(default_factory=dict)
