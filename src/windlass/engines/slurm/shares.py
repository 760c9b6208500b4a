"""Jobs of Slurm that share an allocation on this host: measured and given quotas by control groups of our own.

Which jobs may, and what they use, is read by :mod:`~windlass.engines.slurm.use`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path

from windlass.engines.batch.sharing import Pair
from windlass.engines.linux.files import GroupError
from windlass.engines.linux.groups import Groups
from windlass.engines.linux.watchdog import watched
from windlass.engines.slurm.client import Client
from windlass.engines.slurm.system import SlurmSystem
from windlass.engines.slurm.use import SlurmUse
from windlass.model import BatchError

#: A guest at a quota of 0 has this weight: less than any other.
_LEAST_WEIGHT = 0.01


class SlurmShares(SlurmUse):
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
        super().__init__(system, client, mount)
        self._client, self._groups = client, groups
        self._keep, self._tell = keep, tell
        self._set: dict[int, tuple[float | None, float]] = {}
        self._pairs: tuple[Pair, ...] = ()
        self._closed = False
        self._stack = contextlib.ExitStack()
        self._dog = self._stack.enter_context(watched(groups))
        for job in groups.jobs():
            groups.release(job)

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

    def _throttled(self, job: int) -> float:
        return self._groups.usage(job).throttled if job in self._set else 0.0
