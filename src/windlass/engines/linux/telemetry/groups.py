"""Control groups: how long their limits kept tasks from running, and how they fare; both hierarchies, v1 and v2.

Only a group with a limit is ever throttled, so those are read at each step: ``cpu.stat`` of each group that has a quota
(``cpu.max``, ``cpu.cfs_quota_us``). Of the groups right below the top (such as ``system.slice``) all is read, and the
greatest is shown, as which groups there are differs from machine to machine. Groups named by the user have metrics of
their own.

Groups come and go, so the folders are walked: at every step where there are up to 32, at every second where there are
up to 64, and so on. A group that has come since the last walk counts from its beginning; one that is given a limit
counts from the walk that finds it.

Throttled time is that of each group by itself. Where a group with a limit is inside of one with a limit, time in which
both had used up theirs counts twice; what remains of waiting is then too little.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from windlass.engines.linux.telemetry.pressure import stalls
from windlass.engines.linux.telemetry.proc_file import Held
from windlass.engines.linux.telemetry.rates import Counters
from windlass.engines.linux.telemetry.source import Roots, number_or_none

#: Folders that are walked at every step; a walk of twice as many is at every second one.
_WALKED = 32
#: Groups right below the top that are read; more are left out, by name.
_TOPS = 16

_OF_ONE = ("used", "throttled", "periods", "throttled_periods", "psi_cpu", "psi_io", "psi_memory")


@dataclass(slots=True)
class _Group:
    """The files of one group. Which there are depends on the hierarchy; what is not there is unknown."""

    folders: tuple[Path, ...]
    files: tuple[Held, ...] = ()
    counters: Counters = field(default_factory=Counters)

    def __post_init__(self) -> None:
        names = ("cpu.stat", "cpuacct.usage", "cpu.pressure", "io.pressure", "memory.pressure")
        there = (
            next((each / name for each in self.folders if (each / name).exists()), None) for name in names
        )
        self.files = tuple(
            Held(path or self.folders[0] / name) for path, name in zip(there, names, strict=True)
        )

    def read(self, seconds: float) -> list[float]:
        """As of :data:`_OF_ONE`: cores; seconds a second; periods a second; and shares of time."""
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
    """A group with a limit, and its throttled time at the last step, ns; None where it was not there."""

    file: Held
    before: int | None


class ControlGroups:
    """Throttled time of all groups, the greatest of those right below the top, and groups that the user names.

    ``groups.throttled`` is seconds a second, summed over groups and cores; it is 0 where no group has a limit.

    Parameters
    ----------
    roots
        Where the hierarchies are.
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
        self._begun = False

    @property
    def files(self) -> Sequence[Held]:
        """Those of groups that the user has named: nobody expects any other."""
        return [each.files[0] for each in self._named]

    def read(self, seconds: float) -> list[float]:
        """As of :class:`~windlass.engines.linux.telemetry.source.TelemetrySource`."""
        if not self._trees:
            return [math.nan] * len(self.names)
        self._until_walk -= 1
        if self._until_walk < 0:
            self._walk()
        throttled = self._throttled(seconds)
        each = [group.read(seconds) for group in self._tops.values()]
        most = [_most([row[at] for row in each]) for at in range(len(_OF_ONE))]
        named = [value for group in self._named for value in group.read(seconds)]
        self._begun = True
        return [float(len(self._folders)), float(len(self._limits)), throttled, *most, *named]

    def _throttled(self, seconds: float) -> float:
        total = 0
        for folder, limit in list(self._limits.items()):
            now = throttled_time(limit.file.read())
            if now is None:
                del self._limits[folder]  # the group has gone
                continue
            if limit.before is not None:
                total += max(0, now - limit.before)
            limit.before = now
        return total / 1e9 / seconds if self._begun and seconds > 0.0 else math.nan

    def _walk(self) -> None:
        """Find groups that have come, and which have a limit."""
        folders = frozenset(Path(each) for tree in self._trees for each, _, _ in os.walk(tree))
        for folder in folders - self._limits.keys():
            if limited(folder):
                fresh = self._begun and folder not in self._folders
                self._limits[folder] = _Limit(Held(folder / "cpu.stat"), 0 if fresh else None)
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
    """The hierarchies that account for CPU time: v2 alone, v1's controllers, or both.

    >>> trees(Path("/nowhere"))
    ()
    """
    both = [root / "cpu", root / "cpuacct", root / "unified"]
    found = [] if not (root / "cgroup.controllers").exists() else [root]
    for each in both if not found else []:
        # Where cpu and cpuacct are mounted as one, two names lead to it.
        if each.is_dir() and not any(each.samefile(other) for other in found):
            found.append(each)
    return tuple(found)


def limited(folder: Path) -> bool:
    """Whether a group has a CPU quota.

    >>> limited(Path("/nowhere"))
    False
    """
    for name, none in (("cpu.max", b"max"), ("cpu.cfs_quota_us", b"-1")):
        words = (Held(folder / name).read() or b"").split()
        if words:
            return words[0] != none
    return False


def throttled_time(text: bytes | None) -> int | None:
    """Nanoseconds in which a group's limit kept it from running, by its ``cpu.stat``; None where that says nothing.

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
