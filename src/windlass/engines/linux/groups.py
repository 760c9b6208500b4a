"""Job groups: the operations on cgroups that a co-scheduler needs, and the detection of the machine's hierarchy.

A job's processes are in a group ``windlass/job_N``. A group has a *limit*, the cores that it may use, and a *weight*,
which determines its part of contended cores. A co-scheduler that gives a guest the share q of its time limits the guest
to q × its cores, and gives it the weight q × its cores. The host has the weight (1 − q) × its cores and no limit, so
that it is never throttled and uses all idle time.

**Weights apply to whole groups.** The kernel divides a group's weight among its busy threads. If a host with two
threads shares one of its cores with a guest with one thread, the host has only half of its weight on that core
(measured: with equal weights the guest gets two thirds of it). Weights are therefore multiplied by cores: 1.0 is the
weight of one ordinary process. The group ``windlass/`` competes with processes outside it in the same way, so it has
the weight of all cores.

**A stopped job** has a limit of 0. The kernel's least limit is 1 ms per second, so the job still gets a thousandth of a
core. Lift the limit before you send a signal, as a stopped process is slow to die.

A limit applies to the whole group over all cores; it does not limit a guest to q of each core.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from windlass.engines.linux.files import GroupError
from windlass.engines.linux.members import Members

#: The kernel's accounting period, µs, and the one for limits that are too small for it.
PERIOD, LONG_PERIOD = 100_000, 1_000_000
#: The least quota that the kernel accepts, µs per period.
LEAST = 1_000
#: The default name of the group that holds an owner's job groups.
NAME = "windlass"


@dataclass(frozen=True, slots=True)
class GroupUsage:
    """Resource usage of a group's processes since it was created, including those that have ended.

    Parameters
    ----------
    cpu
        CPU time of all threads, s; NaN if the group has no accounting.
    throttled
        Time in which the group had used up its limit, summed over cores, s.
    memory
        Anonymous and shared memory without page cache, bytes; NaN without accounting.
    """

    cpu: float
    throttled: float
    memory: float = math.nan


class JobGroups(Protocol):
    """The job groups of one owner. Every call may be repeated; the last one counts."""

    @property
    def kind(self) -> str:
        """The hierarchy: ``v1`` or ``v2``."""
        ...

    @property
    def root(self) -> Path:
        """The hierarchy's mount point."""
        ...

    @property
    def name(self) -> str:
        """The owner's name: its job groups are in a group of this name."""
        ...

    @property
    def base(self) -> Path:
        """The group that holds the owner's job groups."""
        ...

    def available(self) -> str | None:
        """Return why groups cannot be created here, in one line, or None if they can. It changes nothing."""
        ...

    def jobs(self) -> list[int]:
        """Return the jobs that have a group, including those of a dead owner of the same name."""
        ...

    def create(self, job: int) -> Path:
        """Create a group for a job, without a limit; return its folder.

        Raises
        ------
        GroupError
            It cannot be created.
        """
        ...

    def take(self, job: int, members: Members) -> int:
        """Move a job's processes into its group, see :func:`windlass.engines.linux.members.take`; return how many."""
        ...

    def pin(self, job: int, cores: Iterable[int]) -> None:
        """Pin the group's processes to these cores of the machine, by number; call it before they are moved in.

        Processes that are pinned by another group stay there.

        Raises
        ------
        GroupError
            This hierarchy does not support it, or the kernel refuses.
        """
        ...

    def limit(self, job: int, cores: float | None) -> None:
        """Limit the group to this many cores; 0 is the least limit (a thousandth of one core), None no limit.

        Raises
        ------
        GroupError
            The number is negative or not finite, or the kernel refuses.
        """
        ...

    def weigh(self, job: int, weight: float) -> None:
        """Set the group's weight on contended cores; 1.0 is one ordinary process.

        Use its share times its cores. Values outside the kernel's bounds are clipped.

        Raises
        ------
        GroupError
            The number is not finite or not above 0, or the kernel refuses.
        """
        ...

    def usage(self, job: int) -> GroupUsage:
        """Return the group's usage."""
        ...

    def release(self, job: int) -> None:
        """Lift the limit, reset weight and cores, move processes back to the topmost group, and remove the group.

        Raises
        ------
        GroupError
            The kernel refuses. The limit is lifted first.
        """
        ...

    def release_all(self) -> None:
        """Release every group of the owner, and the group that holds them; all limits are lifted first.

        Raises
        ------
        GroupError
            A group could not be released; all others were.
        """
        ...


