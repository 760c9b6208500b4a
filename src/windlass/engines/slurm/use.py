"""Usage of Slurm's jobs on this host, and which of them may share an allocation; nothing is changed here.

A job shares only if its user allows it with ``sbatch -H --comment="windlass share"``. With ``windlass share restart``
it may also be requeued, to restart later. Jobs with processes on other hosts are left alone.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from windlass.engines.batch.sharing_backend import JobEnding, Pair
from windlass.engines.linux.files import GroupError
from windlass.engines.linux.job_progress import read as read_progress
from windlass.engines.linux.measure import Meter
from windlass.engines.linux.members import below
from windlass.engines.slurm.client import Client, numbers
from windlass.engines.slurm.models import JobRow, NodeRow
from windlass.engines.slurm.system import SlurmSystem
from windlass.model import InputError
from windlass.share.allocation import Candidate
from windlass.share.usage import Reading

#: The time limit assumed for a job without one, s.
_YEAR = 365.0 * 86400.0
#: The least number of jobs at which ended ones are dropped.
_FEW = 256
_PROGRESS = b"WINDLASS_PROGRESS="


@dataclass
class _Measured:
    """A running job's meter, and its progress file once that is known."""

    meter: Meter
    folders: tuple[Path, ...]
    progress: Path | None = None


def nodes_here(client: Client) -> list[NodeRow]:
    """Return the nodes of this machine, by its name with or without the domain."""
    names = {socket.gethostname().partition(".")[0], "localhost"}
    return [node for node in client.nodes() if node.host.partition(".")[0] in names]


class SlurmUse:
    """The read-only part of :class:`~windlass.engines.batch.sharing.SharingSystem`; it refuses all changes.

    Parameters
    ----------
    system, client
        Slurm.
    mount
        The mount point of cgroups.

    Raises
    ------
    InputError
        Usage of jobs cannot be measured here, or quotas would move jobs out of the cgroups by which Slurm knows them.
    """

    def __init__(self, system: SlurmSystem, client: Client, mount: Path = Path("/sys/fs/cgroup")) -> None:
        _check_accounts(client, mount)
        self._system, self._mount = system, mount
        self._known: dict[int, Candidate] = {}
        #: Number of known jobs at which those that Slurm no longer lists are dropped.
        self._most_known = _FEW
        self._measured: dict[int, _Measured] = {}
        self._here = frozenset(node.name for node in nodes_here(client))
        #: Nodes of jobs, as Slurm writes them, and those of them that are other machines.
        self._others: dict[int, tuple[str, tuple[str, ...]]] = {}
        self._memory_per_core = _memory_per_core(client)

    def candidate(self, job: int) -> Candidate | None:
        """Return a job as submitted, if its user allows sharing; its class is its name."""
        if not self._system.knows(job):
            return self._known.get(job)
        row = self._system.details(job)
        if not row.shares or self._system.guests.rests(job):
            return None
        if len(self._known) > self._most_known:
            listed = (job for job in self._known if self._system.knows(job) or job in self._measured)
            self._known = {job: self._known[job] for job in listed}
            self._most_known = max(_FEW, 2 * len(self._known))
        # Cached, because a guest's time limit is extended later.
        return self._known.setdefault(job, _candidate(row, self._system.guests.requested_limit(row)))

    def memory(self, job: int) -> float:
        """Return the job's share of its nodes' memory, or its request if that is more, bytes."""
        row = self._system.details(job)
        return max(float(row.memory), row.procs * self._memory_per_core)

    def readings(self, jobs: Sequence[int], now: float) -> Mapping[int, Reading]:
        """Return the usage of jobs on this host; those that also run on other hosts are left out."""
        found: dict[int, Reading] = {}
        self._others = {job: each for job, each in self._others.items() if self._system.knows(job)}
        for job in jobs:
            if self._elsewhere(job):
                continue
            with contextlib.suppress(GroupError, OSError):
                if (reading := self._read(job, now)) is not None:
                    found[job] = reading
        return found

    def _elsewhere(self, job: int) -> tuple[str, ...]:
        """Return the nodes of a job that are other machines; empty if no node is known to be this machine."""
        nodes = self._system.details(job).nodes if self._here and self._system.knows(job) else ""
        if not nodes or nodes in self._here:
            return ()
        if self._others.get(job, ("", ()))[0] != nodes:
            others = tuple(name for name in self._system.nodes_of(job) if name not in self._here)
            self._others[job] = nodes, others
        return self._others[job][1]

    def last_reading(self, job: int, before: Reading) -> Reading:
        """Return an ended job's last reading: its tasks as last written to its progress file, as its cgroup is gone."""
        known = self._measured.pop(job, None)
        if known is None or known.progress is None:
            return before
        status = read_progress(known.progress).progress
        with contextlib.suppress(OSError):
            at = known.progress.lstat().st_mtime
            if status is not None and at > before.at:
                tasks = replace(
                    before, stage=status.stage, parallel=status.parallel, done=status.done, left=status.left
                )
                return replace(tasks, at=at, cpu=math.nan, waited=math.nan)
        return before

    def outcome(self, job: int) -> JobEnding:
        """Return how a job ended, by Slurm's state; an unlisted job counts as cut off, and nothing is learned."""
        state = self._system.details(job).state if self._system.knows(job) else ""
        return {"COMPLETED": JobEnding.DONE, "TIMEOUT": JobEnding.KILLED}.get(state, JobEnding.CUT)

    def together(self, host: int, guest: int) -> bool:
        """Return whether two jobs run on the same nodes, and on the same cores if Slurm pins jobs."""
        rows = [self._system.details(job) for job in (host, guest) if self._system.knows(job)]
        if len(rows) < 2 or not rows[1].nodes:
            return True
        if rows[0].nodes != rows[1].nodes:
            nodes = [set(self._system.nodes_of(job)) for job in (host, guest)]
            if not nodes[1] <= nodes[0]:
                return False
        pinned = [self._pinned(job) for job in (host, guest)]
        return not pinned[0] or pinned[1] <= pinned[0]

    def take_in(self, pair: Pair, longest: float, until: float) -> str:
        """Refuse: nothing is changed."""
        return "dry run: nothing is changed"

    def allow(self, job: int, seconds: float) -> None:
        """Do nothing."""

    def requeue(self, job: int, why: str) -> str:
        """Refuse: nothing is changed."""
        return "dry run: nothing is changed"

    def set_quotas(self, pairs: Sequence[Pair]) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing: nothing was changed."""

    def _members(self, job: int) -> set[int]:
        """Return a job's processes on this host, from Slurm's cgroups."""
        return set().union(*(below(folder) for folder in self._folders("cpuacct", job)))

    def _pinned(self, job: int) -> set[int]:
        """Return the cores to which Slurm pins a job; empty without pinning."""
        found: set[int] = set()
        for folder in self._folders("cpuset", job):
            with contextlib.suppress(OSError):
                text = (folder / "cpuset.cpus").read_text(encoding="ascii").strip()
                found |= numbers(text) if text else set()
        return found

    def _folders(self, controller: str, job: int) -> tuple[Path, ...]:
        # Several slurmd on one host have a cgroup each.
        return tuple(sorted((self._mount / controller).glob(f"slurm*/uid_*/job_{job}")))

    def _read(self, job: int, now: float) -> Reading | None:
        folders = self._folders("cpuacct", job)
        if not folders:
            return None
        known = self._measured.get(job)
        if known is None or known.folders != folders:
            known = self._measured[job] = _Measured(self._meter(job, folders), folders)
        usage = known.meter.sample()
        if known.progress is None:
            known.progress = _progress_file(self._members(job))
        status = None if known.progress is None else read_progress(known.progress).progress
        cores = self._known[job].cores
        return Reading(
            now,
            usage.cpu,
            0.0 if math.isnan(usage.peak) else usage.peak,
            None if status is None else status.stage,
            None if status is None else status.parallel,
            math.nan if status is None else status.done,
            math.nan if status is None else status.left,
            max(0.0, usage.waited - usage.throttled) / cores,
        )

    def _meter(self, job: int, folders: tuple[Path, ...]) -> Meter:
        memory = self._folders("memory", job)
        return Meter(
            lambda: self._members(job),
            time.monotonic,
            cpu_group=folders[0] if len(folders) == 1 else None,
            memory_group=memory[0] if len(memory) == 1 else None,
            throttled=lambda: self._throttled(job),
        )

    def _throttled(self, job: int) -> float:
        """Return the core-seconds that a job's quota withheld."""
        return 0.0


