"""Slurm's own commands, called with a time limit, and called again while its controller is away."""

from __future__ import annotations

import math
import os
import re
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from windlass.engines.backoff import Backoff
from windlass.engines.slurm.models import JobRow, NodeRow, read_jobs, read_nodes
from windlass.model import BatchError, InputError

_Found = TypeVar("_Found")

#: What commands say where it was not the command's fault: the controller, or what signs messages to it, is away.
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
)
#: Delays between tries while the controller does not answer.
_BACKOFF = Backoff(0.5, 15.0)


class AwayError(BatchError):
    """Slurm's controller does not answer; nothing is known of its jobs."""


class CommandRunner(Protocol):
    """Runs a command to its end: its exit status, and what it wrote to standard output and error."""

    def __call__(self, command: Sequence[str], timeout: float) -> tuple[int, str, str]:
        """Raises ``TimeoutExpired`` when it takes longer than ``timeout``, s."""
        ...


@dataclass(frozen=True, slots=True)
class Commands:
    """Runs Slurm's commands as processes.

    Parameters
    ----------
    conf
        Which ``slurm.conf``; None for the one that the environment or the system names.
    """

    conf: Path | None = None

    def __call__(self, command: Sequence[str], timeout: float) -> tuple[int, str, str]:
        """Run one."""
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        if self.conf is not None:
            environment["SLURM_CONF"] = str(self.conf)
        done = subprocess.run(
            list(command),
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
            stdin=subprocess.DEVNULL,
            # Ctrl-C is for who drives, who then still has a word for Slurm.
            start_new_session=True,
        )
        return done.returncode, done.stdout, done.stderr


