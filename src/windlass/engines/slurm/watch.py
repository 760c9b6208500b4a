"""Changes of Slurm's jobs between two polls, as events. This module sends nothing to Slurm."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import msgspec

from windlass.engines.backoff import NO_FAILURES
from windlass.engines.batch.system import Cancelled, Delayed, Ended, Event, Holds, Resized, Started
from windlass.engines.slurm.known_job import KnownJob, QueueChanges
from windlass.engines.slurm.models import JobRow, Phase
from windlass.engines.slurm.reasons import WAITS_FOR_ROOM


class SlurmWatch:
    """Compares each poll with the one before.

    Slurm's times are whole seconds. Events are therefore placed between the two polls around them: a start at the
    earliest possible instant, an end or a submission at the latest.

    Parameters
    ----------
    was_released
        Returns whether a waiting job without a hold was released by an earlier driver, and not requeued since.
    was_requeued
        Returns whether such a job was requeued since.
    withheld
        Returns whether a user held the job after its release.
    returning
        Returns whether a driver requeued it, held; a job requeued by anyone else keeps its hold.
    excess
        Returns what a job requests in excess of its partition; empty if it fits. One that does not is set aside.
    is_users
        Returns whether a held job was held by another than a driver, which is not recorded yet.
    """

    def __init__(
        self,
        was_released: Callable[[JobRow], bool],
        was_requeued: Callable[[JobRow], bool],
        withheld: Callable[[JobRow], bool] = lambda row: False,
        returning: Callable[[JobRow], bool] = lambda row: False,
        excess: Callable[[JobRow], str] = lambda row: "",
        is_users: Callable[[JobRow], bool] = lambda row: False,
    ) -> None:
        self._was_released, self._was_requeued = was_released, was_requeued
        self._withheld, self._returning, self._excess = withheld, returning, excess
        self._is_users = is_users
        self._restarted_since: Callable[[], bool] = lambda: False
        self._known: dict[int, KnownJob] = {}
        self._polled, self._turns = -math.inf, 0

    def row(self, job: int) -> JobRow | None:
        """Return a job as listed at the last poll; None if there is no such job."""
        known = self._known.get(job)
        return None if known is None else known.row

    def released(self, job: int, at: float) -> None:
        """Note that a job was released."""
        self._turns += 1
        known = self._known[job]
        known.released, known.turn, known.releases = at, self._turns, NO_FAILURES

    def refused(self, job: int, now: float) -> list[Event]:
        """Note that Slurm refused a release; return the event that sets the job aside after several refusals."""
        return [Cancelled(job, now)] if self._known[job].refuse(now) else []

    def held(self, job: int) -> None:
        """Note that a job was held for Windlass since the last poll."""
        known = self._known[job]
        known.row = msgspec.structs.replace(known.row, held=True)

    def not_held(self, job: int, now: float) -> list[Event]:
        """Take a job that could not be held out of the queue, as Slurm may start it; return the events of this."""
        known = self._known[job]
        if not math.isnan(known.aside):
            return []
        known.aside, known.doubtful = math.inf, True
        return [Cancelled(job, now)]

    def update(
        self,
        rows: Sequence[JobRow],
        began: float,
        now: float,
        restarted: Callable[[], bool] = lambda: False,
    ) -> QueueChanges:
        """Compare a poll with the last one.

        Parameters
        ----------
        rows
            All jobs that Slurm lists, by number.
        began, now
            When the poll began and ended, s.
        restarted
            Returns whether Slurm's controller restarted since the last poll, and may have forgotten releases.
        """
        self._restarted_since = restarted
        found = QueueChanges()
        there = {row.job for row in rows}
        for job in [job for job in self._known if job not in there]:
            found.events.extend(self._vanished(self._known.pop(job), now))
        # Released jobs are reported in the order of their release, because Slurm starts them in that order.
        for row in sorted(rows, key=self._turn):
            self._compare(row, now, found)
        found.stuck.update((job, why) for job, known in self._known.items() if (why := known.obstacle))
        self._polled = began
        return found

    def _turn(self, row: JobRow) -> int:
        known = self._known.get(row.job)
        return 0 if known is None else known.turn

    def _compare(self, row: JobRow, now: float, found: QueueChanges) -> None:
        known = self._known.get(row.job)
        if known is not None and row.submit != known.row.submit and row.restarts <= known.row.restarts:
            # Another job with the same number: Slurm lost its state and numbers jobs from the start again.
            found.events.extend(self._vanished(self._known.pop(row.job), now))
            known = None
        if known is None:
            self._meet(row, now, found)
            return
        if row.restarts > known.row.restarts and row.state == "COMPLETING":
            # The requeued job's previous run still holds its processors.
            return
        before, known.row = known.row, row
        if row.restarts > before.restarts:
            self._restarted(known, now, found)
        elif known.phase is Phase.WAITS and row.phase is Phase.WAITS:
            self._waits_on(known, before, now, found)
        elif known.phase is Phase.WAITS:
            found.events.extend(self._leaves_queue(known, now))
        elif known.phase is Phase.RUNS and row.phase is Phase.WAITS:
            self._goes_on_waiting(known, now, found)
        elif known.phase is Phase.RUNS and row.phase is Phase.OVER:
            found.events.append(self._over(known, now))
        elif known.phase is Phase.OVER and row.phase is not Phase.OVER:
            # A controller that was killed restarts from its last saved state.
            del self._known[row.job]
            self._meet(row, now, found)
        if known.phase is Phase.RUNS and row.phase is Phase.RUNS:
            found.events.extend(self._resized(known, now))
            found.events.extend(self._delayed(known, now))

    def _meet(self, row: JobRow, now: float, found: QueueChanges) -> None:
        """Report a job that was not reported before."""
        if row.phase is Phase.OVER:
            return
        at = self._latest(row.submit, now) if math.isfinite(self._polled) else min(row.submit, now)
        known = KnownJob(row, at, row.phase, ours=False)
        if row.phase is Phase.RUNS:
            found.events.append(self._holds(known, self._earliest(row.start, now)))
            found.events.extend(self._delayed(known, now))
        elif not row.opted_in:
            return
        elif row.barred or (row.held and self._withheld(row)):
            known.ours, known.aside = True, -math.inf if row.barred else math.inf
        elif row.held and (self._is_users(row) or (self._was_requeued(row) and not self._returning(row))):
            known.ours, known.aside = True, math.inf
            found.withheld.append(row.job)
        elif row.held:
            known.ours = True
            if not known.misfits(self._excess(row)):
                found.events.append(known.submitted())
        elif self._withheld(row):
            # The user has lifted the hold since, so Slurm starts the job.
            known.ours, known.aside = True, math.inf
        elif self._was_requeued(row):
            known.ours = True
            found.hold[row.job] = "it was requeued"
            found.events.append(known.submitted())
        elif self._was_released(row):
            # It will run at any moment, and already has its processors.
            known.phase = Phase.RUNS
            found.events.append(self._holds(known, now))
        else:
            return
        self._known[row.job] = known

    def _waits_on(self, known: KnownJob, before: JobRow, now: float, found: QueueChanges) -> None:
        row = known.row
        if not math.isnan(known.aside):
            self._stays_aside(known, before, now, found)
        elif row.barred:
            # An administrator's hold applies whether the job waited or was just released.
            known.released = math.nan
            self._withhold(known, now, found)
        elif not math.isnan(known.released) and row.held:
            known.released = math.nan
            if self._restarted_since():
                found.events.append(known.submitted())
            else:
                self._withhold(known, now, found)
        elif not math.isnan(known.released) and row.reason not in WAITS_FOR_ROOM:
            self._set_aside(known, now, found)
        elif math.isnan(known.released) and not row.held:
            # Another released it, so Slurm starts it.
            known.aside, known.doubtful = math.inf, True
            found.events.append(Cancelled(row.job, now))
        elif math.isnan(known.released) and known.misfits(self._excess(row)):
            found.events.append(Cancelled(row.job, now))
        elif _shown(row) != _shown(before) and math.isnan(known.released):
            found.events.append(known.submitted())

    def _stays_aside(self, known: KnownJob, before: JobRow, now: float, found: QueueChanges) -> None:
        # A single poll without the hold may be a list from before it.
        doubtful, known.doubtful = known.doubtful, False
        if doubtful and known.row.held:
            known.aside = now
        elif known.row.held and not before.held and known.aside == math.inf:
            found.withheld.append(known.row.job)
        if known.returns(now) and not known.misfits(self._excess(known.row)):
            found.events.append(known.back())

    def _goes_on_waiting(self, known: KnownJob, now: float, found: QueueChanges) -> None:
        """Update a job that an earlier driver released, and that does not run yet."""
        if known.row.held:
            known.phase, known.ours = Phase.WAITS, True
            self._withhold(known, now, found)
        elif known.row.reason not in WAITS_FOR_ROOM:
            known.phase, known.ours = Phase.WAITS, True
            self._set_aside(known, now, found)

    def _withhold(self, known: KnownJob, now: float, found: QueueChanges) -> None:
        """Leave a held job alone until it is released. One held by an administrator may return to Windlass."""
        known.aside = -math.inf if known.row.barred else math.inf
        if not known.row.barred:
            found.withheld.append(known.row.job)
        found.events.append(Cancelled(known.row.job, now))

    def _resized(self, known: KnownJob, now: float) -> Iterator[Event]:
        """Report that Slurm gave a job other processors than it requested; a completing job gives them up in parts."""
        if known.row.procs != known.procs and known.row.state != "COMPLETING":
            known.procs = known.row.procs
            yield Resized(known.row.job, now, known.procs)

    def _delayed(self, known: KnownJob, now: float) -> Iterator[Event]:
        """Report the suspended time of a running job, in steps of a second."""
        paused = known.row.paused(now)
        if paused - known.paused >= 1.0 or (known.row.state != "SUSPENDED" and paused > known.paused):
            yield Delayed(known.row.job, now, paused - known.paused)
            known.paused = paused

    def _set_aside(self, known: KnownJob, now: float, found: QueueChanges) -> None:
        """Hold a job that waits for another job or a time, so that it does not keep processors idle."""
        found.hold[known.row.job] = known.set_aside(now)
        found.events.append(Cancelled(known.row.job, now))

    def _leaves_queue(self, known: KnownJob, now: float) -> Iterator[Event]:
        row = known.row
        known.phase = row.phase
        began = max(self._earliest(row.start, now), min(known.at, now))
        if not math.isnan(known.released):
            began = min(max(began, known.released), now)
        if not math.isnan(known.aside):
            # It was reported as cancelled when it was set aside; it was then released by a user.
            known.ours, known.aside = False, math.nan
            if row.phase is Phase.RUNS:
                yield self._holds(known, began)
            return
        if row.phase is Phase.RUNS or row.ran:
            yield Started(row.job, began)
        if row.phase is Phase.OVER:
            over = self._over(known, now)
            yield type(over)(over.job, max(over.at, began))

    def _restarted(self, known: KnownJob, now: float, found: QueueChanges) -> None:
        """Update a requeued job, whatever its state was before."""
        row = known.row
        released = known.ours or self._was_released(row) or self._was_requeued(row) or self._is_users(row)
        if not (row.opted_in and released):
            found.events.extend(self._vanished(self._known.pop(row.job), now))
            if row.opted_in and row.held:
                # No driver released it, so the hold is another's.
                self._known[row.job] = KnownJob(row, now, Phase.WAITS, ours=False, aside=math.inf)
                found.withheld.extend([] if row.barred else [row.job])
            else:
                self._meet(row, now, found)
            return
        known.times, known.released, known.aside = 0, math.nan, math.nan
        known.doubtful = False
        known.paused, known.phase, known.blocked, known.refused = 0.0, row.phase, "", None
        known.at, known.ours = self._latest(row.submit, now), True
        found.events.append(known.submitted())
        if row.held and (row.barred or not self._returning(row)):
            known.phase = Phase.WAITS
            self._withhold(known, now, found)
            return
        if row.phase is not Phase.WAITS:
            known.phase = Phase.WAITS
            found.events.extend(self._leaves_queue(known, now))
        elif not row.held:
            found.hold[row.job] = "it was requeued"

    def _vanished(self, known: KnownJob, now: float) -> Iterator[Event]:
        if known.phase is Phase.RUNS:
            yield Ended(known.row.job, now)
        elif known.phase is Phase.WAITS and math.isnan(known.aside):
            yield Cancelled(known.row.job, now)

    def _over(self, known: KnownJob, now: float) -> Ended | Cancelled:
        known.phase = Phase.OVER
        kind = Cancelled if known.row.cancelled or not known.row.ran else Ended
        return kind(known.row.job, self._latest(known.row.end, now))

    def _holds(self, known: KnownJob, at: float) -> Holds:
        known.procs = known.row.procs
        return Holds(known.row.job, at, known.row.procs, known.row.limit, known.row.owner)

    def _earliest(self, second: float, now: float) -> float:
        return min(max(second, self._polled), now)

    def _latest(self, second: float, now: float) -> float:
        return min(max(second + 1.0, self._polled), now)


def _shown(row: JobRow) -> tuple[object, ...]:
    """Return what a policy sees of a waiting job."""
    return row.procs, row.limit, row.account, row.qos
