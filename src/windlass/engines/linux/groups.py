"""Job groups: what both hierarchies of control groups do for a co-scheduler, and which of them a machine has.

A job's processes are in a group ``windlass/job_N``. A group has a *limit*, the cores that it may use, and a *weight*,
which says how cores that others want too are divided. A co-scheduler that gives a guest the share q of its time limits
the guest to q × its cores, and gives it the weight q × its cores. The host has the weight (1 − q) × its cores and no
limit at all: so it is never throttled, and uses whatever is idle.

**Weights are of whole groups.** The kernel divides a group's weight among its busy threads. Beside a guest with one
thread, a host with two has half of its weight on the core that they share (measured: equal weights give the guest two
thirds of it). That is why weights are multiplied by cores: 1.0 is the weight of one ordinary process. The group
``windlass/`` itself competes with processes outside of it in the same way, so it has the weight of all cores.

**Stopped** is a limit of 0. The kernel's least is 1 ms in a second: such a job still gets a thousandth of a core. One
mechanism does all. Lift the limit before you send a signal: a stopped process is slow to die.

A limit is that of the whole group, over all cores; it does not hold a guest to q of each one of them.
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

#: Microseconds over which the kernel counts a limit, and those for limits that are too small for it.
PERIOD, LONG_PERIOD = 100_000, 1_000_000
#: The least quota that the kernel accepts, µs a period.
LEAST = 1_000
#: The group in which an owner's job groups are, where it has no other name.
NAME = "windlass"


@dataclass(frozen=True, slots=True)
class GroupUsage:
    """What a group's processes have used since it was made, those that have ended included.

    Parameters
    ----------
    cpu
        Seconds on a core, of all threads; NaN where nobody accounts for the group.
    throttled
        Seconds in which the group had used up its limit, summed over cores.
    memory
        Bytes that cannot be dropped (anonymous and shared memory, no page cache); NaN where nobody accounts.
    """

    cpu: float
    throttled: float
    memory: float = math.nan


class JobGroups(Protocol):
    """The job groups of one owner. Every call may be repeated; the last one counts."""

    @property
    def kind(self) -> str:
        """Which hierarchy: ``v1`` or ``v2``."""
        ...

    @property
    def root(self) -> Path:
        """Where the hierarchy is mounted."""
        ...

    @property
    def name(self) -> str:
        """The owner's: its job groups are in a group of this name."""
        ...

    @property
    def base(self) -> Path:
        """The group in which the owner's job groups are."""
        ...

    def available(self) -> str | None:
        """Why groups cannot be made here, in one line, or None where they can. It changes nothing."""
        ...

    def jobs(self) -> list[int]:
        """Jobs that have a group, also of an owner of the same name that has died."""
        ...

    def create(self, job: int) -> Path:
        """A group for a job, without a limit; returns its folder.

        Raises
        ------
        GroupError
            It cannot be made.
        """
        ...

    def take(self, job: int, members: Members) -> int:
        """Move the job's processes into its group, as :func:`windlass.engines.linux.members.take` does; how many."""
        ...

    def pin(self, job: int, cores: Iterable[int]) -> None:
        """Keep the group's processes on these cores of the machine, by number; before they are taken in.

        Processes that somebody else keeps on cores stay where they are.

        Raises
        ------
        GroupError
            This hierarchy does not, or the kernel refuses.
        """
        ...

    def limit(self, job: int, cores: float | None) -> None:
        """Limit the group to so many cores, 0 for the least there is (a thousandth of one); None for no limit.

        Raises
        ------
        GroupError
            The number is negative or not finite, or the kernel refuses.
        """
        ...

    def weigh(self, job: int, weight: float) -> None:
        """How much of contended cores the group gets, beside others; 1.0 is one ordinary process.

        Give its share times its cores. What is out of the kernel's bounds is cut to them.

        Raises
        ------
        GroupError
            The number is not finite or not above 0, or the kernel refuses.
        """
        ...

    def usage(self, job: int) -> GroupUsage:
        """What the group has used."""
        ...

    def release(self, job: int) -> None:
        """No limit, the default weight, all cores, processes back where the hierarchy begins, the group removed.

        Raises
        ------
        GroupError
            The kernel refuses. The limit is lifted first.
        """
        ...

    def release_all(self) -> None:
        """Release every group of the owner, and the group that holds them: all limits first.

        Raises
        ------
        GroupError
            Some group could not be released; all others are.
        """
        ...


def bandwidth(cores: float) -> tuple[int, int]:
    """Quota and period, µs, for a limit.

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
    """A weight in the kernel's own unit, cut to its bounds.

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
    """The folder of a job's group.

    >>> folder_of(Path("windlass"), 7).as_posix()
    'windlass/job_7'
    """
    return base / f"job_{job}"


def jobs_below(base: Path) -> list[int]:
    """Jobs that have a group there, rising."""
    if not base.is_dir():
        return []
    found = (re.fullmatch(r"job_(\d+)", each.name) for each in base.iterdir() if each.is_dir())
    return sorted(int(each.group(1)) for each in found if each)


def each_of(jobs: list[int], act: Callable[[int], None]) -> list[str]:
    """Do something for each job, whatever becomes of the others; what went wrong."""
    wrong = []
    for job in jobs:
        try:
            act(job)
        except GroupError as error:
            wrong.append(str(error))
    return wrong


def opened(kind: str, root: Path, name: str) -> JobGroups:
    """Groups of an owner by the name of the hierarchy.

    >>> opened("v1", Path("/sys/fs/cgroup"), "windlass").base.as_posix()
    '/sys/fs/cgroup/cpu/windlass'

    Raises
    ------
    GroupError
        There is no such hierarchy.
    """
    from windlass.engines.linux.v1 import V1
    from windlass.engines.linux.v2 import V2

    known: Mapping[str, Callable[[Path, str], JobGroups]] = {"v1": V1, "v2": V2}
    if kind not in known:
        raise GroupError(f"hierarchy is '{kind}', expected one of {', '.join(known)}")
    return known[kind](root, name)


def found(root: Path = Path("/sys/fs/cgroup"), name: str = NAME) -> JobGroups:
    """The hierarchy that this machine has: v1 where its ``cpu`` controller is mounted, otherwise v2.

    Raises
    ------
    GroupError
        Neither can be used; says why of each.
    """
    tried = [opened("v1", root, name), opened("v2", root, name), opened("v2", root / "unified", name)]
    why = [each.available() for each in tried]
    for each, reason in zip(tried, why, strict=True):
        if reason is None:
            return each
    raise GroupError("; ".join(f"{each.kind}: {reason}" for each, reason in zip(tried, why, strict=True)))
