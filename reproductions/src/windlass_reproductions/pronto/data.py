"""The available telemetry: public traces, and our own recordings."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from windlass.admit.evaluation import NodeTelemetry, level_of
from windlass.io.traces.telemetry import Telemetry, read_bitbrains, read_recorded, read_smd
from windlass.io.traces.telemetry.recorded import BUSY, READY
from windlass.model import InputError
from windlass_reproductions import public

Floats = NDArray[np.float64]

_ROOT = Path(__file__).parents[4]
#: Environment variable with the folder of our recordings; by default that of a checkout.
RECORDINGS = "WINDLASS_RECORDINGS"
#: Metric with the CPU usage of a Bitbrains machine, percent of its allocation; its first week defines a spike.
USAGE = "CPU usage [%]"
_WEEK = 2016
#: Files of the recordings: one for tuning, and two for evaluation, with other patterns and lengths.
TUNE, JUDGE, SHORT = "tune.parquet", "judge.parquet", "judge-short.parquet"


@dataclass(frozen=True, slots=True, eq=False)
class Machine:
    """A virtual machine's CPU usage: (t,) times, s, and (t,) usage, percent."""

    number: int
    time: Floats
    usage: Floats

    def medians(self, lasts: float) -> Floats:
        """Return the median of each stretch of ``lasts`` seconds, from the first whole one on; NaN if it has no value.

        >>> machine = Machine(1, np.array([0.0, 300.0, 600.0, 900.0]), np.array([1.0, 3.0, 5.0, 7.0]))
        >>> machine.medians(600.0).tolist()
        [2.0, 6.0]
        """
        first = np.ceil(self.time[0] / lasts) * lasts
        place = np.floor((self.time - first) / lasts).astype(np.int64)
        step = float(np.median(np.diff(self.time)))
        count = int((self.time[-1] + step - first) // lasts)
        inside = (place >= 0) & (place < count)
        place, usage = place[inside], self.usage[inside]
        # Sort once for all stretches, as recordings have thousands of them.
        usage = usage[np.lexsort((usage, place))]
        own = np.bincount(place, minlength=count)
        starts, known = np.cumsum(own) - own, own > 0
        low, high = (starts + (own - 1) // 2)[known], (starts + own // 2)[known]
        found = np.full(count, np.nan)
        found[known] = (usage[low] + usage[high]) / 2.0
        return found


def traces() -> Path:
    """Return the folder of public telemetry, which need not exist."""
    return public.traces() / "telemetry"


def recordings() -> Path:
    """Return the folder of our own recordings, which need not exist."""
    return Path(os.environ.get(RECORDINGS, _ROOT / "examples" / "telemetry"))


def recorded() -> tuple[Telemetry, Telemetry] | None:
    """Return the recording for tuning and the first one for evaluation; None if they are not available.

    Raises
    ------
    InputError
        A recording cannot be read.
    """
    files = [recordings() / name for name in (TUNE, JUDGE)]
    if not all(path.is_file() for path in files):
        return None
    first, second = (read_recorded(path) for path in files)
    return first, second


def _bitbrains() -> list[Path]:
    """Return the files in the order of their numbers."""
    return sorted((traces() / "bitbrains").glob("*.csv.gz"), key=lambda path: int(path.name.split(".")[0]))


def machines(most: int | None = None) -> tuple[Machine, ...]:
    """Return the machines of Bitbrains whose usage changes, by number; empty if the files are not available.

    Parameters
    ----------
    most
        Maximum number of files to read, evenly spaced over all; None for all.
    """
    files = _bitbrains()
    kept = files if most is None else files[:: -(-len(files) // most) or 1]
    read = ((path, read_bitbrains(path)) for path in kept)
    return tuple(
        Machine(int(path.name.split(".")[0]), found.time, found.of(USAGE))
        for path, found in read
        if np.ptp(found.of(USAGE)) > 0
    )


def clusters(found: tuple[Machine, ...], count: int = 3) -> tuple[tuple[Machine, ...], ...]:
    """Divide machines into ``count`` groups of consecutive numbers, as the real clusters are unknown.

    >>> [len(each) for each in clusters(tuple(Machine(n, np.zeros(1), np.zeros(1)) for n in range(7)))]
    [3, 2, 2]
    """
    parts = np.array_split(np.arange(len(found)), count)
    return tuple(tuple(found[place] for place in part) for part in parts)


def bitbrains_nodes(most: int, steps: int | None, begin: int = _WEEK) -> list[NodeTelemetry]:
    """Return the first machines as nodes for admission policies; their first week defines a spike.

    Parameters
    ----------
    most
        Maximum number of machines.
    steps
        Number of steps to evaluate; None for all.
    begin
        Number of steps before these that policies observe, at most a week.
    """
    nodes: list[NodeTelemetry] = []
    for path in _bitbrains():
        if len(nodes) == most:
            break
        found = read_bitbrains(path)
        usage = found.of(USAGE) / 100.0
        if np.ptp(usage) > 0:
            level = level_of(usage[:_WEEK], "p95")
            part = slice(_WEEK - begin, None if steps is None else _WEEK + steps)
            nodes.append(
                NodeTelemetry(
                    found.values[part], usage[part], level, level, begin, np.minimum(usage, 1.0)[part]
                )
            )
    return nodes


def smd_nodes(most: int, steps: int | None, begin: int = _WEEK) -> list[NodeTelemetry]:
    """Return machines of SMD as nodes, from their part ``test``; ``train`` defines a spike.

    The parameters are those of :func:`bitbrains_nodes`.
    """
    nodes = []
    for path in sorted((traces() / "smd").glob("*.npz"))[:most]:
        machine = read_smd(path)
        level = level_of(machine.train.values[:, 0], "p95")
        values = machine.test.values[_WEEK - begin : None if steps is None else _WEEK + steps]
        nodes.append(NodeTelemetry(values, values[:, 0], level, level, begin))
    return nodes


def recorded_nodes(steps: int | None = None) -> list[NodeTelemetry]:
    """Return our own machine as a node for each evaluation recording, each preceded by the tuning recording.

    Parameters
    ----------
    steps
        Number of steps of the first evaluation recording to use, without the second; None for all steps of both.
    """
    folder = recordings()
    judges = [folder / name for name in ((JUDGE, SHORT) if steps is None else (JUDGE,))]
    first = folder / TUNE
    if not first.is_file():
        return []
    before = read_recorded(first)
    return [after(before, read_recorded(path), steps) for path in judges if path.is_file()]


def after(first: Telemetry, second: Telemetry, steps: int | None = None) -> NodeTelemetry:
    """Return a node that is evaluated on the second recording after the first, which defines a spike.

    Raises
    ------
    InputError
        The recordings have different metrics.
    """
    if first.names != second.names:
        raise InputError(f"{first.source} and {second.source} have different metrics")
    last = len(second) if steps is None else steps
    values = np.concatenate([first.values, second.values[:last]])
    ready, busy = (values[:, first.names.index(name)] for name in (READY, BUSY))
    level = level_of(first.of(READY), "p95")
    return NodeTelemetry(values, ready, level, level, len(first), busy)
