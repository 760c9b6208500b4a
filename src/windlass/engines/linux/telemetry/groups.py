"""Cgroups, v1 and v2: the time for which limits throttled their tasks, and their usage and pressure.

Only a group with a limit is ever throttled, so ``cpu.stat`` is read at each step for each group with a quota
(``cpu.max``, ``cpu.cfs_quota_us``). Groups directly below the top (such as ``system.slice``) are read completely, and
the largest value is reported, as their names differ between machines. Groups named by the user have metrics of their
own.

Groups are created and removed at any time, so the folders are walked: at every step if there are up to 32, at every
second step if there are up to 64, and so on. A group created since the last walk counts from its creation; one that was
given a limit counts from the walk that finds it.

Throttled time is counted per group. If a limited group is inside another limited group, time in which both had used up
their limits counts twice, and the remaining wait is too small.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from windlass.engines.linux.telemetry.pressure import stalls
from windlass.engines.linux.telemetry.proc_file import ProcFile
from windlass.engines.linux.telemetry.rates import Counters
from windlass.engines.linux.telemetry.source import Roots, number_or_none

#: Number of folders that are walked at every step; twice as many are walked at every second step.
_WALKED = 32
#: The most groups directly below the top that are read; further ones, by name, are left out.
_TOPS = 16

_OF_ONE = ("used", "throttled", "periods", "throttled_periods", "psi_cpu", "psi_io", "psi_memory")


@dataclass(slots=True)
class _Group:
    """The files of one group, which depend on the hierarchy; values of missing files are unknown."""

    folders: tuple[Path, ...]
    files: tuple[ProcFile, ...] = ()
    counters: Counters = field(default_factory=Counters)

    def __post_init__(self) -> None:
        names = ("cpu.stat", "cpuacct.usage", "cpu.pressure", "io.pressure", "memory.pressure")
        there = (
            next((each / name for each in self.folders if (each / name).exists()), None) for name in names
        )
        self.files = tuple(
            ProcFile(path or self.folders[0] / name) for path, name in zip(there, names, strict=True)
        )

    def read(self, seconds: float) -> list[float]:
        """Return the values named by :data:`_OF_ONE`: cores; s per second; periods per second; shares of time."""
        stat, usage, *pressures = (file.read() for file in self.files)
        fields = _fields(stat)
        used = fields.get(b"usage_usec")
        by_account = number_or_none(usage)
        counts = [
            used * 1000 if used is not None else by_account,
            *_throttles(fields),
            *(stalls(each)[0] for each in pressures),
        ]
        rates = self.counters.rates(counts, seconds)
        units = (1e-9, 1e-9, 1.0, 1.0, 1e-6, 1e-6, 1e-6)
        return [rate * unit for rate, unit in zip(rates, units, strict=True)]


@dataclass(slots=True)
class _Limit:
    """A group with a limit, and its throttled time at the last step, ns; None if it did not exist."""

    file: ProcFile
    before: int | None


class ControlGroups:
    """Throttled time of all groups, the largest values directly below the top, and metrics of named groups.

    ``groups.throttled`` is in seconds per second, summed over groups and cores; it is 0 if no group has a limit.

    Parameters
    ----------
    roots
        The mount points of the hierarchies.
    named
        Groups with metrics of their own, as paths below the top, such as ``system.slice/db.service``.

    Examples
    --------
    >>> source = ControlGroups(Roots(), ("system.slice",))
    >>> len(source.read(1.0)) == len(source.names), source.names[-1]
    (True, 'group.system.slice.psi_memory')
    """

    def __init__(self, roots: Roots, named: tuple[str, ...] = ()) -> None:
        self._trees = trees(roots.groups)
        self.names: tuple[str, ...] = (
            "groups.count",
            "groups.limited",
            "groups.throttled",
            *(f"groups.most_{what}" for what in _OF_ONE),
            *(f"group.{name}.{what}" for name in named for what in _OF_ONE),
        )
        inside = self._trees or (roots.groups,)
        self._named = tuple(_Group(tuple(tree / name for tree in inside)) for name in named)
        self._tops: dict[str, _Group] = {}
        self._limits: dict[Path, _Limit] = {}
        self._folders: frozenset[Path] = frozenset()
        self._until_walk = 0
        self._started = False
        #: Time for which each limited group was throttled in the last step, ns, by its path below the top of its
        #: hierarchy, as in ``/proc/PID/cgroup``; only groups that were throttled.
        self.throttled_by_path: dict[str, int] = {}

    @property
    def files(self) -> Sequence[ProcFile]:
        """The files of groups named by the user; others may be missing without a warning."""
        return [each.files[0] for each in self._named]

    def read(self, seconds: float) -> list[float]:
        """See :class:`~windlass.engines.linux.telemetry.source.TelemetrySource`."""
        if not self._trees:
            return [math.nan] * len(self.names)
        self._until_walk -= 1
        if self._until_walk < 0:
            self._walk()
        throttled = self._throttled(seconds)
        each = [group.read(seconds) for group in self._tops.values()]
        most = [_most([row[at] for row in each]) for at in range(len(_OF_ONE))]
        named = [value for group in self._named for value in group.read(seconds)]
        self._started = True
        return [float(len(self._folders)), float(len(self._limits)), throttled, *most, *named]

    def _throttled(self, seconds: float) -> float:
        total = 0
        self.throttled_by_path = {}
        for folder, limit in list(self._limits.items()):
            now = throttled_time(limit.file.read())
            if now is None:
                del self._limits[folder]  # the group was removed
                continue
            grown = 0 if limit.before is None else max(0, now - limit.before)
            limit.before = now
            total += grown
            if grown > 0:
                self.throttled_by_path[self._path(folder)] = grown
        return total / 1e9 / seconds if self._started and seconds > 0.0 else math.nan

    def _path(self, folder: Path) -> str:
        tree = next(each for each in self._trees if folder.is_relative_to(each))
        return "/" + folder.relative_to(tree).as_posix().removeprefix(".")

    def _walk(self) -> None:
        """Find new groups, and the groups with a limit."""
        folders = frozenset(Path(each) for tree in self._trees for each, _, _ in os.walk(tree))
        for folder in folders - self._limits.keys():
            if limited(folder):
                fresh = self._started and folder not in self._folders
                self._limits[folder] = _Limit(ProcFile(folder / "cpu.stat"), 0 if fresh else None)
        for folder in [each for each in self._limits if each not in folders]:
            del self._limits[folder]
        tops = sorted(
            {each.name for each in folders if each.parent in self._trees} - {t.name for t in self._trees}
        )
        for name in tops[:_TOPS]:
            if name not in self._tops:
                self._tops[name] = _Group(tuple(tree / name for tree in self._trees))
        for name in [each for each in self._tops if each not in tops]:
            del self._tops[name]
        self._folders = folders
        self._until_walk = len(folders) // _WALKED


def trees(root: Path) -> tuple[Path, ...]:
    """Return the hierarchies that account for CPU time: v2 alone, v1's controllers, or both.

    >>> trees(Path("/nowhere"))
    ()
    """
    both = [root / "cpu", root / "cpuacct", root / "unified"]
    found = [] if not (root / "cgroup.controllers").exists() else [root]
    for each in both if not found else []:
        # If cpu and cpuacct are mounted together, both names lead to one folder.
        if each.is_dir() and not any(each.samefile(other) for other in found):
            found.append(each)
    return tuple(found)


def limited(folder: Path) -> bool:
    """Return whether a group has a CPU quota.

    >>> limited(Path("/nowhere"))
    False
    """
    for name, none in (("cpu.max", b"max"), ("cpu.cfs_quota_us", b"-1")):
        words = (ProcFile(folder / name).read() or b"").split()
        if words:
            return words[0] != none
    return False


def throttled_time(text: bytes | None) -> int | None:
    """Return the time for which a group's limit throttled it, ns, from its ``cpu.stat``; None if it is not given.

    >>> throttled_time(b"nr_periods 4\\nnr_throttled 2\\nthrottled_time 7\\n")
    7
    >>> throttled_time(b"usage_usec 9\\nnr_throttled 2\\nthrottled_usec 7\\n")
    7000
    """
    return _throttles(_fields(text))[0]


def _throttles(fields: dict[bytes, int | None]) -> list[int | None]:
    micro = fields.get(b"throttled_usec")
    time = fields.get(b"throttled_time") if micro is None else micro * 1000
    return [time, fields.get(b"nr_periods"), fields.get(b"nr_throttled")]


def _fields(text: bytes | None) -> dict[bytes, int | None]:
    lines = ((text or b"").splitlines()) if text else []
    words: Callable[[bytes], list[bytes]] = bytes.split
    return {each[0]: number_or_none(each[1]) for each in map(words, lines) if len(each) == 2}


def _most(values: Sequence[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return max(known) if known else math.nan
