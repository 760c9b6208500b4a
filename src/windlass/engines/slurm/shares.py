"""Jobs of Slurm that share an allocation on this host: measured and given quotas by control groups of our own.

Which jobs may, and what they use, is read by :mod:`~windlass.engines.slurm.use`.
"""

from __future__ import annotations

import contextlib
import math
import os
import socket
import subprocess
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from windlass.engines.batch.sharing_backend import Pair
from windlass.engines.linux.files import GroupError
from windlass.engines.linux.groups import JobGroups
from windlass.engines.linux.watchdog import watched
from windlass.engines.slurm.client import AwayError, Client
from windlass.engines.slurm.models import Phase
from windlass.engines.slurm.system import SlurmSystem
from windlass.engines.slurm.use import SlurmUse
from windlass.model import BatchError

#: A time limit that is made longer is longer by so much more, s, so that it is not at each checkpoint.
_SLACK_S = 60.0
#: A guest at a quota of 0 has this weight: less than any other.
_LEAST_WEIGHT = 0.01


@dataclass(frozen=True, slots=True)
class _Set:
    """What a job's group is set to: a limit in cores, a weight, and the cores that it is kept on; none for all."""

    limit: float | None
    weight: float
    cores: frozenset[int]


class SlurmShares(SlurmUse):
    """Keeps :class:`~windlass.engines.batch.sharing.SharingSystem` on Slurm and this host's control groups.

    A guest is limited to its quota and has that weight; its host has the rest as weight and no limit, so that nobody
    takes from it what others leave idle. Both are kept on the host's cores, where Slurm's numbers of processors are
    this machine's: one node on it, with no more processors than there are. Quotas end with this process, however it
    ends: a watchdog lifts them.

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
    watch
        Has somebody lift quotas when this process ends.

    Raises
    ------
    GroupError
        Groups cannot be used here, or another driver has them.
    """

    def __init__(
        self,
        system: SlurmSystem,
        client: Client,
        groups: JobGroups,
        *,
        keep: Callable[[Sequence[Pair]], None] = lambda pairs: None,
        tell: Callable[[str], None] = lambda line: None,
        mount: Path = Path("/sys/fs/cgroup"),
        watch: Callable[[JobGroups], AbstractContextManager[subprocess.Popen[str]]] = watched,
    ) -> None:
        super().__init__(system, client, mount)
        self._client, self._groups = client, groups
        self._keep, self._tell, self._watch = keep, tell, watch
        self._set: dict[int, _Set] = {}
        #: Cores of hosts, as Slurm numbers them; none where these are no numbers of this machine's.
        self._cores: dict[int, frozenset[int]] = {}
        self._pins = _is_whole(client)
        self._pairs: tuple[Pair, ...] = ()
        self._closed = False
        self._stack = contextlib.ExitStack()
        self._dog = self._stack.enter_context(watch(groups))
        for job in groups.jobs():
            groups.release(job)

    def take_in(self, pair: Pair, longest: float, until: float) -> str:
        """Release a job onto the nodes of another one, with a time limit that leaves room for its quota."""
        try:
            return self._system.release_beside(pair.guest, pair.host, pair.quota, longest, until)
        except AwayError:
            raise
        except BatchError as error:
            return str(error)

    def allow(self, job: int, seconds: float) -> None:
        """Make a guest's time limit longer where it might stop it."""
        row, now = self._system.details(job), self._system.now()
        used = now - row.start - row.paused(now)
        if row.phase is not Phase.RUNS or not row.start or row.limit >= used + seconds:
            return
        try:
            self._client.set_time_limit(job, used + seconds + _SLACK_S)
        except AwayError:
            raise
        except BatchError as error:
            self._tell(f"job {job} may be stopped for what it did not get: {error}")

    def together(self, host: int, guest: int) -> bool:
        """As said above; where they are not, that is told."""
        found = super().together(host, guest)
        if not found:
            self._tell(f"job {guest} was given other cores than those of job {host}, and does not share them")
        return found

    def put_back(self, job: int, why: str) -> str:
        """Requeue a job, held. As soon as it waits it is as its user submitted it."""
        self._release(job)
        said = self._system.guests.put_back(self._system.details(job), why)
        if not said:
            self._measured.pop(job, None)
        return said

    def set_quotas(self, pairs: Sequence[Pair]) -> None:
        """Limits and weights of all who share; nobody else has any."""
        if tuple(pairs) != self._pairs:
            self._keep(pairs)
            self._pairs = tuple(pairs)
        self._guard()
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
                self._tell(f"job {job}: {error}")

    def close(self) -> None:
        """Lift all quotas, and keep who shares and what was learned; more than once does no harm."""
        if not self._closed:
            self._keep(self._pairs)
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
        self._dog = self._stack.enter_context(self._watch(self._groups))
        self._set.clear()

    def _apply(self, job: int, wanted: _Set) -> None:
        if self._set.get(job) != wanted:
            # Known before it is done: what fails half-way is released, too.
            self._set[job] = _Set(None, math.nan, frozenset())
            self._groups.create(job)
            if wanted.cores:
                self._groups.pin(job, wanted.cores)
            self._groups.limit(job, wanted.limit)
            self._groups.weigh(job, wanted.weight)
            self._set[job] = wanted
        self._groups.take(job, lambda: self._members(job))

    def _cores_of(self, host: int) -> frozenset[int]:
        """Cores that a host and its guest are kept on; none where that would keep them from nothing."""
        if not self._pins:
            return frozenset()
        if host not in self._cores:
            found = self._client.cores(host)
            self._cores[host] = found if len(found) < (os.cpu_count() or 1) else frozenset()
        return self._cores[host]

    def _release(self, job: int) -> None:
        if self._set.pop(job, None) is not None:
            try:
                self._groups.release(job)
            except GroupError as error:
                self._tell(f"job {job}: {error}")

    def _throttled(self, job: int) -> float:
        return self._groups.usage(job).throttled if job in self._set else 0.0


def _is_whole(client: Client) -> bool:
    """Whether this machine is one node, and has as many processors as Slurm says, or more."""
    here = [node for node in client.nodes() if node.host == socket.gethostname().partition(".")[0]]
    return len(here) == 1 and here[0].procs <= (os.cpu_count() or 1)
