"""Simulated runs of policies on a workload, measured by blocks of time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from windlass.experiment.worlds.elastic.simulation import run_elastic, scale_policy
from windlass.results.metrics.elastic import delayed
from windlass.sim.instances.result import REASONS, Scaled
from windlass_reproductions.autoscaler.curve_cases import Workload

_Floats = NDArray[np.float64]
_HOUR = 3600.0
_IDLE = REASONS.index("idle")


@dataclass(frozen=True, slots=True)
class Point:
    """A policy at one value of its knob; ``curve`` is the name of the curve that it is a point of."""

    curve: str
    knob: str
    policy: str
    parameters: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Measurements in b blocks of time of equal length.

    Parameters
    ----------
    jobs
        (b,) number of jobs submitted.
    wait
        (b,) total wait of these jobs, s.
    hours, usd
        (b,) instance-hours, and their cost in USD.
    delayed, actions
        (b,) number of jobs delayed by a launch; number of instances launched and removed.
    waits
        (n,) wait of each job, s.
    """

    jobs: _Floats
    wait: _Floats
    hours: _Floats
    usd: _Floats
    delayed: _Floats
    actions: _Floats
    waits: _Floats

    def mean_wait(self) -> float:
        """Return the mean wait of all jobs, s."""
        return float(self.wait.sum() / self.jobs.sum())

    def p95_wait(self) -> float:
        """Return the 95th percentile of the waits of all jobs, s."""
        return float(np.percentile(self.waits, 95))


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A point, with its measurements in the training part and in the test part."""

    point: Point
    learned: Blocks
    judged: Blocks


def measure(workload: Workload, point: Point, notify: Callable[[float], None] | None = None) -> Measured:
    """Run a policy over the whole log, and measure it in the training and the test part.

    A policy that learns keeps learning from past events in the test part; nothing else is chosen by it.
    """
    case = workload.case
    policy = scale_policy(point.policy, dict(point.parameters), case, np.random.default_rng([1, 1]))
    done = run_elastic(case, policy, np.random.default_rng([1, 2]), notify)
    first = float(case.jobs.submit[0])
    return Measured(
        point,
        blocks(done, first, workload.learned, workload.block),
        blocks(done, first, workload.judged, workload.block),
    )


def blocks(done: Scaled, first: float, span: tuple[float, float], size: float) -> Blocks:
    """Measure the jobs submitted and the instances paid for in each block of a span of time.

    Parameters
    ----------
    done
        Run to measure.
    first
        Begin of the log, s.
    span
        Begin and end of the span, s from ``first``.
    size
        Length of a block, s.
    """
    count = round((span[1] - span[0]) / size)
    edges = first + span[0] + size * np.arange(count + 1)
    # Jobs submitted before the first decision were placed at once without waiting, so they are left out.
    place = np.searchsorted(edges, done.jobs.submit, side="right") - 1
    inside = (place >= 0) & (place < count) & (done.jobs.submit > done.begin)
    waits = (done.start - done.jobs.submit)[inside]
    launches = done.launches
    until = launches.launched + done.paid()
    price = np.array([kind.price for kind in done.fleet.types])[launches.kind]
    hours, usd = np.empty(count), np.empty(count)
    for block, (begin, end) in enumerate(pairwise(edges.tolist())):
        paid = np.clip(until, begin, end) - np.clip(launches.launched, begin, end)
        hours[block], usd[block] = paid.sum() / _HOUR, (paid * price).sum() / _HOUR
    late = (delayed(done) & (done.start > done.jobs.submit))[inside].astype(np.float64)
    gone = launches.gone[launches.why == _IDLE]
    return Blocks(
        np.bincount(place[inside], minlength=count).astype(np.float64),
        np.bincount(place[inside], waits, count).astype(np.float64),
        hours,
        usd,
        np.bincount(place[inside], late, count).astype(np.float64),
        np.histogram(launches.launched, edges)[0] + np.histogram(gone, edges)[0].astype(np.float64),
        waits,
    )
