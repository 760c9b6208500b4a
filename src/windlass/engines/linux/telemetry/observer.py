"""Observation of a machine: all sources are read at once, and CPU Ready is computed from them.

**CPU Ready** is the time in which threads could run but had no core, without the time in which a quota of their control
group may have throttled them, divided by the time of all cores. It is 0 if no thread waits, and 1 if as many threads
wait as there are cores; it can exceed 1. Multiplied by 100 it is a percentage of all cores' time; multiplied by
1000 × cores, it is in milliseconds per second, summed over threads. VMware's counter is the same time of one virtual
core, in ms per 20 s.

:mod:`~windlass.engines.linux.telemetry.tasks` has the rules for waits that last longer than a step, and for quotas.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from windlass.engines.linux.telemetry.disks import Disks
from windlass.engines.linux.telemetry.groups import ControlGroups
from windlass.engines.linux.telemetry.loadavg import LoadAverage
from windlass.engines.linux.telemetry.meminfo import MemoryInfo
from windlass.engines.linux.telemetry.network import NetworkSource
from windlass.engines.linux.telemetry.pressure import PressureSource
from windlass.engines.linux.telemetry.schedstat import CoreWaits
from windlass.engines.linux.telemetry.sockets import Sockets
from windlass.engines.linux.telemetry.source import Roots, TelemetrySource
from windlass.engines.linux.telemetry.stat import Stat
from windlass.engines.linux.telemetry.tasks import TasksSource
from windlass.engines.linux.telemetry.vmstat import PageEvents

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True, eq=False)
class Observation:
    """The telemetry of one step.

    Parameters
    ----------
    at
        The wall clock at its end, s since 1970. It may jump, and no rate depends on it.
    seconds
        Length of the step, s; NaN for the first, which has no rates.
    metrics
        (d,) in the order of :attr:`Observer.names`; NaN if missing.
    busy
        Used share of all cores' time, 0 to 1.
    ready
        CPU Ready, as defined in this module.
    """

    at: float
    seconds: float
    metrics: NDArray[np.float64]
    busy: float
    ready: float


class Observer:
    """Measures this machine repeatedly.

    Parameters
    ----------
    clock
        Returns a monotonic time for rates, s.
    wall
        Returns the wall-clock time, s since 1970.
    roots
        The mount points of procfs and cgroups.
    groups
        Cgroups with metrics of their own; see
        :class:`~windlass.engines.linux.telemetry.groups.ControlGroups`.
    cores
        The machine's cores; None for the number that is online.

    Examples
    --------
    >>> import time
    >>> observer = Observer(time.monotonic, time.time)
    >>> first, second = observer.observe(), observer.observe()
    >>> len(observer.names) >= 100, second.metrics.shape == (len(observer.names),), second.seconds > 0.0
    (True, True, True)
    """

    def __init__(
        self,
        clock: Clock,
        wall: Clock,
        roots: Roots | None = None,
        groups: tuple[str, ...] = (),
        cores: int | None = None,
    ) -> None:
        found = roots or Roots()
        self._clock, self._wall, self._last = clock, wall, math.nan
        self._cores = cores
        controlled = ControlGroups(found, groups)
        self.sources: tuple[TelemetrySource, ...] = (
            Stat(found),
            LoadAverage(found),
            MemoryInfo(found),
            PageEvents(found),
            Disks(found),
            NetworkSource(found),
            Sockets(found),
            PressureSource(found),
            CoreWaits(found),
            # Groups come before tasks, some of which wait because their group is throttled.
            controlled,
            TasksSource(found, groups=controlled, cores=cores),
        )
        #: The names of all metrics, in order.
        self.names: tuple[str, ...] = tuple(name for source in self.sources for name in source.names)
        where = {name: at for at, name in enumerate(self.names)}
        self._busy, self._waited, self._limited = (
            where[name] for name in ("stat.busy", "tasks.waited", "tasks.limited")
        )

    def observe(self) -> Observation:
        """Return the metrics since the last call."""
        now = self._clock()
        seconds, self._last = now - self._last, now
        values = np.array([value for source in self.sources for value in source.read(seconds)])
        return Observation(
            at=self._wall(),
            seconds=seconds,
            metrics=values,
            busy=float(values[self._busy]),
            ready=self._ready(float(values[self._waited]), float(values[self._limited])),
        )

    def missing(self, last: Observation) -> tuple[str, ...]:
        """Return what this machine lacks, one line each: files, and metrics that are missing in existing files.

        Parameters
        ----------
        last
            An observation, not the first.
        """
        found: list[str] = []
        at = 0
        for source in self.sources:
            lost = [f"{file.path}: {file.why}" for file in source.files if file.why]
            values = last.metrics[at : at + len(source.names)]
            without = [name for name, value in zip(source.names, values, strict=True) if math.isnan(value)]
            at += len(source.names)
            found += lost or [f"{name}: not available on this machine" for name in without]
        return tuple(found)

    def _ready(self, waited: float, limited: float) -> float:
        return (waited - limited) / (self._cores or os.cpu_count() or 1)
