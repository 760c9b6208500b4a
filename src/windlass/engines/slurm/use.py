"""What jobs of Slurm on this host use, and which of them may share an allocation; nothing is changed here.

A job shares only if its user says so: ``sbatch -H --comment="windlass share"``. ``windlass share restart`` lets it be
put back in the queue besides, to begin again. Jobs whose processes are on other hosts are left alone.
"""

from __future__ import annotations

import contextlib
import math
import os
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
from windlass.engines.slurm.models import JobRow
from windlass.engines.slurm.system import SlurmSystem
from windlass.model import InputError
from windlass.share.allocation import Candidate
from windlass.share.usage import Reading

#: Where a job without a time limit is taken to have one, s.
_YEAR = 365.0 * 86400.0
_PROGRESS = b"WINDLASS_PROGRESS="


@dataclass
class _Measured:
    """A running job's meter, and the file of its progress once it is known."""

    meter: Meter
    folders: tuple[Path, ...]
    progress: Path | None = None


class SlurmUse:
    """The part of :class:`~windlass.engines.batch.sharing.SharingSystem` that looks; it refuses to change anything.

    Parameters
    ----------
    system, client
        Slurm.
    mount
        Where control groups are.

    Raises
    ------
    InputError
        What jobs use cannot be read here, or a quota would take jobs from the groups by which Slurm knows them.
    """

    def __init__(self, system: SlurmSystem, client: Client, mount: Path = Path("/sys/fs/cgroup")) -> None:
        _check_accounts(client, mount)
        self._system, self._mount = system, mount
        self._known: dict[int, Candidate] = {}
        self._measured: dict[int, _Measured] = {}
        self._memory_per_core = _memory_per_core(client)

    def candidate(self, job: int) -> Candidate | None:
        """A job of a user who lets it share, as it was submitted; its class is its name."""
        if not self._system.knows(job):
            return self._known.get(job)
        row = self._system.details(job)
        if not row.shares:
            return None
        # Kept, as the time limit of a guest is made longer.
        return self._known.setdefault(job, _candidate(row, self._system.guests.asked(row)))

    def memory(self, job: int) -> float:
        """Its part of its nodes' memory, or what it asked for where that is more."""
        row = self._system.details(job)
        return max(float(row.memory), row.procs * self._memory_per_core)

    def readings(self, jobs: Sequence[int], now: float) -> Mapping[int, Reading]:
        """What jobs on this host have used."""
        found: dict[int, Reading] = {}
        for job in jobs:
            with contextlib.suppress(GroupError, OSError):
                if (reading := self._read(job, now)) is not None:
                    found[job] = reading
        return found

    def last_reading(self, job: int, before: Reading) -> Reading:
        """Tasks, as the job's file said last; when it was written. Its groups are gone with it."""
        known = self._measured.pop(job, None)
        if known is None or known.progress is None:
            return before
        said = read_progress(known.progress).progress
        with contextlib.suppress(OSError):
            at = known.progress.lstat().st_mtime
            if said is not None and at > before.at:
                tasks = replace(
                    before, stage=said.stage, parallel=said.parallel, done=said.done, left=said.left
                )
                return replace(tasks, at=at, cpu=math.nan, waited=math.nan)
        return before

    def outcome(self, job: int) -> JobEnding:
        """By Slurm's own word; of one that it knows no more, nothing is learned."""
        state = self._system.details(job).state if self._system.knows(job) else ""
        return {"COMPLETED": JobEnding.DONE, "TIMEOUT": JobEnding.KILLED}.get(state, JobEnding.CUT)

    def together(self, host: int, guest: int) -> bool:
        """Whether they run on the same nodes, and, where Slurm keeps jobs on cores, on the same of these."""
        rows = [self._system.details(job) for job in (host, guest) if self._system.knows(job)]
        if len(rows) < 2 or not rows[1].nodes:
            return True
        if rows[0].nodes != rows[1].nodes:
            nodes = [set(self._system.nodes_of(job)) for job in (host, guest)]
            if not nodes[1] <= nodes[0]:
                return False
        kept = [self._kept(job) for job in (host, guest)]
        return not kept[0] or kept[1] <= kept[0]

    def take_in(self, pair: Pair, longest: float, until: float) -> str:
        """Nobody is."""
        return "only looked at"

    def allow(self, job: int, seconds: float) -> None:
        """No limit is changed."""

    def put_back(self, job: int, why: str) -> str:
        """Nobody is."""
        return "only looked at"

    def set_quotas(self, pairs: Sequence[Pair]) -> None:
        """None is set."""

    def close(self) -> None:
        """Nothing was changed."""

    def _members(self, job: int) -> set[int]:
        """A job's processes on this host, by the groups in which Slurm has them."""
        return set().union(*(below(folder) for folder in self._folders("cpuacct", job)))

    def _kept(self, job: int) -> set[int]:
        """Cores that Slurm keeps a job on; none where it keeps it on none."""
        found: set[int] = set()
        for folder in self._folders("cpuset", job):
            with contextlib.suppress(OSError):
                text = (folder / "cpuset.cpus").read_text(encoding="ascii").strip()
                found |= numbers(text) if text else set()
        return found

    def _folders(self, controller: str, job: int) -> tuple[Path, ...]:
        # Several slurmd on one host have a group each.
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
        said = None if known.progress is None else read_progress(known.progress).progress
        cores = self._known[job].cores
        return Reading(
            now,
            usage.cpu,
            0.0 if math.isnan(usage.peak) else usage.peak,
            None if said is None else said.stage,
            None if said is None else said.parallel,
            math.nan if said is None else said.done,
            math.nan if said is None else said.left,
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
        """Core-seconds that a job's quota kept from it."""
        return 0.0


def _check_accounts(client: Client, mount: Path) -> None:
    """Raise where nothing could be read, or nobody limited: that would look as if nobody ever had a reason to share."""
    cpu, accounts = mount / "cpu", mount / "cpuacct"
    expected = (
        "expected control groups v1 with cpu and cpuacct apart, as quotas need one that Slurm leaves alone"
    )
    for each in (cpu, accounts):
        if not each.is_dir():
            raise InputError(f"--policies: share: {each}: there is no such folder, {expected}")
    if cpu.samefile(accounts):
        raise InputError(f"--policies: share: {cpu} and {accounts} are one, {expected}")
    gathers = client.setting("JobAcctGatherType")
    if gathers != "jobacct_gather/cgroup":
        raise InputError(
            f"--policies: share: JobAcctGatherType is {gathers!r}, expected 'jobacct_gather/cgroup' to measure by"
        )


def _candidate(row: JobRow, asked: float) -> Candidate:
    limit = asked if math.isfinite(asked) else _YEAR
    return Candidate(row.job, row.name, row.procs, float(row.memory), limit, restarts=row.may_restart)


def _memory_per_core(client: Client) -> float:
    """Of the nodes, where they are alike; else the least."""
    return min((node.memory / node.procs for node in client.nodes() if node.procs), default=0.0)


def _progress_file(pids: set[int]) -> Path | None:
    """The file that a job's environment names for its progress."""
    for pid in sorted(pids):
        with contextlib.suppress(OSError):
            for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                if entry.startswith(_PROGRESS):
                    return Path(os.fsdecode(entry[len(_PROGRESS) :]))
    return None
