"""Predicted starts of the jobs that wait in a live Slurm, in a thread of its own: the driver does not wait for them."""

from __future__ import annotations

import contextlib
import math
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Self

from windlass.agent.stop import Stop
from windlass.control.journal import (
    EventRecord,
    JobKey,
    JournalReader,
    JournalWriter,
    PredictionRecord,
    PredictionsVoided,
    StartRecord,
)
from windlass.control.predicted_starts import PredictedStarts, replay_policy
from windlass.control.site_status import MOST_PAST
from windlass.control.slurm.queue import may_start, queue_processors
from windlass.engines.slurm.log import EndedJob
from windlass.engines.slurm.models import JobRow, Phase
from windlass.engines.slurm.observer import SlurmPoll
from windlass.experiment.start_times.calibration import Calibration
from windlass.experiment.start_times.live import live_history
from windlass.experiment.start_times.question import StartPredictor
from windlass.experiment.worlds.policy import PolicySpec
from windlass.model import InputError
from windlass.policy.user_code import message_of

#: Interval at which polls are compared for starts, s.
_TICK = 1.0
#: The least time between two rounds of predictions, and until a job is predicted again, s. After a round that took
#: long, the pause is longer, so that predictions take at most a twentieth of the time.
EVERY, AGAIN, _REST = 10.0, 300.0, 20.0
#: Waiting jobs that a round replays, the first submitted ones, and finished jobs that it uses, the latest ones.
MOST_WAITING, MOST_ENDED = 300, 5_000
#: How long the end of the driver waits for a round, s.
_PATIENCE = 5.0
#: Finished jobs by which the first intervals are calibrated.
_CHECKED = 100

_Row = PredictionRecord | StartRecord | PredictionsVoided | EventRecord


