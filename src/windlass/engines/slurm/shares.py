"""Jobs of Slurm that share an allocation on this host: measured and given quotas by control groups of our own.

A job shares only if its user says so: ``sbatch -H --comment="windlass share"``. ``windlass share restart`` lets it be
put back in the queue besides, to begin again. Jobs whose processes are on other hosts are left alone.
"""

from __future__ import annotations

import contextlib
import math
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from windlass.engines.batch.sharing import Pair
from windlass.engines.linux.files import GroupError
from windlass.engines.linux.groups import Groups
from windlass.engines.linux.measure import Meter
from windlass.engines.linux.members import below
from windlass.engines.linux.progress import read as read_progress
from windlass.engines.linux.watchdog import watched
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.rows import JobRow
from windlass.engines.slurm.system import SlurmSystem
from windlass.model import BatchError
from windlass.share.allocation import Candidate
from windlass.share.meter import Reading

#: Where a job without a time limit is taken to have one, s.
_YEAR = 365.0 * 86400.0
_PROGRESS = b"WINDLASS_PROGRESS="
#: A guest at a quota of 0 has this weight: less than any other.
_LEAST_WEIGHT = 0.01


@dataclass
class _Measured:
    """A running job's meter, and the file of its progress once it is known."""

    meter: Meter
    folders: tuple[Path, ...]
    progress: Path | None = None


class SlurmShares:
    """Keeps :class:`~windlass.engines.batch.sharing.SharingSystem` on Slurm and this host's control groups.

    A guest is limited to its quota and has that weight; its host has the rest as weight and no limit, so that nobody
    takes from it what others leave idle. Quotas end with this process, however it ends: a watchdog lifts them.

    Parameters
    ----------
    system, client
        Slurm.
    groups
        The driver's own.
    keep
        Told of all pairs before they are so.
    tell
        Told in a line of what is worth a user's eye.
    mount
        Where control groups are.

    Raises
    ------
    GroupError
        Groups cannot be used here, or another driver has them.
    """

    def __init__(
        self,
        system: SlurmSystem,
        client: Client,
        groups: Groups,
        *,
        keep: Callable[[Sequence[Pair]], None] = lambda pairs: None,
        tell: Callable[[str], None] = lambda line: None,
        mount: Path = Path("/sys/fs/cgroup"),
    ) -> None:
        self._system, self._client, self._groups = system, client, groups
        self._keep, self._tell, self._mount = keep, tell, mount
        self._known: dict[int, Candidate] = {}
        self._measured: dict[int, _Measured] = {}
        self._set: dict[int, tuple[float | None, float]] = {}
        self._pairs: tuple[Pair, ...] = ()
        self._closed = False
        self._memory_per_core = _memory_per_core(client)
        self._stack = contextlib.ExitStack()
        self._dog = self._stack.enter_context(watched(groups))
        for job in groups.jobs():
            groups.release(job)

    def candidate(self, job: int) -> Candidate | None:
        """A job of a user who lets it share, as it was submitted; its class is its name."""
        if not self._system.knows(job):
            return self._known.get(job)
        row = self._system.details(job)
        if not row.shares:
            return None
        # Kept, as the time limit of a guest is made longer.
        return self._known.setdefault(job, _candidate(row))

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

    def take_in(self, host: int, guest: int, longest: float) -> str:
        """Release a job onto the nodes of another one, with a time limit that leaves room for its quota."""
        try:
            row = self._system.details(guest)
            self._system.set_time_limit(guest, max(row.limit, longest))
            return self._system.release_on(guest, self._system.nodes_of(host))
        except BatchError as error:
            return str(error)

    def put_back(self, job: int) -> str:
        """Requeue a job, held and free to run on any node; its limit is lifted first, so that it can end."""
        self._release(job)
        said = self._client.requeue(job)
        if not said:
            self._measured.pop(job, None)
            with contextlib.suppress(BatchError):
                self._client.update(job, ReqNodeList="")
        return said

    def set_quotas(self, pairs: Sequence[Pair]) -> None:
        """Limits and weights of all who share; nobody else has any."""
        if tuple(pairs) != self._pairs:
            self._keep(pairs)
            self._pairs = tuple(pairs)
        self._guard()
        wanted: dict[int, tuple[float | None, float]] = {}
        for pair in pairs:
            host, guest = self._known[pair.host], self._known[pair.guest]
            part = pair.quota / 100.0
            wanted[pair.host] = None, (1.0 - part) * host.cores
            wanted[pair.guest] = part * guest.cores, max(_LEAST_WEIGHT, part * guest.cores)
        for job in [job for job in self._set if job not in wanted]:
            self._release(job)
        for job, (limit, weight) in wanted.items():
            try:
                self._apply(job, limit, weight)
            except GroupError as error:
                self._tell(f"job {job}: {error}")

    def close(self) -> None:
        """Lift all quotas, and keep what was learned; more than once does no harm."""
        if not self._closed:
            self._keep(())
        self._closed = True
        for job in list(self._set):
            self._release(job)
        self._stack.close()

    def _guard(self) -> None:
        """Quotas are only set while there is somebody to lift them."""
        if self._dog.poll() is None:
            return
        self._tell("the watchdog of quotas was ended; another one is started")
        with contextlib.suppress(GroupError):
            self._stack.close()
        self._stack = contextlib.ExitStack()
        self._dog = self._stack.enter_context(watched(self._groups))
        self._set.clear()

    def _apply(self, job: int, limit: float | None, weight: float) -> None:
        if self._set.get(job) != (limit, weight):
            self._groups.create(job)
            self._groups.limit(job, limit)
            self._groups.weigh(job, weight)
            self._set[job] = limit, weight
        self._groups.take(job, lambda: self._members(job))

    def _release(self, job: int) -> None:
        if self._set.pop(job, None) is not None:
            try:
                self._groups.release(job)
            except GroupError as error:
                self._tell(f"job {job}: {error}")

    def _members(self, job: int) -> set[int]:
        """A job's processes on this host, by the groups in which Slurm has them."""
        return set().union(*(below(folder) for folder in self._folders("cpuacct", job)))

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
        return self._groups.usage(job).throttled if job in self._set else 0.0


def _candidate(row: JobRow) -> Candidate:
    limit = row.limit if math.isfinite(row.limit) else _YEAR
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
