"""Sharing of allocations on this host: jobs of Slurm are measured, and limited by Windlass's own cgroups.

Which jobs may share, and their usage, is read by :mod:`~windlass.engines.slurm.use`.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from windlass.engines.batch.batches import listed
from windlass.engines.batch.sharing_backend import Pair
from windlass.engines.linux.files import GroupError
from windlass.engines.linux.groups import JobGroups
from windlass.engines.linux.watchdog import watched
from windlass.engines.slurm.client import AwayError, Client
from windlass.engines.slurm.models import NodeRow, Phase
from windlass.engines.slurm.system import SlurmSystem
from windlass.engines.slurm.use import SlurmUse, nodes_here
from windlass.model import BatchError

#: Margin added when a time limit is extended, s, so that it is not extended at each checkpoint.
_SLACK_S = 60.0
#: The weight of a guest at a quota of 0.
_LEAST_WEIGHT = 0.01


@dataclass(frozen=True, slots=True)
class _Set:
    """Settings of a job's cgroup: a limit in cores, a weight, and the cores it is pinned to; an empty set for all."""

    limit: float | None
    weight: float
    cores: frozenset[int]


#: Settings that are unknown, and those of a group that could not be removed; both differ from all others.
_UNKNOWN, _STUCK = _Set(None, -1.0, frozenset()), _Set(None, -2.0, frozenset())