class LiveStarts:
    """Predicts starts from polls, and writes them to the journal.

    Parameters
    ----------
    key
        Returns the key of a job's identifier, and that of the site for an empty one.
    order
        The policy that orders the queue.
    journal, reader
        The journal, and a reader of it: predictions of the process before are continued.
    past
        Reads the finished jobs of the cluster, once; an InputError means that it keeps no record of them.
    clock
        Returns a time that only grows, s.
    """

    def __init__(
        self,
        key: Callable[[str], JobKey],
        order: PolicySpec,
        journal: JournalWriter,
        reader: JournalReader,
        past: Callable[[], Sequence[EndedJob]],
        clock: Callable[[], float],
    ) -> None:
        self._key, self._policy, self._journal = key, replay_policy(order), journal
        self._past, self._clock = past, clock
        site = key("")
        self._left = reader.predictions.waiting(site.engine, site.site)
        self._calibration, self._begun = Calibration(), False
        self._starts = PredictedStarts(key, self._calibration, AGAIN)
        self._ended: deque[EndedJob] = deque(maxlen=MOST_ENDED)
        self._latest_ended: tuple[EndedJob, ...] = ()
        #: Jobs of the poll before that had not ended.
        self._live: set[str] = set()
        self._due, self._failure = -math.inf, ""
        self._poll: SlurmPoll | None = None
        self._stop, self._thread = Stop(), threading.Thread(target=self._run, name="starts", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.notify()
        # A round that takes longer ends when it finds the journal closed.
        self._thread.join(_PATIENCE)

    @property
    def latest_ended(self) -> tuple[EndedJob, ...]:
        """The last finished jobs of the latest comparison of polls, the latest last; any thread may read it."""
        return self._latest_ended

    def polled(self, poll: SlurmPoll) -> None:
        """Take note of a poll; any thread may call it."""
        self._poll = poll

    def look(self, poll: SlurmPoll) -> list[_Row]:
        """Return the starts since the poll before, and predictions if a round is due.

        A prediction that fails is an event, once for each message, and the next round tries again.

        Parameters
        ----------
        poll
            The poll.
        """
        found: list[_Row] = []
        if not self._begun:
            found += self._begin(poll)
        try:
            found += self._changes(poll)
            if self._clock() >= self._due:
                began = self._clock()
                found += self._round(poll)
                ended = self._clock()
                self._due = ended + max(EVERY, _REST * (ended - began))
        except Exception as error:
            # The driver goes on without predictions, whatever the cause.
            why = f"starts are not predicted: {message_of(error)}"
            if why != self._failure:
                found.append(EventRecord(poll.now, self._key(""), "error", why))
            self._failure, self._due = why, self._clock() + EVERY
        self._latest_ended = tuple(self._ended)[-MOST_PAST:]
        return found

    def _run(self) -> None:
        seen: SlurmPoll | None = None
        while not self._stop.wait(_TICK):
            poll = self._poll
            if poll is None or poll is seen:
                continue
            seen = poll
            try:
                self._journal.append(*self.look(poll))
            except InputError:
                # The engine's own thread meets the same error, and reports it.
                return

    def _begin(self, poll: SlurmPoll) -> Iterator[EventRecord]:
        """Calibrate once, by the jobs that the cluster has a record of."""
        self._begun = True
        try:
            self._calibration = self._calibrated(poll)
        except Exception as error:
            why = f"earlier jobs are not used to predict starts: {message_of(error)}"
            yield EventRecord(poll.now, self._key(""), "error", why)
        self._starts = PredictedStarts(self._key, self._calibration, AGAIN)
        self._starts.restore(self._left)
        self._live = {row.job.id for row in self._left}

    def _calibrated(self, poll: SlurmPoll) -> Calibration:
        # Without a record, the jobs that end from now on are all that is known.
        with contextlib.suppress(InputError):
            self._ended.extend(sorted(self._past(), key=lambda job: job.end))
        processors = queue_processors(poll)
        some = [job for job in self._ended if job.procs <= processors and job.end <= poll.now]
        if not some:
            return Calibration()
        history = live_history(some, (), processors, poll.now).history
        return StartPredictor(history, self._policy).check(_CHECKED).calibration

    def _changes(self, poll: SlurmPoll) -> Iterator[_Row]:
        starts, begun, live = self._starts, dict[str, float](), set[str]()
        for row in poll.jobs:
            job = str(row.job)
            if row.phase is Phase.WAITS:
                live.add(job)
            elif row.start > 0 and (row.phase is Phase.RUNS or row.ran):
                # Slurm's times are whole seconds; no job starts before its prediction.
                begun[job] = min(max(row.start, starts.latest(job)), poll.now)
            if row.phase is Phase.RUNS:
                live.add(job)
            elif row.phase is Phase.OVER and job in self._live and row.ran and row.end >= row.start:
                self._ended.append(_ended(row))
        yield from starts.started(begun, poll.now)
        gone = (self._live | starts.waiting()) - live
        yield from starts.cancelled(gone - begun.keys(), poll.now)
        starts.forget(gone)
        self._live = live

    def _round(self, poll: SlurmPoll) -> Iterator[PredictionRecord]:
        starts, processors = self._starts, queue_processors(poll)
        waiting = [row for row in poll.jobs if may_start(row, processors)]
        waiting = sorted(waiting, key=lambda row: (row.submit, row.job))[:MOST_WAITING]
        due = starts.due([str(row.job) for row in waiting], poll.now)
        if not due:
            return
        running = [row for row in poll.jobs if row.phase is Phase.RUNS]
        history = live_history(list(self._ended), [*running, *waiting], processors, poll.now)
        predictor = StartPredictor(history.history, self._policy, level=self._calibration.level)
        yield from starts.predicted(predictor.waiting(poll.now), due, poll.now)


def _ended(row: JobRow) -> EndedJob:
    request = int(row.limit) if math.isfinite(row.limit) else None
    times = (int(row.submit), int(row.start), int(row.end))
    return EndedJob(row.job, *times, row.procs, request, row.user, row.partition, row.state, row.name)