@dataclass(frozen=True, slots=True)
class Client:
    """Slurm, by its commands.

    Parameters
    ----------
    run
        Runs a command.
    patience
        How long to try again while the controller does not answer, s.
    timeout
        How long one command may take, s.
    tell
        Told in a line when the controller is away, and when it is back.
    """

    run: CommandRunner = Commands()
    patience: float = 300.0
    timeout: float = 60.0
    notify: Callable[[str], None] = lambda line: None
    sleep: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic

    def jobs(self) -> list[JobRow]:
        """All jobs that Slurm knows, those among them that have just ended.

        Raises
        ------
        AwayError
            The controller did not answer for as long as patience lasts. It never means that there are no jobs.
        """
        return self._again(lambda: read_jobs(self._call("squeue", "--json")))

    def nodes(self) -> list[NodeRow]:
        """All nodes."""
        return self._again(lambda: read_nodes(self._call("sinfo", "--json")))

    def release(self, jobs: Sequence[int]) -> str:
        """Let held jobs start, in this order; what was said where not all of them were released, or nothing."""
        return self._try("scontrol", "release", _listed(jobs))

    def hold(self, jobs: Sequence[int]) -> str:
        """Hold jobs that wait, so that their users may release them; as of :meth:`release`."""
        return self._try("scontrol", "uhold", _listed(jobs))

    def requeue(self, job: int) -> str:
        """Stop a running job and put it back in the queue, held; what was said where it was not, or nothing."""
        return self._try("scontrol", "requeuehold", str(job))

    def update(self, job: int, **fields: str) -> None:
        """Change a job's fields, such as ``ReqNodeList="n2"``.

        Raises
        ------
        BatchError
            Slurm refuses; with what it said.
        """
        settings = [f"{name}={value}" for name, value in fields.items()]
        if said := self._try("scontrol", "update", f"JobId={job}", *settings):
            raise BatchError(f"job {job}: {' '.join(settings)}: {said}")

    def set_time_limit(self, job: int, seconds: float) -> None:
        """Give a job another time limit, rounded up to whole minutes.

        Raises
        ------
        BatchError
            Slurm refuses, such as to who is no operator; with what it said.
        """
        self.update(job, TimeLimit="UNLIMITED" if math.isinf(seconds) else str(math.ceil(seconds / 60.0)))

    def cores(self, job: int) -> frozenset[int]:
        """Slurm's numbers of the processors that a running job has on its node; none where it has several nodes."""
        text = self._again(lambda: self._call("scontrol", "show", "job", "--details", str(job)))
        found = re.findall(r"^\s*Nodes=\S+ CPU_IDs=(\S+)", text, re.MULTILINE)
        return numbers(found[0]) if len(found) == 1 else frozenset()

    def pids(self, job: int) -> tuple[int, ...]:
        """Ids of a running job's processes on this host.

        Raises
        ------
        BatchError
            Slurm says that it does not run here.
        """
        text = self._again(lambda: self._call("scontrol", "listpids", str(job)))
        ids = (line.split()[0] for line in text.splitlines()[1:] if line.split())
        return tuple(sorted({int(word) for word in ids if word.isdecimal()}))

    def hosts(self, nodes: str) -> tuple[str, ...]:
        """Names of nodes, of a list as Slurm writes it, such as ``n[1-4]``."""
        if not nodes:
            return ()
        return tuple(self._again(lambda: self._call("scontrol", "show", "hostnames", nodes)).split())

    def setting(self, name: str) -> str:
        """A line of the configuration in force, such as ``JobCompLoc``; empty where there is none."""
        for line in self._again(lambda: self._call("scontrol", "show", "config")).splitlines():
            key, _, value = line.partition("=")
            if key.strip() == name:
                return "" if value.strip() in ("(null)", "N/A") else value.strip()
        return ""

    def accounting(self, fields: Sequence[str], duplicates: bool = False) -> str:
        """All ended jobs of Slurm's accounting, a line each, with times as Unix times and ``|`` between fields.

        With ``duplicates`` each run of a job, where by itself sacct tells of the last.
        """
        states = "CANCELLED,COMPLETED,DEADLINE,FAILED,NODE_FAIL,OUT_OF_MEMORY,PREEMPTED,TIMEOUT,BOOT_FAIL"
        options = ["--allusers", "--allocations", "--parsable2", "--noheader", "--starttime=1970-01-02"]
        if duplicates:
            # Who was put back has a state of its own.
            states += ",REQUEUED"
            options.append("--duplicates")
        # Where states are named and no end is, the end is the start, and sacct says nothing at all.
        listed = ("--endtime=now", f"--state={states}", f"--format={','.join(fields)}")
        return self._again(lambda: self._call("env", "SLURM_TIME_FORMAT=%s", "sacct", *options, *listed))

    def _try(self, *command: str) -> str:
        """What a command said where it failed by its own fault; nothing where it did not."""
        try:
            self._again(lambda: self._call(*command))
        except AwayError:
            raise
        except BatchError as error:
            return str(error)
        return ""

    def _call(self, *command: str) -> str:
        """Run a command once."""
        try:
            status, out, said = self.run(command, self.timeout)
        except FileNotFoundError as error:
            raise InputError(
                f"{command[0]}: not found; on Debian: apt-get install slurm-wlm munge"
            ) from error
        except subprocess.TimeoutExpired as error:
            raise AwayError(f"{command[0]} did not answer within {self.timeout:g} s") from error
        if status != 0:
            raise BatchError(" ".join((said or out).split()) or f"{command[0]} ended with status {status}")
        return out

    def _again(self, ask: Callable[[], _Found]) -> _Found:
        """Ask, and ask again with longer and longer rests while the controller is away."""
        began, failures = self.clock(), 0
        while True:
            try:
                found = ask()
            except BatchError as error:
                if not _is_away(error):
                    raise
                failures += 1
                delay = _BACKOFF.delay(failures)
                if self.clock() - began + delay > self.patience:
                    raise AwayError(
                        f"Slurm does not answer after {self.clock() - began:.0f} s: {error}"
                    ) from error
                if failures == 1:
                    self.notify(f"Slurm does not answer, trying again for {self.patience:g} s: {error}")
                self.sleep(delay)
            else:
                if failures:
                    self.notify("Slurm answers again")
                return found


def _is_away(error: BatchError) -> bool:
    said = str(error).lower()
    return isinstance(error, AwayError) or any(sign in said for sign in _AWAY)


def numbers(text: str) -> frozenset[int]:
    """Numbers of a list of ranges.

    >>> sorted(numbers("0-2,7"))
    [0, 1, 2, 7]
    """
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return frozenset(found)


def _listed(jobs: Sequence[int]) -> str:
    return ",".join(str(job) for job in jobs)