def _check_accounts(client: Client, mount: Path) -> None:
    """Raise if usage cannot be measured or limited here; otherwise no job would ever appear to benefit from sharing."""
    cpu, accounts = mount / "cpu", mount / "cpuacct"
    expected = "expected cgroups v1 with separate cpu and cpuacct, as quotas need a controller that Slurm does not use"
    for each in (cpu, accounts):
        if not each.is_dir():
            raise InputError(f"--policies: share: {each}: no such folder, {expected}")
    if cpu.samefile(accounts):
        raise InputError(f"--policies: share: {cpu} and {accounts} are the same folder, {expected}")
    gathers = client.setting("JobAcctGatherType")
    if gathers != "jobacct_gather/cgroup":
        raise InputError(
            f"--policies: share: JobAcctGatherType is {gathers!r}, expected 'jobacct_gather/cgroup'"
        )


def _candidate(row: JobRow, requested: float) -> Candidate:
    limit = requested if math.isfinite(requested) else _YEAR
    return Candidate(row.job, row.name, row.procs, float(row.memory), limit, restarts=row.may_restart)


def _memory_per_core(client: Client) -> float:
    """Return the memory per core, bytes; the least if nodes differ."""
    return min((node.memory / node.procs for node in client.nodes() if node.procs), default=0.0)


def _progress_file(pids: set[int]) -> Path | None:
    """Return the progress file that a job's environment names."""
    for pid in sorted(pids):
        with contextlib.suppress(OSError):
            for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                if entry.startswith(_PROGRESS):
                    return Path(os.fsdecode(entry[len(_PROGRESS) :]))
    return None