def bandwidth(cores: float) -> tuple[int, int]:
    """Return quota and period, µs, for a limit.

    >>> bandwidth(1.5), bandwidth(0.25), bandwidth(0.005), bandwidth(0)
    ((150000, 100000), (25000, 100000), (5000, 1000000), (1000, 1000000))

    Raises
    ------
    GroupError
        The number is negative or not finite.
    """
    if not 0.0 <= cores < math.inf:
        raise GroupError(f"limit is {cores} cores, expected a finite number of at least 0, or None")
    if cores * PERIOD >= LEAST:
        return round(cores * PERIOD), PERIOD
    return max(LEAST, round(cores * LONG_PERIOD)), LONG_PERIOD


def weighed(weight: float, default: int, least: int, most: int) -> int:
    """Convert a weight to the kernel's unit, clipped to its bounds.

    >>> weighed(0.25, 1024, 2, 262144), weighed(0.25, 100, 1, 10000), weighed(500.0, 100, 1, 10000)
    (256, 25, 10000)

    Raises
    ------
    GroupError
        The weight is not finite or not above 0.
    """
    if not 0.0 < weight < math.inf:
        raise GroupError(f"weight is {weight}, expected a finite number above 0")
    return min(most, max(least, round(weight * default)))


def folder_of(base: Path, job: int) -> Path:
    """Return the folder of a job's group.

    >>> folder_of(Path("windlass"), 7).as_posix()
    'windlass/job_7'
    """
    return base / f"job_{job}"


def jobs_below(base: Path) -> list[int]:
    """Return the jobs that have a group in this folder, in ascending order."""
    if not base.is_dir():
        return []
    found = (re.fullmatch(r"job_(\d+)", each.name) for each in base.iterdir() if each.is_dir())
    return sorted(int(each.group(1)) for each in found if each)


def each_of(jobs: list[int], act: Callable[[int], None]) -> list[str]:
    """Call a function for each job, even if some fail; return the error messages."""
    wrong = []
    for job in jobs:
        try:
            act(job)
        except GroupError as error:
            wrong.append(str(error))
    return wrong


def open_groups(kind: str, root: Path, name: str) -> JobGroups:
    """Return an owner's groups in the named hierarchy.

    >>> open_groups("v1", Path("/sys/fs/cgroup"), "windlass").base.as_posix()
    '/sys/fs/cgroup/cpu/windlass'

    Raises
    ------
    GroupError
        The name is unknown.
    """
    from windlass.engines.linux.v1 import V1
    from windlass.engines.linux.v2 import V2

    known: Mapping[str, Callable[[Path, str], JobGroups]] = {"v1": V1, "v2": V2}
    if kind not in known:
        raise GroupError(f"hierarchy is '{kind}', expected one of {', '.join(known)}")
    return known[kind](root, name)


def detect_groups(root: Path = Path("/sys/fs/cgroup"), name: str = NAME) -> JobGroups:
    """Return the machine's hierarchy: v1 if its ``cpu`` controller is mounted, otherwise v2.

    Raises
    ------
    GroupError
        Neither can be used; the message has the reason for each.
    """
    tried = [
        open_groups("v1", root, name),
        open_groups("v2", root, name),
        open_groups("v2", root / "unified", name),
    ]
    why = [each.available() for each in tried]
    for each, reason in zip(tried, why, strict=True):
        if reason is None:
            return each
    raise GroupError("; ".join(f"{each.kind}: {reason}" for each, reason in zip(tried, why, strict=True)))
