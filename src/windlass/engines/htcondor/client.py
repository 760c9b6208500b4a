"""Client for the commands of HTCondor, with a timeout per command and retries while its queue does not answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import ClassVar

from windlass.engines.batch.batches import batches
from windlass.engines.batch.commands import CommandRunner, run_command
from windlass.engines.batch.holds.client import HoldClient, failure
from windlass.engines.batch.holds.site import HoldPhase, SystemAwayError
from windlass.engines.htcondor.models import (
    BY_COMMAND,
    HELD,
    IDLE,
    OURS,
    QUEUE,
    SUBMITTED,
    VANILLA,
    CondorJob,
)
from windlass.engines.htcondor.reader import JOB_ATTRIBUTES, SLOT_ATTRIBUTES, Ad, decode_ads, read_job
from windlass.model import BatchError, InputError

#: Parts of error messages, in lower case, that mean that the queue does not answer, or that its answer was lost.
_AWAY = (
    "failed to fetch ads",
    "failed to connect",
    "can't find address",
    "can't connect",
    "unable to locate",
    "couldn't contact the condor_collector",
    "communication error",
    "connection refused",
    "timed out",
    # A list that was cut short: its command was killed, or lost its connection.
    "is not valid json",
)
#: Jobs of one command: their identifiers are an expression, which HTCondor evaluates for each job of the queue.
_BATCH = 200
#: A list that was made this long before its command began is an old one, s.
_OLD_S = 2.0


class CondorCommands:
    """Runs HTCondor's commands as processes."""

    def __call__(self, command: Sequence[str], timeout: float) -> tuple[int, str, str]:
        """Run a command."""
        return run_command(command, {**os.environ, "LC_ALL": "C.UTF-8"}, timeout)


@dataclass(frozen=True, slots=True)
class CondorClient(HoldClient):
    """A client of HTCondor that calls its commands.

    Parameters
    ----------
    run
        Runs a command; for the other parameters see :class:`~windlass.engines.batch.holds.client.HoldClient`.
    schedd, pool
        Name of the queue's daemon, and host of the central manager; None for those of this host.
    """

    system: ClassVar[str] = "HTCondor"
    place: ClassVar[str] = "HTCondor's commands on the PATH"
    away: ClassVar[tuple[str, ...]] = _AWAY

    run: CommandRunner = field(default_factory=CondorCommands)
    schedd: str | None = None
    pool: str | None = None

    def jobs(self) -> list[Ad]:
        """Return the attributes of all jobs that have not left the queue, with names in lower case.

        Raises
        ------
        SystemAwayError
            The queue did not answer within ``patience``. An empty list is never returned in that case.
        """
        return self._retry(lambda: self._queued(()))

    def slots(self) -> list[Ad]:
        """Return the attributes of all slots of the pool, with names in lower case."""
        pool = () if self.pool is None else ("-pool", self.pool)
        command = ("condor_status", *pool, "-json", "-attributes", ",".join(SLOT_ATTRIBUTES))
        return self._retry(lambda: self._confirmed(command))

    def ended(self, job: str) -> Ad | None:
        """Return the attributes of a job that has left the queue; None if they are unknown."""
        attributes = ",".join(JOB_ATTRIBUTES)
        command = (
            "condor_history",
            *self._place(),
            "-json",
            "-limit",
            "1",
            "-attributes",
            attributes,
            job,
        )

        def one() -> Ad | None:
            try:
                found = self._listed(command)
            except SystemAwayError:
                # A long history takes long to read, and the queue may answer all the same.
                return None
            except BatchError as error:
                if self.is_away(error):
                    raise
                return None
            return found[0] if found else None

        return self._retry(one)

    def release(self, queue: str, jobs: Sequence[str]) -> dict[str, str]:
        """Release these jobs, in as many commands as their number requires, unless they are held for another reason.

        The condition is part of the command, so HTCondor compares it with the hold at the time of the release.

        Returns
        -------
        An error message for each job that is still held for Windlass.
        """
        return self._change(jobs, ("condor_release",), release_condition(queue), lambda job: job.held)

    def hold(self, queue: str, jobs: Sequence[str]) -> dict[str, str]:
        """Hold these jobs if they are idle; return an error message for each that is not held for Windlass."""
        command = ("condor_hold", "-reason", f"waits for Windlass ({queue})", "-subcode", str(OURS))
        return self._change(jobs, command, hold_condition(queue), lambda job: not job.held)

    def _change(
        self, jobs: Sequence[str], command: Sequence[str], condition: str, failed: Callable[[CondorJob], bool]
    ) -> dict[str, str]:
        found: dict[str, str] = {}
        for batch in batches(jobs, _BATCH):
            found |= self._retry(partial(self._changed, batch, command, condition, failed))
        return found

    def _changed(
        self, jobs: Sequence[str], command: Sequence[str], condition: str, failed: Callable[[CondorJob], bool]
    ) -> dict[str, str]:
        which = these(jobs)
        status, _, errors = self._answer(
            (command[0], *self._place(), *command[1:], "-constraint", f"{condition} && {which}")
        )
        message = " ".join(errors.split())[:300]
        if status and self.is_away(BatchError(message)):
            raise BatchError(message)
        # The command succeeds if it changes one job of several; each job is therefore read again.
        found, why = {}, refusal(command[0], status, message)
        for ad in self._queued(("-constraint", which)):
            try:
                row = read_job(ad)
            except InputError:
                continue
            if failed(row):
                meanwhile = "it has started" if row.phase is HoldPhase.RUNS else row.bars(self.wall())
                found[row.job] = meanwhile or why
        return found

    def _queued(self, where: Sequence[str]) -> list[Ad]:
        began = self.wall()
        attributes = ",".join(JOB_ATTRIBUTES)
        found = self._confirmed(
            ("condor_q", *self._place(), "-allusers", "-json", "-attributes", attributes, *where)
        )
        times = [ad["servertime"] for ad in found if isinstance(ad.get("servertime"), int)]
        # Times are whole seconds. Some sites put a cache before condor_q.
        if times and min(times) < began - _OLD_S:
            raise SystemAwayError(
                f"condor_q: the list is {began - min(times):.0f} s old, expected a present one; compare the clocks of "
                "both hosts"
            )
        return found

    def _confirmed(self, command: Sequence[str]) -> list[Ad]:
        """Return the list that a command prints; one without ads is requested twice.

        HTCondor prints nothing for such a list, which is also what is left of an answer that was lost.
        """
        return self._listed(command) or self._listed(command)

    def _listed(self, command: Sequence[str]) -> list[Ad]:
        status, out, errors = self._answer(command)
        if status != 0:
            raise failure(command, status, out, errors)
        return decode_ads(out, command[0])

    def _place(self) -> tuple[str, ...]:
        pool = () if self.pool is None else ("-pool", self.pool)
        return pool if self.schedd is None else (*pool, "-name", self.schedd)


