"""Client for Slurm's command-line tools, with a timeout per command and retries while the controller is unreachable."""

from __future__ import annotations

import math
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from windlass.engines.batch.batches import batches
from windlass.engines.batch.commands import CommandRunner
from windlass.engines.batch.retries import Retries
from windlass.engines.batch.status import Contact
from windlass.engines.slurm.batches import job_list, refusals
from windlass.engines.slurm.commands import Commands, StreamingRunner
from windlass.engines.slurm.job_reader import JobReader
from windlass.engines.slurm.models import JobRow, NodeRow
from windlass.engines.slurm.node_reader import lists_groups, read_nodes
from windlass.engines.slurm.release import ReleaseTraits, configuration_hint, installation_hint
from windlass.model import BatchError, InputError

_Found = TypeVar("_Found")

#: Parts of error messages, in lower case, that mean that the controller or MUNGE is unreachable, or lost on the way.
_AWAY = (
    "unable to contact slurm controller",
    "unexpected message received",
    "communication",
    "socket timed out",
    "zero bytes",
    "connection refused",
    "message send failure",
    "message receive failure",
    "transport endpoint",
    "failed while looking for jobs",
    "unspecified error",
    "authentication",
    "munge",
    "standby mode",
    "insane message",
    # A list that was cut short: its command was killed, or lost its connection.
    "input data was truncated",
    "it printed nothing",
)
#: All jobs, also those of hidden partitions and those that ended recently, which newer releases list only on request.
_QUEUE = ("squeue", "--json", "--all", "--states=all")
#: All nodes, for releases whose ``sinfo --json`` lists groups of nodes.
_NODES = ("scontrol", "show", "nodes", "--json", "--all")


class AwayError(BatchError):
    """Slurm's controller does not answer, so the state of its jobs is unknown."""


