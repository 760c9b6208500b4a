"""Entries of a driver's journal as acts of the control plane: the intent before, the outcome after."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from windlass.control.journal import ActOutcome, ActRecord, JobKey, JournalWriter
from windlass.engines.slurm.entries import (
    Entry,
    GivenBack,
    Holding,
    Refused,
    Released,
    Releasing,
    Restored,
    Returning,
    Taking,
)
from windlass.engines.slurm.models import JobRow, Phase

#: What acts do; the first word of each act.
_RELEASE, _HOLD, _SHARE, _REQUEUE, _GIVE_BACK = "release", "hold", "share", "requeue", "give back"


@dataclass(frozen=True, slots=True)
class _Intent:
    """An act, its kind, and the number of times that its job had been requeued, if that matters."""

    act: ActRecord
    kind: str
    job: int
    restarts: int = 0


class BookActs:
    """Writes the acts that a driver's journal announces, and their outcomes.

    The key of an act is made of the entry in the driver's journal, so that one entry is one act.

    Parameters
    ----------
    key
        Returns the key of a job's number.
    journal
        The control plane's journal.
    left
        Acts without an outcome that the process before has left.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from windlass.control.journal import JournalReader
    >>> file = Path(tempfile.mkdtemp()) / "journal.db"
    >>> with JournalWriter(file) as journal:
    ...     acts = BookActs(lambda job: JobKey("slurm", "iowa", str(job)), journal)
    ...     acts.take([Releasing(5.0, 7, 1.0, 0)])
    ...     acts.take([Released(6.0, 7, 1.0, 0)])
    >>> with JournalReader(file) as journal:
    ...     [(act.key, act.action, act.outcome) for act in journal.acts().rows]
    [('slurm:iowa:7 release 5.000000', 'release', 'released')]
    """

    def __init__(
        self, key: Callable[[int], JobKey], journal: JournalWriter, left: Sequence[ActRecord] = ()
    ) -> None:
        self._key, self._journal, self._left = key, journal, tuple(left)
        #: Acts of this process without an outcome, by kind and job.
        self._open: dict[tuple[str, int], _Intent] = {}

    def take(self, entries: Sequence[Entry]) -> None:
        """Write the acts and the outcomes of entries; they are on the disk when this returns.

        Raises
        ------
        InputError
            The journal cannot be written.
        """
        intents = [each for entry in entries for each in self._intents(entry)]
        outcomes = [each for entry in entries for each in self._outcomes(entry)]
        if outcomes:
            self._journal.conclude_all(outcomes)
        if intents:
            self._journal.intend_all([each.act for each in intents])
            self._open |= {(each.kind, each.job): each for each in intents}

    def polled(self, rows: Mapping[int, JobRow], now: float) -> None:
        """Write the outcomes that a poll at the time ``now`` (s) shows: holds, requeues, and acts left from before."""
        outcomes = [ActOutcome(act.key, now, _found(act, rows)) for act in self._left]
        self._left = ()
        for (kind, job), each in list(self._open.items()):
            row = rows.get(job)
            if kind == _HOLD:
                held = row is not None and row.held
                outcomes.append(ActOutcome(each.act.key, now, "held" if held else "not held"))
            elif kind == _REQUEUE and (row is None or row.restarts > each.restarts):
                outcomes.append(ActOutcome(each.act.key, now, "requeued" if row else "the job is gone"))
            elif kind == _SHARE and (row is None or row.phase is Phase.OVER):
                outcomes.append(ActOutcome(each.act.key, now, "the job is gone"))
            else:
                continue
            del self._open[kind, job]
        if outcomes:
            self._journal.conclude_all(outcomes)

    def _intents(self, entry: Entry) -> Iterator[_Intent]:
        match entry:
            case Releasing(at, job):
                yield self._intent(_RELEASE, at, job)
            case Holding(at, job):
                yield self._intent(_HOLD, at, job)
            case Taking(at, job, host, quota):
                yield self._intent(_SHARE, at, job, f" the nodes of job {host}, quota {quota} %")
            case Returning(at, job, restarts, why):
                yield self._intent(_REQUEUE, at, job, f": {why}", restarts)
            case GivenBack(at, jobs):
                for job in jobs:
                    yield self._intent(_GIVE_BACK, at, job)
            case _:
                return

    def _intent(self, kind: str, at: float, job: int, more: str = "", restarts: int = 0) -> _Intent:
        key = self._key(job)
        return _Intent(ActRecord(f"{key} {kind} {at:.6f}", at, key, f"{kind}{more}"), kind, job, restarts)

    def _outcomes(self, entry: Entry) -> Iterable[ActOutcome]:
        match entry:
            case Released(at, job):
                return self._conclude(at, "released", (_RELEASE, job), (_GIVE_BACK, job))
            case Refused(at, job, why):
                return self._conclude(at, f"refused: {why}", (_RELEASE, job))
            case Releasing(at, job):
                return self._conclude(at, "its time limit and nodes are set", (_SHARE, job))
            case Restored(at, job):
                return self._conclude(at, "its time limit and nodes are restored", (_SHARE, job))
            case _:
                return ()

    def _conclude(self, at: float, outcome: str, *kinds: tuple[str, int]) -> list[ActOutcome]:
        found = [self._open.pop(each, None) for each in kinds]
        return [ActOutcome(each.act.key, at, outcome) for each in found if each is not None]


def _found(act: ActRecord, rows: Mapping[int, JobRow]) -> str:
    """Return the outcome of an act that a process began before it was killed, by the present state of its job."""
    row = rows.get(int(act.job.id)) if act.job.id.isdecimal() else None
    if row is None:
        return "unknown: the process ended, and Slurm no longer lists the job"
    kind, waits = act.action, row.phase is Phase.WAITS
    if kind in (_RELEASE, _GIVE_BACK):
        done = not row.held
    elif kind == _HOLD:
        done = row.held
    elif kind.startswith(_REQUEUE):
        done = waits
    else:
        return "unknown: the process ended; the driver's journal has the rest"
    return f"{'carried out' if done else 'not carried out'}, as found after a restart"