def refusal(program: str, status: int, message: str) -> str:
    """Return why a command left a job as it found it, from its exit status and its message.

    >>> refusal("condor_release", 1, "Couldn't find/release all jobs matching constraint (JobStatus == 5)")
    "Couldn't find/release all jobs; check that QUEUE_SUPER_USERS lists this user"
    """
    short = message.partition(" matching constraint")[0] if status else f"{program} did not change it"
    return f"{short or f'{program} ended with status {status}'}; check that QUEUE_SUPER_USERS lists this user"


def release_condition(queue: str) -> str:
    """Return the condition under which a driver may release a job: no hold but Windlass's is lifted."""
    ours = f"(HoldReasonCode == {BY_COMMAND} && HoldReasonSubCode == {OURS})"
    return f'JobStatus == {HELD} && {QUEUE} == "{queue}" && (HoldReasonCode == {SUBMITTED} || {ours})'


def hold_condition(queue: str) -> str:
    """Return the condition under which a driver may hold a job: it is idle, so nothing is killed or replaced."""
    return f'JobStatus == {IDLE} && {QUEUE} == "{queue}" && JobUniverse == {VANILLA}'


def these(jobs: Iterable[str]) -> str:
    """Return the condition that a job is one of these.

    >>> these(["5.0", "5.2", "7.0"])
    '((ClusterId == 5 && (ProcId == 0 || ProcId == 2)) || (ClusterId == 7 && (ProcId == 0)))'
    """
    split = sorted(tuple(map(int, job.split("."))) for job in jobs)
    parts = []
    for cluster, group in groupby(split, lambda each: each[0]):
        numbers = " || ".join(f"ProcId == {process}" for _, process in group)
        parts.append(f"(ClusterId == {cluster} && ({numbers}))")
    return f"({' || '.join(parts)})"