@dataclass(frozen=True, slots=True)
class Client:
    """A client of Slurm that calls its commands.

    Parameters
    ----------
    run
        Runs a command.
    patience
        How long to retry while the controller does not answer, s.
    timeout
        Time limit of one command, s.
    notify
        Called with a line when the controller stops answering, and when it answers again.
    sleep
        Waits for this many seconds before a retry.
    clock
        Returns a monotonic time, s.
    traits
        What the client learns about Slurm's release.
    contact
        Updated with each command: whether Slurm answers.
    """

    run: CommandRunner = field(default_factory=Commands)
    patience: float = 300.0
    timeout: float = 60.0
    notify: Callable[[str], None] = lambda line: None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    traits: ReleaseTraits = field(default_factory=ReleaseTraits, repr=False, compare=False)
    contact: Contact = field(default_factory=Contact, compare=False)

    def jobs(self, partition: str | None = None) -> list[JobRow]:
        """Return all jobs that Slurm lists, including jobs that ended recently.

        With a partition, newer releases of Slurm list only its jobs; 22.05 ignores the filter.

        Raises
        ------
        AwayError
            The controller did not answer within ``patience``. An empty list is never returned in that case.
        """
        only = () if partition is None else (f"--partition={partition}",)
        return self._retry(lambda: self._listed((*_QUEUE, *only)))

    def nodes(self) -> list[NodeRow]:
        """Return all nodes."""
        return self._retry(self._nodes)

    def release(self, jobs: Sequence[int]) -> dict[int, str]:
        """Release held jobs, in this order, in as many commands as their number requires.

        Returns
        -------
        An error message for each job of a command that failed: some of these jobs may be released. Empty if all were.
        """
        return self._change("release", jobs)

    def hold(self, jobs: Sequence[int]) -> dict[int, str]:
        """Hold waiting jobs so that their users may release them; return as in :meth:`release`."""
        return self._change("uhold", jobs)

    def requeue(self, job: int) -> str:
        """Stop a running job and requeue it, held; return Slurm's error message, or an empty string."""
        return self._try("scontrol", "requeuehold", str(job))

    def update(self, job: int, **fields: str) -> None:
        """Change a job's fields, such as ``ReqNodeList="n2"``.

        Raises
        ------
        BatchError
            Slurm refuses; the message includes Slurm's own.
        """
        settings = [f"{name}={value}" for name, value in fields.items()]
        if error := self._try("scontrol", "update", f"JobId={job}", *settings):
            raise BatchError(f"job {job}: {' '.join(settings)}: {error}")

    def set_time_limit(self, job: int, seconds: float) -> None:
        """Set a job's time limit, rounded up to whole minutes; infinity for no limit.

        Raises
        ------
        BatchError
            Slurm refuses, for example because the user is not an operator; the message includes Slurm's own.
        """
        self.update(job, TimeLimit="UNLIMITED" if math.isinf(seconds) else str(math.ceil(seconds / 60.0)))

    def cores(self, job: int) -> frozenset[int]:
        """Return Slurm's numbers of a running job's processors on its node; empty if it has several nodes."""
        text = self._retry(lambda: self._call("scontrol", "show", "job", "--details", str(job)))
        found = re.findall(r"^\s*Nodes=\S+ CPU_IDs=(\S+)", text, re.MULTILINE)
        return numbers(found[0]) if len(found) == 1 else frozenset()

    def pids(self, job: int) -> tuple[int, ...]:
        """Return the ids of a running job's processes on this host.

        Raises
        ------
        BatchError
            Slurm reports an error, for example that the job does not run on this host.
        """
        text = self._retry(lambda: self._call("scontrol", "listpids", str(job)))
        ids = (line.split()[0] for line in text.splitlines()[1:] if line.split())
        return tuple(sorted({int(word) for word in ids if word.isdecimal()}))

    def hosts(self, nodes: str) -> tuple[str, ...]:
        """Return the node names of a list in Slurm's notation, such as ``n[1-4]``."""
        if not nodes:
            return ()
        return tuple(self._retry(lambda: self._call("scontrol", "show", "hostnames", nodes)).split())

    def setting(self, name: str) -> str:
        """Return a value of the active configuration, such as ``JobCompLoc``; empty if it is not set."""
        for line in self._retry(lambda: self._call("scontrol", "show", "config")).splitlines():
            key, _, value = line.partition("=")
            if key.strip() == name:
                return "" if value.strip() in ("(null)", "N/A") else value.strip()
        return ""

    def booted(self) -> float:
        """Return the Unix time at which the controller started, s; NaN if it is unknown."""
        try:
            return datetime.fromisoformat(self.setting("BOOT_TIME")).timestamp()
        except ValueError:
            return math.nan

    def accounting(self, fields: Sequence[str], duplicates: bool = False) -> str:
        """Return the ended jobs in Slurm's accounting, one line each: fields separated by ``|``, times as Unix times.

        With ``duplicates``, each run of a requeued job has a line; without, only the last one, as is sacct's default.
        """
        states = "CANCELLED,COMPLETED,DEADLINE,FAILED,NODE_FAIL,OUT_OF_MEMORY,PREEMPTED,TIMEOUT,BOOT_FAIL"
        options = ["--allusers", "--allocations", "--parsable2", "--noheader", "--starttime=1970-01-02"]
        if duplicates:
            # A run after which the job was requeued has its own state.
            states += ",REQUEUED"
            options.append("--duplicates")
        # With --state and without --endtime, sacct uses the start time as the end time and lists no jobs.
        listed = ("--endtime=now", f"--state={states}", f"--format={','.join(fields)}")
        return self._retry(lambda: self._call("env", "SLURM_TIME_FORMAT=%s", "sacct", *options, *listed))

    def _change(self, verb: str, jobs: Sequence[int]) -> dict[int, str]:
        found: dict[int, str] = {}
        for batch in batches(jobs):
            if error := self._try("scontrol", verb, job_list(batch)):
                found |= refusals(batch, error)
        return found

    def _try(self, *command: str) -> str:
        """Run a command; return its error message if Slurm refuses it, or an empty string."""
        try:
            self._retry(lambda: self._call(*command))
        except AwayError:
            raise
        except BatchError as error:
            return str(error)
        return ""

    def _listed(self, command: tuple[str, ...]) -> list[JobRow]:
        """List the jobs once; errors of Slurm that leave the list usable are reported once each."""
        reader = JobReader("squeue --json")
        runner = self.run
        if isinstance(runner, StreamingRunner):

            def run() -> tuple[int, str, str]:
                status, errors = runner.stream(command, self.timeout, reader.feed)
                return status, reader.problem() if status else reader.printed, errors

            self._checked(command, run)
        else:
            reader.feed(self._call(*command).encode(errors="replace"))
        rows = reader.finish()
        for notice in set(reader.notices) - self.traits.reported:
            self.traits.reported.add(notice)
            self.notify(f"squeue --json: {notice}")
        return rows

    def _nodes(self) -> list[NodeRow]:
        if not self.traits.grouped:
            text = self._call("sinfo", "--json")
            if not lists_groups(text):
                return read_nodes(text)
            self.traits.grouped = True
        return read_nodes(self._call(*_NODES), "scontrol show nodes --json")

    def _call(self, *command: str) -> str:
        """Run a command once; return its standard output."""
        return self._checked(command, lambda: self.run(command, self.timeout))

    def _checked(self, command: Sequence[str], run: Callable[[], tuple[int, str, str]]) -> str:
        try:
            status, out, errors = run()
        except FileNotFoundError as error:
            raise InputError(
                f"{command[0]}: not found; on Debian: apt-get install slurm-wlm munge"
            ) from error
        except PermissionError as error:
            raise InputError(f"{command[0]}: {error.strerror}; expected a program that may be run") from error
        except OSError as error:
            # The host has no room for a process at the moment, for example.
            raise AwayError(f"{command[0]} cannot be run: {error.strerror}") from error
        except subprocess.TimeoutExpired as error:
            raise AwayError(f"{command[0]} did not answer within {self.timeout:g} s") from error
        if (status != 0 or not out) and (hint := installation_hint(command, errors)):
            raise InputError(hint)
        if status != 0 or (not out and errors and "--json" in command):
            raise BatchError(
                configuration_hint(command, errors)
                or " ".join((errors or out).split())
                or f"{command[0]} ended with status {status}"
            )
        return out

    def _retry(self, call: Callable[[], _Found]) -> _Found:
        """Call a function; while the controller is unreachable, retry with growing delays."""
        retries = Retries("Slurm", self.patience, self.contact, self.notify, self.sleep, self.clock, _is_away)
        return retries.retry(call, AwayError)


def _is_away(error: BatchError) -> bool:
    message = str(error).lower()
    return isinstance(error, AwayError) or any(sign in message for sign in _AWAY)


def numbers(text: str) -> frozenset[int]:
    """Return the numbers in a list of ranges.

    >>> sorted(numbers("0-2,7"))
    [0, 1, 2, 7]
    """
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return frozenset(found)
