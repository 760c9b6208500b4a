"""Asks all sources at once, and makes CPU Ready of what they say.

**CPU Ready** here is the time in which threads could run and had no core, less the time in which limits of control
groups kept them from running, over the time of all cores: a share, 0 where nobody waits and 1 where as many threads
wait as there are cores. It can be above 1. Percent of all cores' time is 100 times that; milliseconds a second, summed
over threads, are 1000 times the cores. VMware's counter is the same time of one virtual core, as ms in 20 s.

The kernel counts throttled time by core and waiting by thread: of a group that is limited and has more busy threads
than it may use cores, some of the waiting for its own limit remains.
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
    """What a machine measured of itself in one step.

    Parameters
    ----------
    at
        The wall clock at its end, s since 1970. It may jump, and nothing is made of it.
    seconds
        How long the step was; NaN for the first, which has no rates.
    metrics
        (d,) in the order of :attr:`Observer.names`; NaN where one is missing.
    busy
        Share of all cores' time that was used, 0 to 1.
    ready
        CPU Ready, as this module says.
    """

    at: float
    seconds: float
    metrics: NDArray[np.float64]
    busy: float
    ready: float


class Observer:
    """Measures this machine, again and again.

    Parameters
    ----------
    clock
        Says the time for rates, s: one that never jumps.
    wall
        Says the time of day, s since 1970.
    roots
        Where the kernel shows itself.
    groups
        Control groups that get metrics of their own; see
        :class:`~windlass.engines.linux.telemetry.groups.ControlGroups`.
    cores
        Of the machine; None for as many as the kernel has online now.

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
            TasksSource(found),
            ControlGroups(found, groups),
        )
        #: Of all metrics, in order.
        self.names: tuple[str, ...] = tuple(name for source in self.sources for name in source.names)
        where = {name: at for at, name in enumerate(self.names)}
        self._busy, self._waited, self._throttled = (
            where[name] for name in ("stat.busy", "tasks.waited", "groups.throttled")
        )

    def observe(self) -> Observation:
        """What was measured since the last call."""
        now = self._clock()
        seconds, self._last = now - self._last, now
        values = np.array([value for source in self.sources for value in source.read(seconds)])
        return Observation(
            at=self._wall(),
            seconds=seconds,
            metrics=values,
            busy=float(values[self._busy]),
            ready=self._ready(float(values[self._waited]), float(values[self._throttled])),
        )

    def missing(self, last: Observation) -> tuple[str, ...]:
        """What this machine does not have, each a line: files, and metrics that are not in files that it has.

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
            found += lost or [f"{name}: nothing here says it" for name in without]
        return tuple(found)

    def _ready(self, waited: float, throttled: float) -> float:
        # Where there are no control groups, nothing is throttled.
        limits = 0.0 if math.isnan(throttled) else throttled
        cores = self._cores or os.cpu_count() or 1
        return max(0.0, waited - limits) / cores if not math.isnan(waited) else math.nan
