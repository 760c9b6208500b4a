"""Client for the commands of PBS, with a timeout per command and retries while the server does not answer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar

from windlass.engines.batch.batches import batches
from windlass.engines.batch.commands import CommandRunner, run_command
from windlass.engines.batch.holds.client import HoldClient, failure
from windlass.engines.batch.holds.site import SystemAwayError
from windlass.engines.pbs.models import OURS
from windlass.engines.pbs.output import PbsOutput, decode_output
from windlass.model import BatchError, InputError

#: Parts of error messages, in lower case, that mean that the server does not answer, or that its answer was lost.
_AWAY = (
    "cannot connect to server",
    "connection refused",
    "connection timed out",
    "connection reset",
    "no free connections",
    "connection table full",
    "batch protocol error",
    "end of file",
    "server shutting down",
    "communication",
    "expired credential",
    # A list that was cut short: its command was killed, or lost its connection.
    "it printed nothing",
    "is not valid json",
)
#: All jobs that have not ended, with the subjobs of arrays.
_JOBS = ("qstat", "-f", "-t", "-F", "json")
_NODES = ("pbsnodes", "-a", "-F", "json")
#: Message about a job that has ended, or was deleted.
GONE = ("Unknown Job Id", "Job has finished")
#: A list that was printed this long before its command began is an old one, s.
_OLD_S = 2.0


@dataclass(frozen=True, slots=True)
class PbsCommands:
    """Runs PBS's commands as processes.

    Parameters
    ----------
    conf
        Path of ``pbs.conf``; None for the one that the environment or the system selects.
    """

    conf: Path | None = None

    def __call__(self, command: Sequence[str], timeout: float) -> tuple[int, str, str]:
        """Run a command."""
        # Times are printed in the local time zone, where an hour in autumn is ambiguous.
        environment = {**os.environ, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
        if self.conf is not None:
            environment["PBS_CONF_FILE"] = str(self.conf)
        return run_command(command, environment, timeout)


@dataclass(frozen=True, slots=True)
class PbsClient(HoldClient):
    """A client of PBS that calls its commands.

    Parameters
    ----------
    run
        Runs a command; for the other parameters see :class:`~windlass.engines.batch.holds.client.HoldClient`.
    """

    system: ClassVar[str] = "PBS"
    place: ClassVar[str] = "PBS's commands on the PATH, for example in /opt/pbs/bin"
    away: ClassVar[tuple[str, ...]] = _AWAY

    run: CommandRunner = field(default_factory=PbsCommands)

    def jobs(self) -> PbsOutput:
        """Return all jobs that have not ended, by identifier.

        Raises
        ------
        SystemAwayError
            The server did not answer within ``patience``. An empty list is never returned in that case.
        """
        return self._retry(lambda: self._listed(_JOBS, "Jobs"))

    def nodes(self) -> PbsOutput:
        """Return all vnodes, by name."""
        return self._retry(lambda: self._listed(_NODES, "nodes"))

    def check_queue(self, queue: str) -> None:
        """Refuse a queue that the server does not have.

        Raises
        ------
        InputError
            The server has no queue of this name.
        SystemAwayError
            The server did not answer within ``patience``.
        """

        def one() -> None:
            status, out, errors = self._answer(("qstat", "-Q", queue))
            message = " ".join((errors or out).split())
            if "unknown queue" in message.lower():
                raise InputError(f"queue {queue!r}: {message}; expected one that qstat -Q lists")
            if status != 0:
                raise failure(("qstat",), status, out, errors)

        self._retry(one)

    def ended(self, job: str) -> PbsOutput | None:
        """Return a job that is no longer listed; None if PBS keeps no history, or has forgotten the job."""

        def one() -> PbsOutput | None:
            try:
                return self._listed(("qstat", "-x", "-f", "-F", "json", job), "Jobs")
            except BatchError as error:
                if self.is_away(error):
                    raise
                return None

        return self._retry(one)

    def release(self, jobs: Sequence[str]) -> dict[str, str]:
        """Lift the driver's hold of these jobs, in this order, in as many commands as their number requires.

        Other holds are kept. A job without the hold is no error.

        Returns
        -------
        An error message for each job that PBS refused, or may have refused. Empty if all were released.
        """
        return self._change("qrls", jobs)

    def hold(self, jobs: Sequence[str]) -> dict[str, str]:
        """Set the driver's hold of waiting jobs; return as in :meth:`release`."""
        return self._change("qhold", jobs)

    def _change(self, verb: str, jobs: Sequence[str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for batch in batches(jobs):
            found |= self._retry(partial(self._changed, verb, batch))
        return found

    def _changed(self, verb: str, jobs: Sequence[str]) -> dict[str, str]:
        status, _, errors = self._answer((verb, "-h", OURS, *jobs))
        if status == 0:
            return {}
        found = refusals(verb, jobs, errors)
        for why in found.values():
            if self.is_away(BatchError(why)):
                raise BatchError(why)
        return found

    def _listed(self, command: Sequence[str], key: str) -> PbsOutput:
        began = self.wall()
        status, out, errors = self._answer(command)
        name = command[0]
        if status != 0:
            raise failure(command, status, out, errors)
        found = decode_output(out, key, name)
        # Times are printed in whole seconds. Some sites put a cache before qstat.
        if found.time < began - _OLD_S:
            raise SystemAwayError(
                f"{name}: the list is {began - found.time:.0f} s old, expected a present one"
            )
        return found


def refusals(verb: str, jobs: Sequence[str], errors: str) -> dict[str, str]:
    """Return an error message for each job that a command refused.

    PBS handles the jobs of a command one after the other, and prints a line for each that it refuses. Some lines name
    no job, as when the server goes away in between. It is then unknown which jobs were changed, so each job without a
    line of its own has those lines.

    >>> refusals("qrls", ["5.s", "7.s"], "qrls: Unknown Job Id 7.s")
    {'7.s': 'Unknown Job Id 7.s'}
    >>> refusals("qrls", ["5.s"], "qrls: illegal -h value")
    {'5.s': 'qrls: illegal -h value'}
    >>> refusals("qrls", ["5.s", "7.s"], "qrls: Unknown Job Id 7.s\\nqrls: End of File")
    {'7.s': 'Unknown Job Id 7.s', '5.s': 'qrls: End of File'}
    """
    own: dict[str, str] = {}
    others: list[str] = []
    known = set(jobs)
    for line in filter(None, map(str.strip, errors.splitlines())):
        job = line.rpartition(" ")[2]
        if job in known:
            own[job] = " ".join(line.removeprefix(f"{verb}: ").split())
        else:
            others.append(line)
    if others or not own:
        message = " ".join(" ".join(others).split())[:300] or f"{verb} failed without a message"
        own |= {job: message for job in jobs if job not in own}
    return own