class SlurmShares(SlurmUse):
    """A :class:`~windlass.engines.batch.sharing.SharingSystem` on Slurm and this host's cgroups.

    A guest is limited to its quota and has it as its weight. Its host has the rest as weight and no limit, so that it
    can use all idle time. Both are pinned to the host's cores if Slurm's processor numbers are this machine's, that is,
    if the machine is one node with no more processors than exist. A watchdog lifts the quotas when this process ends,
    even if it is killed.

    Parameters
    ----------
    system, client
        Slurm.
    groups
        The driver's cgroups.
    keep
        Called with all pairs before they take effect, to save them.
    notify
        Called with a line for each warning.
    mount
        The mount point of cgroups.
    watch
        Starts a watchdog that lifts quotas when this process ends.

    Raises
    ------
    GroupError
        Cgroups cannot be used here, or another driver uses them.
    """

    def __init__(
        self,
        system: SlurmSystem,
        client: Client,
        groups: JobGroups,
        *,
        keep: Callable[[Sequence[Pair]], None] = lambda pairs: None,
        notify: Callable[[str], None] = lambda line: None,
        mount: Path = Path("/sys/fs/cgroup"),
        watch: Callable[[JobGroups], AbstractContextManager[subprocess.Popen[str]]] = watched,
    ) -> None:
        super().__init__(system, client, mount)
        self._client, self._groups = client, groups
        self._keep, self._notify, self._watch = keep, notify, watch
        self._set: dict[int, _Set] = {}
        #: Cores of hosts by Slurm's numbers; an empty set if these differ from the machine's.
        self._cores: dict[int, frozenset[int]] = {}
        self._pins = _is_whole(nodes_here(client)) and numbers_agree()
        self._pairs: tuple[Pair, ...] = ()
        self._closed = False
        self._stack = contextlib.ExitStack()
        self._dog = self._stack.enter_context(watch(groups))
        for job in groups.jobs():
            groups.release(job)

    def take_in(self, pair: Pair, longest: float, until: float) -> str:
        """Release a job onto the nodes of another one, with a time limit extended for its quota.

        A job that also runs on other hosts is refused, because no quota can be set there.
        """
        try:
            if others := self._elsewhere(pair.host):
                return f"job {pair.host} also runs on {listed(others)}, where no quota can be set"
            return self._system.release_shared(pair.guest, pair.host, pair.quota, longest, until)
        except AwayError:
            raise
        except BatchError as error:
            return str(error)

    def allow(self, job: int, seconds: float) -> None:
        """Extend a guest's time limit if it could expire within ``seconds``."""
        row, now = self._system.details(job), self._system.now()
        used = now - row.start - row.paused(now)
        if row.phase is not Phase.RUNS or not row.start or row.limit >= used + seconds:
            return
        try:
            self._client.set_time_limit(job, used + seconds + _SLACK_S)
        except AwayError:
            raise
        except BatchError as error:
            self._notify(f"job {job} may reach its time limit because of its quota: {error}")

    def together(self, host: int, guest: int) -> bool:
        """Return whether two jobs have the same cores; if not, warn."""
        found = super().together(host, guest)
        if not found:
            self._notify(
                f"job {guest} was given other cores than those of job {host}, and does not share them"
            )
        return found

    def requeue(self, job: int, why: str) -> str:
        """Requeue a job, held. Its user's time limit and nodes are restored once it waits."""
        self._release(job)
        error = self._system.guests.requeue(self._system.details(job), why)
        if not error:
            self._measured.pop(job, None)
        return error

    def set_quotas(self, pairs: Sequence[Pair]) -> None:
        """Set limits and weights of all pairs, and lift all others."""
        if tuple(pairs) != self._pairs:
            self._keep(pairs)
            self._pairs = tuple(pairs)
        self._guard()
        hosts = {pair.host for pair in pairs}
        self._cores = {job: cores for job, cores in self._cores.items() if job in hosts}
        wanted: dict[int, _Set] = {}
        for pair in pairs:
            host, guest = self._known[pair.host], self._known[pair.guest]
            part = pair.quota / 100.0
            cores = self._cores_of(pair.host)
            wanted[pair.host] = _Set(None, (1.0 - part) * host.cores, cores)
            wanted[pair.guest] = _Set(part * guest.cores, max(_LEAST_WEIGHT, part * guest.cores), cores)
        for job in [job for job in self._set if job not in wanted]:
            self._release(job)
        for job, each in wanted.items():
            try:
                self._apply(job, each)
            except GroupError as error:
                self._notify(f"job {job}: {error}")

    def close(self) -> None:
        """Lift all quotas, and save the pairs and what was learned; a second call has no effect."""
        if not self._closed:
            self._keep(self._pairs)
        self._closed = True
        for job in list(self._set):
            self._release(job)
        self._stack.close()

    def _guard(self) -> None:
        """Restart a dead watchdog, so that quotas are never set without one."""
        if self._dog.poll() is None:
            return
        self._notify("the watchdog of quotas has died; starting another one")
        with contextlib.suppress(GroupError):
            self._stack.close()
        self._stack = contextlib.ExitStack()
        self._dog = self._stack.enter_context(self._watch(self._groups))
        # The watchdog has lifted them, or was killed before: all are set again, or released.
        self._set = dict.fromkeys(self._set, _UNKNOWN)

    def _apply(self, job: int, wanted: _Set) -> None:
        if self._set.get(job) != wanted:
            # Registered first, so that a job with half of its settings is released, too.
            self._set[job] = _UNKNOWN
            self._groups.create(job)
            if wanted.cores:
                self._groups.pin(job, wanted.cores)
            self._groups.limit(job, wanted.limit)
            self._groups.weigh(job, wanted.weight)
            self._set[job] = wanted
        self._groups.take(job, lambda: self._members(job))

    def _cores_of(self, host: int) -> frozenset[int]:
        """Return the cores to which a host and its guest are pinned; an empty set for no pinning."""
        if not self._pins:
            return frozenset()
        if host not in self._cores:
            found = self._client.cores(host)
            self._cores[host] = found if len(found) < (os.cpu_count() or 1) else frozenset()
        return self._cores[host]

    def _release(self, job: int) -> None:
        if job not in self._set:
            return
        try:
            self._groups.release(job)
        except GroupError as error:
            # It stays registered, so that the next change of quotas tries again.
            if self._set[job] != _STUCK:
                self._notify(f"job {job}: {error}")
            self._set[job] = _STUCK
        else:
            del self._set[job]

    def _throttled(self, job: int) -> float:
        return self._groups.usage(job).throttled if job in self._set else 0.0


def numbers_agree(cpus: Path = Path("/sys/devices/system/cpu")) -> bool:
    """Return whether Slurm's numbers of this machine's processors are those of Linux.

    Slurm numbers the processors of a socket one after the other, and the threads of a core, too. Linux may number them
    in another order. Without a readable topology the answer is False.

    Parameters
    ----------
    cpus
        Folder of the processors in sysfs.
    """
    found = []
    try:
        for folder in cpus.glob("cpu[0-9]*"):
            place = [
                int((folder / "topology" / name).read_text()) for name in ("physical_package_id", "core_id")
            ]
            found.append((*place, int(folder.name.removeprefix("cpu"))))
    except (OSError, ValueError):
        return False
    return bool(found) and [number for _, _, number in sorted(found)] == list(range(len(found)))


def _is_whole(here: Sequence[NodeRow]) -> bool:
    """Return whether this machine is exactly one node, with no more processors than exist."""
    return len(here) == 1 and here[0].procs <= (os.cpu_count() or 1)
